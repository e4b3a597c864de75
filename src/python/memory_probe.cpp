// Nothing holds the target still while it is read, so one reading proves nothing: a module may go
// and its memory be used again between two of our system calls. Two readings in a row that agree in
// every row and in the address of every module are taken; a program that never lets that happen is
// stopped for one reading. (Two threads that make and delete modules as fast as they can: a single
// reading has about one wrong row in a hundred; see tests/live/python_memory_race_test.cpp.)

#include "python/memory_probe.hpp"

#include "python/interpreter.hpp"
#include "python/layouts.hpp"
#include "python/memory_locate.hpp"
#include "python/memory_modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace tracso::python {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int tries_running = 4;
constexpr int tries_stopped = 5;
constexpr std::chrono::seconds longest_stop{1};
// A process that has just started has no modules yet, and on a busy machine a thread may be kept
// from finishing a change of sys.modules for a while. Each wait is twice as long as the one before.
constexpr int tries_to_locate = 8;
constexpr int tries_before_scan = 2;
constexpr std::chrono::milliseconds between_tries{2};

// A runtime whose layout is known, ready to be read again and again.
struct Source {
  std::uint64_t runtime = 0;
  Located located;
};

// One probing of one process.
class Probing {
 public:
  Probing(const ProbeInput& input, const Stopper& stopper, const Interpreter* known)
      : input_(input),
        process_(*input.target.process),
        stopper_(stopper),
        known_(known),
        deadline_(Clock::now() + input.timeout),
        memory_(process_, limits()) {}

  Result<PythonFacts> run();

 private:
  ReadLimits limits() const {
    ReadLimits limits;
    limits.deadline = deadline_;
    return limits;
  }

  Error error(ErrorKind kind, std::string reason, std::string hint = "") const;
  std::optional<Error> refusal(const Interpreter& interpreter) const;
  bool locate_all(const Interpreter& interpreter);
  Error not_located(const Interpreter& interpreter);
  std::optional<Error> trouble() const;
  ModulePass read_pass();
  std::optional<ModulePass> read_running();
  Result<ModulePass> read_stopped();
  PythonFacts facts(const ModulePass& pass) const;

  const ProbeInput& input_;
  const ProcessSource& process_;
  const Stopper& stopper_;
  const Interpreter* known_;  // null: to be found
  Clock::time_point deadline_;
  MemoryReader memory_;
  std::vector<Source> sources_;
  std::chrono::nanoseconds stopped_{0};
};

Error Probing::error(ErrorKind kind, std::string reason, std::string hint) const {
  return {kind,
          "read the Python modules of",
          fmt::format("process {}", process_.pid()),
          std::move(reason),
          std::move(hint)};
}

std::optional<Error> Probing::refusal(const Interpreter& interpreter) const {
  if (interpreter.implementation == Implementation::pypy) {
    return error(ErrorKind::unsupported,
                 "it is PyPy, which moves its objects while one looks",
                 "--probe path names what is mapped");
  }
  if (interpreter.implementation == Implementation::none) {
    return error(ErrorKind::unsupported, "no CPython is mapped");
  }
  const auto too_old = [](const Runtime& runtime) {
    return runtime.minor != 0 && runtime.minor < oldest_minor;
  };
  if (std::all_of(interpreter.runtimes.begin(), interpreter.runtimes.end(), too_old)) {
    return error(ErrorKind::unsupported,
                 fmt::format("its Python {} is older than 3.{}, the first that memory is read of",
                             interpreter.version,
                             oldest_minor),
                 "--probe path names what is mapped");
  }
  return std::nullopt;
}

// What explains any failure better than its symptom: the target is gone, or we may not look.
std::optional<Error> Probing::trouble() const {
  if (!process_.read("stat")) {
    return error(ErrorKind::interrupted, "it ended meanwhile");
  }
  std::byte byte{};
  const auto start = input_.mappings.empty() ? 0 : input_.mappings.front().start;
  const auto readable = process_.read_memory(start, std::span(&byte, 1));
  if (!readable && readable.error().kind == ErrorKind::denied) {
    return readable.error();
  }
  if (!readable) {
    return error(ErrorKind::interrupted, "it started another program or ended meanwhile");
  }
  if (Clock::now() > deadline_) {
    return error(ErrorKind::interrupted,
                 fmt::format("not done within {} ms", input_.timeout.count()));
  }
  if (memory_.exhausted()) {
    return error(ErrorKind::unsupported, "its objects lead to more memory than is ever read");
  }
  return std::nullopt;
}

bool Probing::locate_all(const Interpreter& interpreter) {
  for (int tries = 0; tries < tries_to_locate && !memory_.exhausted(); ++tries) {
    for (const auto& runtime : interpreter.runtimes) {
      memory_.forget();
      const auto effort = tries < tries_before_scan ? Effort::tables : Effort::scan;
      if (auto located = locate(memory_, runtime, effort)) {
        sources_.push_back({runtime.address, std::move(*located)});
      }
    }
    if (!sources_.empty()) {
      return true;
    }
    std::this_thread::sleep_for(between_tries * (1 << tries));
  }
  return false;
}

Error Probing::not_located(const Interpreter& interpreter) {
  if (const auto reason = trouble()) {
    return *reason;
  }
  memory_.forget();
  for (const auto& runtime : interpreter.runtimes) {
    for (const auto& row : layouts()) {
      const bool expected = runtime.minor == 0 || runtime.minor == row.minor;
      if (expected && memory_.pointer(runtime.address + row.interpreter.head) != 0) {
        return error(ErrorKind::unsupported,
                     "its memory is not laid out like any CPython from 3.8 to 3.15",
                     "--probe gdb asks the interpreter itself");
      }
    }
  }
  return error(ErrorKind::unsupported, "its Python has not been started, or has ended");
}

ModulePass Probing::read_pass() {
  ModulePass whole;
  for (const auto& source : sources_) {
    Objects objects(memory_, source.located.layout);
    auto pass = read_modules(objects, source.runtime);
    whole.complete = whole.complete && pass.complete;
    std::move(pass.rows.begin(), pass.rows.end(), std::back_inserter(whole.rows));
  }
  return whole;
}

// nullopt: no two readings in a row agreed.
std::optional<ModulePass> Probing::read_running() {
  ModulePass before = read_pass();
  for (int tries = 1; tries < tries_running && !memory_.exhausted(); ++tries) {
    ModulePass now = read_pass();
    // What stays unreadable although nothing moves is an odd object, not a torn one.
    const bool last = tries + 1 == tries_running;
    if (now == before && (now.is_whole() || (last && now.complete))) {
      return now;
    }
    before = std::move(now);
  }
  return std::nullopt;
}

Result<ModulePass> Probing::read_stopped() {
  const std::string reason = "modules come and go faster than they can be read";
  if (!stopper_) {
    return error(ErrorKind::interrupted, reason, "--probe gdb stops it for the question");
  }
  ModulePass pass;
  for (int tries = 0;
       tries < tries_stopped && (tries == 0 || !pass.is_whole()) && !memory_.exhausted();
       ++tries) {
    const auto start = Clock::now();
    auto stop = stopper_(process_.pid());
    if (!stop) {
      return error(stop.error().kind,
                   fmt::format("{}, and it cannot be stopped: {}", reason, stop.error().reason),
                   stop.error().hint);
    }
    memory_.set_deadline(std::min(deadline_, start + longest_stop));
    pass = read_pass();
    stop->reset();
    stopped_ += Clock::now() - start;
    if (!pass.is_whole()) {
      // Stopped in the middle of a change: without time to finish it would be found there again.
      std::this_thread::sleep_for(between_tries * (1 << tries));
    }
  }
  memory_.set_deadline(deadline_);
  if (!pass.complete) {
    return error(ErrorKind::interrupted,
                 memory_.exhausted() ? "reading it would hold it for more than a second"
                                     : "its sys.modules is being changed wherever it is stopped");
  }
  return pass;
}

PythonFacts Probing::facts(const ModulePass& pass) const {
  PythonFacts facts;
  facts.implementation = "cpython";
  facts.version = version_text(sources_.front().located.version);
  facts.probe = "memory";
  for (const auto& source : sources_) {
    facts.detail += (facts.detail.empty() ? "" : ", ") + source.located.how;
  }
  for (const auto& row : pass.rows) {
    facts.modules.push_back(row.module);
  }
  facts.stopped = stopped_;
  return facts;
}

Result<PythonFacts> Probing::run() {
  if (input_.mappings.empty()) {
    return error(ErrorKind::interrupted,
                 "it has no memory: it has ended, or is part of the kernel");
  }
  const auto interpreter =
      known_ != nullptr ? Result<Interpreter>(*known_) : find_interpreter(input_);
  if (!interpreter) {
    return interpreter.error();
  }
  if (auto reason = refusal(*interpreter)) {
    return interpreter->implementation == Implementation::none ? trouble().value_or(*reason)
                                                               : *reason;
  }
  if (!locate_all(*interpreter)) {
    return not_located(*interpreter);
  }
  auto pass = read_running();
  if (!pass) {
    if (auto reason = trouble()) {
      return *reason;
    }
    auto stopped = read_stopped();
    if (!stopped) {
      return stopped.error();
    }
    pass = std::move(*stopped);
  }
  if (auto reason = trouble()) {
    return *reason;
  }
  return facts(*pass);
}

class MemoryProbe final : public PythonProbe {
 public:
  MemoryProbe(Stopper stopper, std::optional<Interpreter> known)
      : stopper_(std::move(stopper)), known_(std::move(known)) {}

  std::string_view name() const override { return "memory"; }

  Result<PythonFacts> probe(const ProbeInput& input) const override {
    if (input.target.process == nullptr) {
      return Error{ErrorKind::unsupported,
                   "read the Python modules of",
                   input.executable,
                   "no process runs",
                   ""};
    }
    return Probing(input, stopper_, known_ ? &*known_ : nullptr).run();
  }

 private:
  Stopper stopper_;
  std::optional<Interpreter> known_;
};

}  // namespace

std::unique_ptr<PythonProbe> make_memory_probe(Stopper stopper, std::optional<Interpreter> known) {
  return std::make_unique<MemoryProbe>(std::move(stopper), std::move(known));
}

}  // namespace tracso::python
