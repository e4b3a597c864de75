#include "commands/python.hpp"

#include "os/gdb_session.hpp"
#include "python/gdb_probe.hpp"
#include "python/interpreter.hpp"
#include "python/memory_probe.hpp"
#include "python/path_probe.hpp"
#include "python/probe_chain.hpp"
#include "tracee/stopped_process.hpp"

namespace tracso {
namespace {

// What the memory probe needs when modules come and go faster than it reads.
class ThreadsHeld final : public python::Stop {
 public:
  explicit ThreadsHeld(tracee::StoppedProcess held) : held_(std::move(held)) {}

 private:
  tracee::StoppedProcess held_;
};

Result<std::unique_ptr<python::Stop>> hold_threads(std::int32_t pid) {
  auto held = tracee::StoppedProcess::stop(pid, std::chrono::milliseconds(500));
  if (!held) {
    return held.error();
  }
  return std::unique_ptr<python::Stop>(std::make_unique<ThreadsHeld>(std::move(*held)));
}

}  // namespace

python::Stopper thread_holder() {
  return hold_threads;
}

std::optional<PythonFacts> find_python_modules(const ProbeInput& input,
                                               const std::string& choice,
                                               std::vector<Notice>& notices,
                                               std::optional<Error>& refused,
                                               Tracer tracer) {
  const auto found = choice == "none" ? Result<python::Interpreter>(python::Interpreter{})
                                      : python::find_interpreter(input);
  const auto memory =
      python::make_memory_probe(hold_threads, found ? std::optional(*found) : std::nullopt);
  const auto gdb = tracer == Tracer::us ? nullptr : python::make_gdb_probe(os::start_gdb_session);
  const auto path = python::make_path_probe();
  auto facts = python::probe_recognized(
      input, found, choice, {memory.get(), gdb.get(), path.get()}, notices);
  if (!facts) {
    refused = facts.error();
    return std::nullopt;
  }
  return std::move(*facts);
}

}  // namespace tracso
