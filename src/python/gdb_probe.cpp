#include "python/gdb_probe.hpp"

#include "base/text.hpp"
#include "python/gdb_probe_dialogue.hpp"
#include "python/gdb_probe_result.hpp"
#include "python/gdb_probe_target.hpp"
#include "python/gdb_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace tracso::python {
namespace {

// What gdb sees when it attaches decides whether it can call at once or waits for the main thread,
// which may never come: a busy thread was caught in C code twenty times, say. So it goes and
// attaches anew when this time is over, then after twice the time, until the time asked for is
// over.
constexpr std::chrono::milliseconds first_patience{500};

constexpr std::string_view harmless_way = "--probe memory runs nothing in the process";

Error problem(const ProbeInput& input, ErrorKind kind, std::string reason, std::string_view hint) {
  return {kind,
          "read the Python modules of",
          input.target.process == nullptr ? input.executable
                                          : fmt::format("process {}", input.target.process->pid()),
          std::move(reason),
          std::string(hint)};
}

Error not_attached(const ProbeInput& input, const GdbTalk& talk) {
  const std::string_view words = talk.last_words;
  if (words.find("not permitted") != std::string_view::npos) {
    return not_permitted(input.target, "the kernel does not permit to trace it");
  }
  if (words.find("No such process") != std::string_view::npos ||
      words.find("zombie") != std::string_view::npos) {
    return problem(input, ErrorKind::interrupted, "it has ended", "");
  }
  return problem(input,
                 ErrorKind::failed,
                 words.empty() ? "gdb did not get hold of it"
                               : fmt::format("gdb did not get hold of it: '{}'", words),
                 harmless_way);
}

// Why there is no answer.
Error explain(const ProbeInput& input, const GdbTalk& talk) {
  switch (talk.end) {
    case GdbTalk::End::no_safe_point:
      return problem(input,
                     ErrorKind::interrupted,
                     fmt::format("no safe point in {} ms: its main thread is busy in C code, or "
                                 "waits while another thread keeps the interpreter",
                                 input.timeout.count()),
                     "--probe memory needs none; --timeout SECONDS waits longer");
    case GdbTalk::End::stuck:
      return problem(input,
                     ErrorKind::interrupted,
                     "a call into its interpreter does not return; gdb leaves it when it does",
                     harmless_way);
    case GdbTalk::End::queue_full:
      return problem(input, ErrorKind::failed, "its queue of pending calls is full", harmless_way);
    case GdbTalk::End::raised:
      return problem(
          input, ErrorKind::failed, "the code that gdb ran in it raised an error", harmless_way);
    case GdbTalk::End::broken_off:
      return problem(input,
                     ErrorKind::interrupted,
                     fmt::format("gdb broke off: '{}'", talk.last_words),
                     harmless_way);
    case GdbTalk::End::not_attached:
      return not_attached(input, talk);
    case GdbTalk::End::registers:
      return problem(input,
                     ErrorKind::unsupported,
                     "this gdb cannot write the registers of this processor",
                     harmless_way);
    case GdbTalk::End::failed:
    case GdbTalk::End::result:
      break;
  }
  return problem(
      input, ErrorKind::failed, "gdb could not run the code that lists them", harmless_way);
}

class GdbProbe final : public PythonProbe {
 public:
  explicit GdbProbe(GdbSessionStarter start) : start_(std::move(start)) {}

  std::string_view name() const override { return "gdb"; }

  Result<PythonFacts> probe(const ProbeInput& input) const override;

 private:
  GdbSessionStarter start_;
};

GdbJob job_of(const GdbTarget& target) {
  GdbJob job;
  job.pid = target.script.pid;
  job.script = gdb_script(target.script);
  job.code = injected_code();
  job.registers = target.script.registers == Registers::legacy ? legacy_registers() : "";
  job.stopped = target.stopped;
  return job;
}

Result<PythonFacts> conclude(const ProbeInput& input,
                             const GdbTarget& target,
                             const GdbSession& session,
                             const GdbTalk& talk) {
  if (talk.end != GdbTalk::End::result) {
    return explain(input, talk);
  }
  const auto bytes = session.answer(largest_gdb_answer);
  auto answer = bytes ? parse_gdb_result(*bytes) : bytes.error();
  if (!answer) {
    return answer.error();
  }
  PythonFacts facts;
  facts.implementation = "cpython";
  facts.version = answer->version.empty() ? target.version : std::move(answer->version);
  facts.modules = std::move(answer->modules);
  facts.probe = "gdb";
  facts.detail = talk.direct ? "called while it waited" : "called between two instructions";
  facts.stopped = talk.stopped;
  facts.code_executed = true;
  return facts;
}

Result<PythonFacts> GdbProbe::probe(const ProbeInput& input) const {
  if (!start_) {
    return problem(input, ErrorKind::unsupported, "gdb cannot be started from here", "");
  }
  auto target = examine_gdb_target(input);
  if (!target) {
    return target.error();
  }
  std::chrono::nanoseconds stopped{0};
  auto patience = first_patience, left = input.timeout;
  while (true) {
    const auto session = start_(job_of(*target));
    if (!session) {
      return session.error();
    }
    auto talk = talk_to_gdb(**session, std::min(patience, left));
    talk.stopped += stopped;
    stopped = talk.stopped;
    if (talk.end == GdbTalk::End::registers && target->script.registers == Registers::all) {
      target->script.registers = Registers::legacy;
    } else if (talk.end == GdbTalk::End::no_safe_point && left > patience) {
      left -= patience;
      patience *= 2;
      const auto registers = target->script.registers;
      target = examine_gdb_target(input);  // it may run another program by now
      if (!target) {
        return target.error();
      }
      target->script.registers = registers;
    } else {
      return conclude(input, *target, **session, talk);
    }
  }
}

}  // namespace

std::unique_ptr<PythonProbe> make_gdb_probe(GdbSessionStarter start) {
  return std::make_unique<GdbProbe>(std::move(start));
}

}  // namespace tracso::python
