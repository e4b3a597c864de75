#include "calls/event_stream.hpp"

#include "base/c_library.hpp"
#include "base/text.hpp"
#include "calls/unknown_callee.hpp"

#include <fmt/format.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace tracso::calls {
namespace {

std::uint64_t load(const std::uint64_t& shared) {
  return __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
}

}  // namespace

// One ring, mapped. The memory is sealed against shrinking, so touching it cannot fail.
class EventStream::Ring {
 public:
  Ring(int fd, std::uint64_t offset)
      : at_(::mmap(nullptr,
                   sizeof(tracso_ring),
                   PROT_READ | PROT_WRITE,
                   MAP_SHARED,
                   fd,
                   static_cast<off_t>(offset))) {}

  ~Ring() {
    if (is_mapped()) {
      ::munmap(at_, sizeof(tracso_ring));
    }
  }

  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  bool is_mapped() const { return at_ != MAP_FAILED; }  // NOLINT: the macro is a cast

  std::uint64_t lost() const { return is_mapped() ? load(ring().lost) : 0; }

  // What has come since the last time; false: it is no sequence of events. Everything is looked at
  // in a copy, which nobody changes meanwhile.
  bool read(std::vector<CallEvent>& into) {
    const auto written = load(ring().written);
    const auto bytes = written - read_;
    if (bytes == 0) {
      return true;
    }
    bool good = bytes <= tracso_ring_bytes;
    if (good) {
      std::vector<std::byte> copy(bytes);
      const auto from = read_ % tracso_ring_bytes;
      const auto first = std::min<std::uint64_t>(bytes, tracso_ring_bytes - from);
      std::memcpy(copy.data(), &ring().data[from], first);
      std::memcpy(copy.data() + first, &ring().data[0], bytes - first);
      good = parse_events(copy, read_, into);
    }
    read_ = written;
    __atomic_store_n(&ring().read, written, __ATOMIC_RELEASE);
    return good;
  }

 private:
  tracso_ring& ring() const { return *static_cast<tracso_ring*>(at_); }

  void* at_;
  std::uint64_t read_ = 0;
};

struct EventStream::Program {
  std::vector<std::unique_ptr<Ring>> rings;
  std::optional<Region> region;                // as of the last look
  std::vector<std::optional<CallSite>> sites;  // by slot
  bool is_fresh = false;                       // looked at in this round
  bool is_told = false;                        // to the writer

  // What a slot is; looked up again where it was not known yet.
  const CallSite& site(int fd,
                       std::uint32_t index,
                       std::uint32_t slot,
                       PrototypeFinder& prototypes);
  std::string place(std::uint64_t address) const;
  bool is_unwanted(std::uint32_t slot) const;
};

// Of a slot that was not bound yet nobody knew at its first call where it leads: perhaps to what
// was not asked for. As of the last look.
bool EventStream::Program::is_unwanted(std::uint32_t slot) const {
  return region && slot < region->slots().size() &&
         (region->slots()[slot].flags & tracso_slot_unwanted) != 0;
}

const CallSite& EventStream::Program::site(int fd,
                                           std::uint32_t index,
                                           std::uint32_t slot,
                                           PrototypeFinder& prototypes) {
  static const CallSite unknown{"?", "?", false, nullptr};
  if (slot < sites.size() && sites[slot]) {
    return *sites[slot];
  }
  if (!is_fresh && (!region || slot >= region->slots().size() ||
                    region->slots()[slot].callee >= region->objects().size())) {
    region = Region::read(fd, index);
    is_fresh = true;
  }
  if (!region || slot >= region->slots().size()) {
    return unknown;
  }
  const tracso_slot& facts = region->slots()[slot];
  CallSite site;
  site.symbol = region->name(facts.name);
  site.caller_path = region->path(facts.caller);
  site.callee_path = region->path(facts.callee);
  site.caller = base_name(site.caller_path);
  site.into_c_library = is_c_library_name(site.callee_path);
  site.prototype = prototypes.find(site.symbol);
  sites.resize(std::max<std::size_t>(sites.size(), slot + 1));
  auto& kept = sites[slot];
  kept = std::move(site);
  if (facts.callee >= region->objects().size()) {  // not bound yet: ask again next time
    static thread_local CallSite passing;
    passing = *std::exchange(kept, std::nullopt);
    return passing;
  }
  return *kept;
}

std::string EventStream::Program::place(std::uint64_t address) const {
  if (region) {
    const auto objects = region->objects();
    for (std::uint32_t i = 0; i < objects.size(); ++i) {
      const bool gone = (objects[i].flags & tracso_object_gone) != 0;
      if (!gone && address >= objects[i].start && address < objects[i].end) {
        const auto path = region->path(i);
        return fmt::format("{}+{:#x}", printable(base_name(path)), address - objects[i].base);
      }
    }
  }
  return fmt::format("{:#x}", address);
}

EventStream::EventStream(const Arena& arena,
                         std::unique_ptr<CallWriter> writer,
                         std::shared_ptr<PrototypeFinder> prototypes,
                         bool places)
    : arena_(arena),
      writer_(std::move(writer)),
      prototypes_(std::move(prototypes)),
      places_(places) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  start_.tick = rate_.start();
  start_.epoch_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

EventStream::~EventStream() = default;

TickTime EventStream::time() const {
  auto now = start_;
  now.ns_per_tick = rate_.ns_per_tick();
  return now;
}

void EventStream::look_for_rings(std::uint32_t index) {
  auto& program = *programs_[index];
  tracso_head head{};
  const auto region = TRACSO_SETUP_BYTES + std::uint64_t{index} * TRACSO_REGION_BYTES;
  if (::pread(arena_.memory(), &head, sizeof head, static_cast<off_t>(region)) !=
          static_cast<ssize_t>(sizeof head) ||
      head.magic != TRACSO_REGION_MAGIC) {
    return;
  }
  const auto threads = std::min<std::uint32_t>(
      {head.threads, head.thread_blocks, std::uint32_t{TRACSO_MOST_THREADS}});
  while (program.rings.size() < threads) {
    const auto ring = TRACSO_RINGS_START + std::uint64_t{index} * TRACSO_RINGS_BYTES +
                      program.rings.size() * sizeof(tracso_ring);
    program.rings.push_back(std::make_unique<Ring>(arena_.memory(), ring));
    counts_.unmapped += program.rings.back()->is_mapped() ? 0 : 1;
  }
}

bool EventStream::collect() {
  const auto count = std::min<std::uint32_t>(arena_.regions(), tracso_most_regions);
  while (programs_.size() < count) {
    programs_.push_back(std::make_unique<Program>());
  }
  const auto before = waiting_.size();
  std::vector<CallEvent> events;
  for (std::uint32_t i = 0; i < count; ++i) {
    look_for_rings(i);
    programs_[i]->is_fresh = false;
    for (const auto& ring : programs_[i]->rings) {
      events.clear();
      counts_.damaged += !ring->is_mapped() || ring->read(events) ? 0 : 1;
      for (auto& event : events) {
        waiting_.push_back({i, std::move(event)});
      }
    }
  }
  counts_.events += waiting_.size() - before;
  return waiting_.size() != before;
}

// A call of which it is not known into which library it went, and its return.
bool EventStream::is_left_out(const Waiting& waiting, bool is_call) {
  const auto key = std::tuple(waiting.program, waiting.event.thread, waiting.event.place);
  if (!is_call) {
    return left_out_.erase(key) != 0;
  }
  left_out_.erase(key);  // of a call that never returned
  const auto& region = programs_[waiting.program]->region;
  const bool left_out =
      region && is_unknown_and_unwanted(*region, waiting.event.slot, arena_.filter());
  if (left_out) {
    left_out_.insert(key);
  }
  return left_out;
}

void EventStream::write(const Waiting& waiting) {
  auto& program = *programs_[waiting.program];
  const CallSite& site =
      program.site(arena_.memory(), waiting.program, waiting.event.slot, *prototypes_);
  const bool is_call = waiting.event.kind != tracso_event_return;
  if (program.is_unwanted(waiting.event.slot) || is_left_out(waiting, is_call)) {
    --counts_.events;
    return;
  }
  if (!program.is_told && program.region) {
    program.is_told = true;
    writer_->begin_program(waiting.program, static_cast<std::int32_t>(program.region->head().pid));
  }
  writer_->add(
      waiting.program,
      waiting.event,
      site,
      places_ && is_call ? program.place(waiting.event.call.return_address) : std::string());
}

void EventStream::write_until(std::uint64_t ticks) {
  // Of one thread they are in order already, and stay so where two are of the same tick.
  const auto is_earlier = [](const Waiting& one, const Waiting& other) {
    return one.event.ticks < other.event.ticks;
  };
  if (!std::is_sorted(waiting_.begin(), waiting_.end(), is_earlier)) {
    std::stable_sort(waiting_.begin(), waiting_.end(), is_earlier);
  }
  writer_->set_time(time());
  auto at = waiting_.begin();
  for (; at != waiting_.end() && at->event.ticks <= ticks; ++at) {
    write(*at);
  }
  waiting_.erase(waiting_.begin(), at);
}

bool EventStream::read() {
  const auto now = rate_.now();
  const bool any = collect() || !waiting_.empty();
  write_until(last_look_);
  last_look_ = now;
  return any;
}

void EventStream::read_rest() {
  collect();
  write_until(std::numeric_limits<std::uint64_t>::max());
}

StreamCounts EventStream::counts() const {
  auto counts = counts_;
  for (const auto& program : programs_) {
    for (const auto& ring : program->rings) {
      counts.lost += ring->lost();
    }
  }
  return counts;
}

}  // namespace tracso::calls
