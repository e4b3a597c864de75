#include "calls/arena.hpp"

#include "agent/shared_layout.h"
#include "base/own_agent.hpp"
#include "base/result.hpp"
#include "base/text.hpp"
#include "calls/agent_image.hpp"
#include "calls/error_rules.hpp"
#include "calls/packages.hpp"
#include "calls/prototypes.hpp"
#include "calls/region.hpp"
#include "calls/region_notices.hpp"
#include "calls/unknown_callee.hpp"
#include "proc/status.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <utility>

namespace tracso::calls {
std::uint64_t start_time(std::int32_t pid) {
  std::array<char, 1024> text{};
  const UniqueFd fd(::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  const auto count = fd ? ::read(fd.get(), text.data(), text.size()) : -1;
  const auto stat =
      proc::parse_stat({text.data(), count > 0 ? static_cast<std::size_t>(count) : 0});
  const bool lives = stat && stat->state != 'Z' && stat->state != 'X';
  return lives ? stat->start_time : 0;
}

namespace {

// Who looks at a process later knows the agent's room by these.
static_assert(own_mirror_start == TRACSO_MIRROR_START && own_mirror_bytes == TRACSO_MIRROR_BYTES);

constexpr std::uint64_t exact_calls_when_adaptive = 1024;

template <std::size_t size>
void put(char (&into)[size], std::string_view text) {  // NOLINT: the shared layout is C
  std::memcpy(into, text.data(), std::min(text.size(), size - 1));
}

Result<UniqueFd> make_memory(const char* name, unsigned flags = 0) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | flags));
  if (!fd) {
    return errno_error(errno, "make memory for", name);
  }
  return fd;
}

bool write_all(int fd, std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const auto count = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count <= 0) {
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return true;
}

// What the agent copies of the memory that arguments lead to.
void add_captures(const ArenaOptions& options, tracso_setup& setup) {
  setup.text_bytes = std::min<std::uint32_t>(options.text_bytes, tracso_most_text_bytes);
  const auto rules = options.prototypes == nullptr ? PrototypeFinder().capture_rules()
                                                   : options.prototypes->capture_rules();
  setup.capture_rules =
      static_cast<std::uint32_t>(std::min<std::size_t>(rules.size(), tracso_most_capture_rules));
  std::copy_n(rules.begin(), setup.capture_rules, std::begin(setup.capture_rule));
}

std::unique_ptr<tracso_setup> make_setup(const ArenaOptions& options, const std::string& agent) {
  auto setup = std::make_unique<tracso_setup>();
  setup->magic = TRACSO_SETUP_MAGIC;
  const auto flag = [&](bool set, std::uint32_t value) { setup->flags |= set ? value : 0U; };
  flag(options.mode == CallMode::count, tracso_count_only);
  flag(options.follow, tracso_follow);
  flag(options.inside, tracso_intra);
  flag(options.user_has_preload, tracso_keep_preload);
  flag(options.record, tracso_record);
  flag(options.drop, tracso_drop);
  flag(options.attached, tracso_attached);
  setup->tracer = ::getpid();
  setup->tracer_started = start_time(::getpid());
  setup->exact_calls = options.mode == CallMode::exact || options.record
                           ? ~std::uint64_t{0}
                           : exact_calls_when_adaptive;
  put(setup->agent_path, agent);
  put(setup->caller, options.filter.caller);
  put(setup->callee, options.filter.callee);
  setup->rules = static_cast<std::uint32_t>(
      std::min<std::size_t>(options.filter.rules.size(), tracso_most_rules));
  for (std::uint32_t i = 0; i < setup->rules; ++i) {
    const Rule& rule = options.filter.rules[i];
    setup->rule[i].chain = rule.chain;
    setup->rule[i].exclude = rule.exclude ? 1 : 0;
    setup->rule[i].callee = rule.callee ? 1 : 0;
    put(setup->rule[i].symbol, rule.symbol);
    put(setup->rule[i].library, rule.library);
  }
  for (const ErrorRule& rule : error_rules()) {
    auto& into = setup->error_rule[setup->error_rules++];
    put(into.name, rule.name);
    into.when = rule.when;
  }
  if (options.record) {
    add_captures(options, *setup);
  }
  return setup;
}

// The memory as its users expect it. It never shrinks, so that touching it cannot fail.
Result<Done> fill_memory(int memory, const ArenaOptions& options, const std::string& agent) {
  const auto setup = make_setup(options, agent);
  const auto bytes =
      options.record ? TRACSO_RINGS_START + std::uint64_t{tracso_most_regions} * TRACSO_RINGS_BYTES
                     : TRACSO_RINGS_START;
  const bool done = ::ftruncate(memory, static_cast<off_t>(bytes)) == 0 &&
                    write_all(memory, std::as_bytes(std::span(setup.get(), 1)), 0);
  if (!done) {
    return errno_error(errno, "make memory for", "library calls");
  }
  ::fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK);  // what is no memfd has none
  return Done{};
}

CallRow row_of(const Region& region, std::size_t index) {
  const tracso_slot& slot = region.slots()[index];
  CallRow row;
  row.pid = static_cast<std::int32_t>(region.head().pid);
  row.symbol = region.name(slot.name);
  row.caller_path = region.path(slot.caller);
  row.callee_path = region.path(slot.callee);
  row.caller = base_name(row.caller_path);
  row.callee = row.callee_path.empty() ? "?" : std::string(base_name(row.callee_path));
  row.package = package_of(row.caller_path);
  row.errors_known = tells_errors(row.symbol) && (slot.flags & tracso_slot_counted) == 0;
  return row;
}

std::uint64_t nanoseconds(std::uint64_t ticks, double ns_per_tick) {
  // A sum of weighted differences may come out below zero.
  const auto amount = static_cast<std::int64_t>(ticks);
  return amount <= 0 ? 0 : static_cast<std::uint64_t>(static_cast<double>(amount) * ns_per_tick);
}

// What is not told (unknown_callee.hpp).
struct UnknownCallees {
  std::uint64_t functions = 0, calls = 0;
};

UnknownCallees add_rows(const Region& region,
                        const Filter& filter,
                        double ns_per_tick,
                        CallsReport& into) {
  UnknownCallees unknown;
  std::set<std::size_t> functions;
  for (std::uint32_t thread = 0; thread < region.threads(); ++thread) {
    std::int32_t id = 0;
    const auto stats = region.counters(thread, id);
    for (std::size_t i = 0; i < stats.size(); ++i) {
      if (stats[i].calls == 0) {
        continue;
      }
      // Off: it was patched before it was known where it leads, and that nobody asked for.
      if ((region.slots()[i].flags & (tracso_slot_unwanted | tracso_slot_off)) != 0) {
        continue;
      }
      if (is_unknown_and_unwanted(region, i, filter)) {
        functions.insert(i);
        unknown.calls += stats[i].calls;
        continue;
      }
      CallRow row = row_of(region, i);
      row.thread = id;
      row.calls = stats[i].calls;
      row.errors = std::min(stats[i].errors, stats[i].calls);
      row.total_ns = nanoseconds(stats[i].total, ns_per_tick);
      row.self_ns = nanoseconds(stats[i].self, ns_per_tick);
      row.longest_ns = nanoseconds(stats[i].longest, ns_per_tick);
      into.rows.push_back(std::move(row));
    }
  }
  unknown.functions = functions.size();
  return unknown;
}

Notice callee_unknown(const Region& region, const UnknownCallees& unknown) {
  const auto counted = [](std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  return {"calls-callee-unknown",
          fmt::format("process {}: {} of {} not bound yet went into a library that is not known",
                      static_cast<std::int32_t>(region.head().pid),
                      counted(unknown.calls, "call"),
                      counted(unknown.functions, "function")),
          "they are left out, for calls into certain libraries were asked for",
          "with LD_BIND_NOW=1 a command has all functions bound from the start"};
}

void add_untraced(const Region& region, UntracedCalls& into) {
  for (const auto& object : region.objects()) {
    into.address_taken += object.address_taken;
    into.unresolved += object.unresolved;
    into.filtered += object.filtered;
    into.inside += object.intra;
    into.no_room += object.full;
  }
  into.late_objects += region.head().late_objects;
  into.dlsym += region.head().pointers_left;
}

}  // namespace

Result<Arena> Arena::make(const ArenaOptions& options) {
  const auto image = agent_image();
  if (image.empty()) {
    return Error{ErrorKind::unsupported,
                 "trace",
                 "library calls",
                 "this tracso was built without a call agent, which there is for x86-64 only",
                 ""};
  }
  auto agent = make_memory("tracso-agent.so");
  auto memory =
      agent ? make_memory("tracso-calls", MFD_ALLOW_SEALING) : Result<UniqueFd>(agent.error());
  if (!memory) {
    return memory.error();
  }
  constexpr mode_t readable_program = 0755;
  const auto path = fmt::format("/proc/{}/fd/{}", ::getpid(), agent->get());
  if (!write_all(agent->get(), image, 0) || ::fchmod(agent->get(), readable_program) != 0) {
    return errno_error(errno, "make memory for", "library calls");
  }
  if (const auto filled = fill_memory(memory->get(), options, path); !filled) {
    return filled.error();
  }
  const bool beside = options.user_has_preload && !options.user_preload.empty();
  return Arena(std::move(*agent),
               std::move(*memory),
               beside ? options.user_preload + ":" + path : path,
               options.filter);
}

Result<Arena> Arena::adopt(UniqueFd memory, const ArenaOptions& options) {
  if (const auto filled = fill_memory(memory.get(), options, ""); !filled) {
    return filled.error();
  }
  return Arena(UniqueFd(), std::move(memory), "", options.filter);
}

std::vector<std::pair<std::string, std::string>> Arena::environment() const {
  return {{"LD_PRELOAD", preload_},
          {"TRACSO_CALLS", fmt::format("/proc/{}/fd/{}", ::getpid(), memory_.get())}};
}

std::uint32_t Arena::regions() const {
  std::uint32_t regions = 0;
  const auto got =
      ::pread(memory_.get(), &regions, sizeof regions, offsetof(tracso_setup, regions));
  return got == sizeof regions ? regions : 0;
}

void Arena::read(double ns_per_tick, CallsReport& into) const {
  std::uint32_t flags = 0;
  const bool follow =
      ::pread(memory_.get(), &flags, sizeof flags, offsetof(tracso_setup, flags)) == sizeof flags &&
      (flags & tracso_follow) != 0;
  const auto count = std::min<std::uint32_t>(regions(), tracso_most_regions);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto region = Region::read(memory_.get(), i);
    if (!region) {
      into.notices.push_back({"calls-not-started",
                              "an agent could not start: its process has too little memory",
                              "that process's calls are missing",
                              ""});
      continue;
    }
    const auto first_row = into.rows.size();
    const UnknownCallees unknown = add_rows(*region, filter_, ns_per_tick, into);
    if (unknown.calls != 0) {
      into.notices.push_back(callee_unknown(*region, unknown));
    }
    add_untraced(*region, into.untraced);
    add_region_notices(*region, first_row, follow, into);
    for (std::uint32_t object = 0; object < region->objects().size(); ++object) {
      into.objects.push_back({region->path(object), region->objects()[object].base, object == 0});
    }
    into.programs.push_back({static_cast<std::int32_t>(region->head().pid),
                             region->command(),
                             region->objects().size(),
                             region->slots().size(),
                             region->head().start_ns});
  }
  if (regions() > tracso_most_regions) {
    into.notices.push_back({"calls-processes",
                            fmt::format("{} processes were started; {} are kept apart",
                                        regions(),
                                        static_cast<int>(tracso_most_regions)),
                            "the calls of the others are missing",
                            ""});
  }
}

namespace {

std::uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

}  // namespace

std::uint64_t TickRate::now() const {
  return ticks();
}

TickRate::TickRate() : tick_(ticks()), time_(std::chrono::steady_clock::now()) {}

double TickRate::ns_per_tick() const {
  const auto passed = ticks() - tick_;
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - time_;
  return passed == 0 ? 0 : time.count() / static_cast<double>(passed);
}

}  // namespace tracso::calls
