#include "calls/attachment.hpp"

#include "base/text.hpp"
#include "calls/agent_files.hpp"
#include "calls/agent_image.hpp"
#include "calls/attach_refusal.hpp"
#include "calls/safe_point.hpp"
#include "proc/maps.hpp"
#include "tracee/borrowed_thread.hpp"

#include <fmt/format.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <thread>
#include <utility>

namespace tracso::calls {
namespace {

// Of waiting for a safe point, each time.
constexpr std::chrono::milliseconds patience{3000};

Error failed(const ProcessSource& process, std::string reason) {
  return {ErrorKind::unsupported,
          "attach to process",
          std::to_string(process.pid()),
          std::move(reason),
          ""};
}

bool write_image(int fd) {
  auto image = agent_image();
  return ::pwrite(fd, image.data(), image.size(), 0) == static_cast<ssize_t>(image.size());
}

std::vector<Mapping> mappings_of(const ProcessSource& process) {
  const auto text = process.read("maps");
  auto mappings = text ? proc::parse_maps(*text) : Result<std::vector<Mapping>>(text.error());
  return mappings ? std::move(*mappings) : std::vector<Mapping>();
}

// Is the thread, in dlopen, still before the lock of the loader? Then it can be taken out of it.
bool waits_for_loader(const ProcessSource& process, const tracee::BorrowedThread& thread) {
  const auto state = thread.waiting();
  if (!state || state->interrupted_call() != SYS_futex) {
    return false;
  }
  const auto word = state->call_arguments()[0];
  const auto mappings = mappings_of(process);
  return std::any_of(mappings.begin(), mappings.end(), [&](const Mapping& mapping) {
    return word >= mapping.start && word < mapping.end && mapping.has_file() &&
           base_name(mapping.name).starts_with("ld-");
  });
}

std::string text_at(const tracee::BorrowedThread& thread, std::uint64_t address) {
  std::array<char, 256> text{};
  std::size_t length = 0;
  while (address != 0 && length < text.size() &&
         thread.read(address + length, std::as_writable_bytes(std::span(&text[length], 1))) &&
         text[length] != '\0') {
    ++length;
  }
  return {text.data(), length};
}

// The path by which it was loaded means something else to a debugger that opens it, perhaps a pipe
// on which that would wait for ever. So the loader's record gets a name that is no path.
void rename_agent(const tracee::BorrowedThread& thread, std::uint64_t record) {
  constexpr std::string_view name{"tracso-agent.so\0", 16};
  constexpr std::uint64_t name_at = 8;  // l_name of struct link_map (link.h)
  std::uint64_t place = 0;
  if (thread.read(record + name_at, std::as_writable_bytes(std::span(&place, 1))) &&
      text_at(thread, place).size() + 1 >= name.size()) {
    thread.write(place, std::as_bytes(std::span(name)));
  }
}

}  // namespace

// A borrowed thread, ready to be told what to do, with errno kept for it.
class Attachment::Visit {
 public:
  static Result<std::unique_ptr<Visit>> pay(Attachment& attachment) {
    const auto places = SafePlaces::of(attachment.target_);
    if (!places) {
      return places.error();
    }
    if (places->system_call_instruction() == 0 || places->restorer() == 0) {
      return failed(attachment.process(), "system calls of its C library cannot be found");
    }
    auto thread = stop_at_safe_point(attachment.process(), *places, patience);
    if (!thread) {
      return thread.error();
    }
    auto visit = std::unique_ptr<Visit>(new Visit(attachment, std::move(*thread)));
    if (const auto ready =
            visit->thread_.prepare(places->system_call_instruction(),
                                   places->restorer(),
                                   places->free_place(tracee::BorrowedThread::workshop_bytes));
        !ready) {
      return ready.error();
    }
    return visit;
  }

  ~Visit() {
    if (errno_at_ != 0) {
      thread_.write(errno_at_, std::as_bytes(std::span(&errno_, 1)));
    }
    const auto duration = thread_.let_go();
    auto& held = attachment_.held_;
    held.all += duration;
    held.longest = std::max(held.longest, duration);
    ++held.times;
  }

  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  tracee::BorrowedThread& thread() { return thread_; }

  // What errno is now, at that address, it will be again.
  void keep_errno(std::uint64_t address) {
    if (address != 0 && thread_.read(address, std::as_writable_bytes(std::span(&errno_, 1)))) {
      errno_at_ = address;
    }
  }

  // The agent's answer; `afterwards` is done in the same go. It goes on alone where it does not
  // answer in time. The agent leaves errno as it is.
  Result<long> order(std::uint64_t function,
                     std::array<std::uint64_t, 6> arguments,
                     std::vector<tracee::RemoteCall> afterwards = {}) {
    constexpr std::chrono::milliseconds limit{5000};
    afterwards.insert(afterwards.begin(), {attachment_.agent_ + function, arguments});
    const auto results = thread_.call_all(afterwards, limit);
    if (!results) {
      thread_.leave_alone();
      return results.error();
    }
    return static_cast<long>(results->front());
  }

 private:
  Visit(Attachment& attachment, tracee::BorrowedThread thread)
      : attachment_(attachment), thread_(std::move(thread)) {}

  Attachment& attachment_;
  tracee::BorrowedThread thread_;
  std::uint64_t errno_at_ = 0;
  std::int32_t errno_ = 0;
};

// The agent's load address: the first word of the loader's record, which dlopen gives.
Result<Done> Attachment::open_agent(Visit& visit, const std::string& path) {
  constexpr std::chrono::milliseconds limit{400};
  auto& thread = visit.thread();
  const auto record = thread.call(
      functions_.dlopen, {thread.put_text(path), functions_.dlopen_flags, 0, 0, 0, 0}, limit);
  if (!record) {
    if (waits_for_loader(process(), thread)) {
      thread.take_out();
      return failed(process(), "another thread holds the lock of its loader (in dlopen)");
    }
    thread.leave_alone();
    return record.error();
  }
  if (*record == 0) {
    const auto reason = functions_.dlerror == 0 ? Result<std::uint64_t>(std::uint64_t{0})
                                                : thread.call(functions_.dlerror, {}, limit);
    const auto text = reason ? text_at(thread, *reason) : std::string();
    return failed(process(),
                  "its loader refuses the agent" + (text.empty() ? "" : ": " + printable(text)));
  }
  if (!thread.read(*record, std::as_writable_bytes(std::span(&agent_, 1)))) {
    return failed(process(), "its loader's record of the agent cannot be read");
  }
  rename_agent(thread, *record);
  return Done{};
}

// `memory`: for the agent. What is left open there is closed by the calls in `afterwards`.
Result<Done> Attachment::load_agent(Visit& visit,
                                    Result<ForeignFile> memory,
                                    std::vector<tracee::RemoteCall>& afterwards) {
  auto& thread = visit.thread();
  const auto pid = process().pid();
  Result<Done> loaded = failed(process(), "it can make no memfd");
  if (memory) {
    loaded = write_image(memory->descriptor())
                 ? open_agent(visit, memory->path())
                 : Result<Done>(failed(process(), "the agent cannot be put into its memfd"));
    afterwards.push_back(memory->close_call(thread));
  }
  if (loaded || loaded.error().kind != ErrorKind::unsupported) {
    return loaded;
  }
  auto file = ForeignFile::make_file(thread, pid, "tracso-agent.so");
  if (!file) {
    return loaded.error().reason.starts_with("its loader") ? loaded.error() : file.error();
  }
  const bool written = write_image(file->descriptor());
  loaded = written ? open_agent(visit, file->path())
                   : Result<Done>(failed(process(), "the agent cannot be written for it"));
  afterwards.push_back(file->close_call(thread));
  return loaded;
}

// 0 or more: how the agent has begun (src/agent/attach.c).
Result<long> Attachment::begin(Visit& visit, const ArenaOptions& options) {
  constexpr std::chrono::milliseconds limit{2000};
  auto& thread = visit.thread();
  const auto pid = process().pid();
  std::vector<tracee::RemoteCall> first{ForeignFile::memory_call(thread, "tracso-calls", 0)};
  if (agent_ == 0) {
    first.push_back(ForeignFile::memory_call(thread, "tracso-agent.so", 1));
    first.push_back({functions_.errno_location, {}});  // errno: for dlopen may change it
  }
  const auto made = thread.call_all(first, limit);
  if (!made) {
    return made.error();
  }
  const auto number = [&](std::size_t at) { return static_cast<std::int64_t>((*made)[at]); };
  auto in_memory = ForeignFile::made_memory(thread, pid, number(0));
  auto memory =
      in_memory ? std::move(in_memory) : ForeignFile::make_file(thread, pid, "tracso-calls");
  if (!memory) {
    return memory.error();
  }
  auto arena = Arena::adopt(memory->take(), options);
  if (!arena) {
    return arena.error();
  }
  arena_.emplace(std::move(*arena));
  std::vector<tracee::RemoteCall> afterwards;
  if (agent_ == 0) {
    visit.keep_errno((*made)[2]);
    const auto loaded =
        load_agent(visit, ForeignFile::made_memory(thread, pid, number(1)), afterwards);
    if (!loaded) {
      afterwards.push_back(memory->close_call(thread));
      [[maybe_unused]] const auto closed = thread.call_all(afterwards, limit);
      return loaded.error();
    }
  }
  const auto begun =
      visit.order(layout_.attach,
                  {static_cast<std::uint64_t>(memory->number()), budget_ns, 0, 0, 0, 0},
                  std::move(afterwards));
  if (begun && *begun < 0) {
    constexpr long busy = -16;
    return failed(process(),
                  *begun == busy ? "one of its threads is in the agent just now"
                                 : "it has too little address space for the agent (ulimit -v)");
  }
  return begun;
}

// Not after an exec: what stands at its address then is another program's.
bool Attachment::is_agent_there() const {
  const auto resident = find_resident_agent(process(), mappings_of(process()), layout_);
  return resident && resident->same && resident->base == agent_;
}

Result<Done> Attachment::come(const ArenaOptions& options) {
  long more = 1;
  for (bool first = true; more != 0; first = false) {
    if (!first && !is_agent_there()) {
      return Error{ErrorKind::interrupted,
                   "attach to process",
                   std::to_string(process().pid()),
                   "it runs another program by now (exec)",
                   ""};
    }
    auto visit = Visit::pay(*this);
    if (!visit) {
      return visit.error();
    }
    // Where all that will be mapped is locked (MCL_FUTURE) our first few pages are, too. What the
    // process has locked before is no harm.
    if (first && has_locked(process(), (*visit)->thread().workshop())) {
      return refusal_of_locked(process());
    }
    const auto answer = first ? begin(**visit, options)
                              : (*visit)->order(layout_.attach, {~std::uint64_t{0}, budget_ns});
    if (!answer) {
      return answer.error();
    }
    attached_ = true;
    more = *answer;
  }
  return Done{};
}

Result<std::unique_ptr<Attachment>> Attachment::attach(const Target& target,
                                                       const ArenaOptions& options) {
  auto attachment = std::unique_ptr<Attachment>(new Attachment(target));
  if (auto error = attach_refusal(target)) {
    return *error;
  }
  const auto layout = agent_layout();
  const auto mappings = mappings_of(*target.process);
  const auto functions =
      layout ? find_loader_functions(target, mappings) : Result<LoaderFunctions>(layout.error());
  if (!functions) {
    return functions.error();
  }
  attachment->layout_ = *layout;
  attachment->functions_ = *functions;
  if (const auto resident = find_resident_agent(*target.process, mappings, *layout)) {
    if (!resident->same) {
      return failed(*target.process, "the agent of another build of tracso is in it");
    }
    if (resident->tracer != 0) {
      return failed(*target.process,
                    fmt::format("process {} (tracso) traces its calls already", resident->tracer));
    }
    // One that came with the start knows only the functions that were asked for then.
    std::uint32_t flags = tracso_attached;
    const auto at = resident->state.setup + offsetof(tracso_setup, flags);
    if (resident->state.setup != 0 &&
        (!target.process->read_memory(at, std::as_writable_bytes(std::span(&flags, 1))) ||
         (flags & tracso_attached) == 0)) {
      return failed(*target.process, "it was started by a 'tracso calls CMD' that is no more");
    }
    attachment->agent_ = resident->base;
  }
  ArenaOptions attached = options;
  attached.attached = true;
  // What is traced by a thread of ours is let go with it, whatever state it is in.
  Result<Done> done = Done{};
  std::thread([&] { done = attachment->come(attached); }).join();
  if (!done) {
    return done.error();
  }
  return attachment;
}

Attachment::~Attachment() {
  [[maybe_unused]] const auto done = detach();
}

Result<Done> Attachment::detach() {
  if (!std::exchange(attached_, false)) {
    return Done{};
  }
  const auto text = process().read("stat");
  if (!text || text->find(") Z ") != std::string::npos) {
    return Done{};
  }
  if (!is_agent_there()) {
    return Error{ErrorKind::interrupted,
                 "detach from process",
                 std::to_string(process().pid()),
                 "it runs another program by now (exec), whose calls are not here",
                 ""};
  }
  Result<Done> done = Done{};
  std::thread([&] {
    auto visit = Visit::pay(*this);
    if (!visit) {
      done = visit.error();
      return;
    }
    if (const auto answer = (*visit)->order(layout_.detach, {}); !answer) {
      done = answer.error();
    }
  }).join();
  return done;
}

}  // namespace tracso::calls
