#include "dump/dump.hpp"

#include "base/text.hpp"
#include "dump/code_places.hpp"
#include "dump/native_merge.hpp"
#include "dump/native_stacks.hpp"
#include "dump/threads.hpp"
#include "dump/unwinder.hpp"
#include "dump/waits.hpp"
#include "proc/maps.hpp"
#include "proc/no_memory.hpp"
#include "python/thread_stacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace tracso {

using dump::KernelView;

class Dumper::Looking {
 public:
  Looking(const Target& target, const DumpOptions& options)
      : target_(target), timeout_(options.timeout), borrow_(options.borrow), places_(target) {
    if (options.native) {
      native_.emplace(target, places_);
    }
  }

  Result<Dump> look();

 private:
  Result<Done> prepare();
  python::ThreadStacks python_stacks(const std::vector<KernelView>& views, Dump& dump);
  void add_python(python::ThreadStacks& stacks, Dump& dump) const;
  ThreadDump described(const KernelView& view, dump::WaitReader& waits);
  void confirm_deadlocks(const std::vector<KernelView>& views, Dump& dump) const;

  Target target_;
  std::chrono::milliseconds timeout_;
  proc::Borrow borrow_;
  dump::CodePlaces places_;
  ProbeInput input_;
  std::uint64_t program_start_ = 0;  // of its first mapping
  std::optional<python::ThreadStackReader> reader_;
  std::optional<dump::NativeStacks> native_;
};

// A library may have been loaded since the last look, or another program (exec).
Result<Done> Dumper::Looking::prepare() {
  if (auto error = proc::no_memory("look at process", *target_.process)) {
    return *error;
  }
  const auto executable = target_.process->read_link("exe");
  const auto text = target_.process->read("maps");
  if (!text) {
    return text.error();
  }
  auto mappings = proc::parse_maps(*text);
  if (!mappings) {
    return mappings.error();
  }
  const auto start = mappings->empty() ? 0 : mappings->front().start;
  const bool same_program =
      reader_ && executable && *executable == input_.executable && start == program_start_;
  program_start_ = start;
  input_ = {target_, std::move(*mappings), executable ? *executable : "", timeout_};
  if (!same_program) {
    reader_.emplace(input_);
  }
  return Done{};
}

python::ThreadStacks Dumper::Looking::python_stacks(const std::vector<KernelView>& views,
                                                    Dump& dump) {
  std::vector<python::KernelThread> threads;
  for (const auto& view : views) {
    threads.push_back({view.id, view.own});
  }
  auto stacks = reader_->read(threads);
  if (!stacks) {
    dump.notices.push_back({"python-stacks-unreadable",
                            "its Python stacks could not be read: " + stacks.error().reason,
                            "Python functions are missing",
                            ""});
    return {};
  }
  if (stacks->cut) {
    dump.notices.push_back(
        {"python-stacks-cut",
         fmt::format("its Python stacks could not all be read within {} s, or fill too much memory",
                     static_cast<double>(timeout_.count()) / 1000),
         "Python functions are missing",
         "--timeout SECONDS gives it longer"});
  }
  return std::move(*stacks);
}

ThreadDump Dumper::Looking::described(const KernelView& view, dump::WaitReader& waits) {
  ThreadDump thread;
  thread.id = view.id;
  thread.name = view.name;
  thread.state = view.state;
  if (!view.call || view.call->running) {
    return thread;
  }
  thread.call = view.call->number < 0 ? "" : proc::call_kind(view.call->number).name;
  thread.waits_for = waits.of(*view.call);
  const auto& place = places_.at(view.call->program_counter, input_.mappings);
  thread.library = place.library;
  thread.symbol = place.symbol;
  return thread;
}

// A circle of threads that still run would be of different moments: each must be where it was.
void Dumper::Looking::confirm_deadlocks(const std::vector<KernelView>& views, Dump& dump) const {
  auto circles = dump::find_deadlocks(dump.threads);
  std::erase_if(circles, [&](const std::vector<std::int32_t>& circle) {
    return std::any_of(circle.begin(), circle.end(), [&](std::int32_t id) {
      const auto view = std::find_if(
          views.begin(), views.end(), [&](const KernelView& one) { return one.id == id; });
      return view == views.end() || dump::look_at_call(*target_.process, id) != view->call;
    });
  });
  dump.deadlocks = std::move(circles);
}

void Dumper::Looking::add_python(python::ThreadStacks& stacks, Dump& dump) const {
  std::unordered_map<std::int32_t, std::size_t> index;
  for (const auto& thread : dump.threads) {
    index.emplace(thread.id, index.size());
  }
  std::size_t strangers = 0;
  for (auto& stack : stacks.threads) {
    const auto at = index.find(stack.id);
    if (at == index.end()) {
      strangers += stack.stack.frames.empty() ? 0 : 1;
    } else if (!dump.threads[at->second].python) {
      dump.threads[at->second].python = std::move(stack.stack);
    } else {  // an older interpreter in the same thread: the frames of the newer one are inside
      auto& frames = dump.threads[at->second].python->frames;
      frames.insert(frames.end(), stack.stack.frames.begin(), stack.stack.frames.end());
    }
  }
  for (auto& [id, name] : stacks.names) {
    if (const auto at = index.find(id); at != index.end()) {
      dump.threads[at->second].python_name = std::move(name);
    }
  }
  if (strangers != 0) {
    dump.notices.push_back(
        {"python-threads-unknown",
         fmt::format("{} Python stacks belong to no thread that is here now", strangers),
         "they are left out: their threads have ended, or the process was forked "
         "without telling Python",
         ""});
  }
}

Result<Dump> Dumper::Looking::look() {
  const auto start = std::chrono::steady_clock::now();
  if (const auto ready = prepare(); !ready) {
    return ready.error();
  }
  Dump dump;
  dump.pid = target_.process->pid();
  dump.command = base_name(input_.executable);
  bool denied = false;
  const auto views = dump::look_at_threads(*target_.process, denied);
  if (!views) {
    return views.error();
  }
  auto stacks = python_stacks(*views, dump);
  dump.python_version = stacks.version;
  dump.asyncio = std::move(stacks.asyncio);
  if (stacks.asyncio_unknown) {
    dump.notices.push_back(
        {"asyncio-unread",
         "tasks of asyncio are read of Python 3.8 to 3.14, of 3.14 with the section "
         ".AsyncioDebug of its module _asyncio",
         "its tasks are missing",
         "python3 -m asyncio pstree PID, with its own Python"});
  }
  if (stacks.greenlets) {
    dump.notices.push_back({"greenlets",
                            "it has loaded greenlet",
                            "of greenlets only the one that a thread runs now is shown",
                            ""});
  }
  std::vector<python::KernelThread> threads;
  for (const auto& view : *views) {
    threads.push_back({view.id, view.own});
  }
  const auto locks = reader_->locks(dump::word_waits(*views));
  dump::WaitReader waits(*target_.process, threads, stacks.gils, locks, borrow_);
  for (const auto& view : *views) {
    dump.threads.push_back(described(view, waits));
  }
  if (native_) {
    native_->take(*views, input_.mappings, *reader_, start + timeout_, dump);
    dump::take_over(reader_->held_stacks(), stacks);
  }
  add_python(stacks, dump);
  for (auto& thread : dump.threads) {
    if (thread.native && thread.python) {
      thread.native->merged = dump::merge_python(*thread.python, *thread.native);
    }
  }
  if (denied) {
    dump.notices.push_back({"calls-denied",
                            "the system calls of its threads may not be read",
                            "what they wait for is missing",
                            "run as the process's user, or with CAP_SYS_PTRACE"});
  }
  confirm_deadlocks(*views, dump);
  dump.took = std::chrono::steady_clock::now() - start;
  return dump;
}

Dumper::Dumper(const Target& target, const DumpOptions& options)
    : looking_(std::make_unique<Looking>(target, options)) {}

bool Dumper::has_native() {
  return dump::Unwinder::is_available();
}

Dumper::~Dumper() = default;

Result<Dump> Dumper::look() {
  return looking_->look();
}

}  // namespace tracso
