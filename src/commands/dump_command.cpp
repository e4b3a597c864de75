#include "commands/dump_command.hpp"

#include "base/text.hpp"
#include "commands/output.hpp"
#include "commands/request.hpp"
#include "commands/sources.hpp"
#include "commands/stat_look.hpp"
#include "commands/status.hpp"
#include "dump/dump.hpp"
#include "os/handled_signals.hpp"
#include "os/live_commands.hpp"
#include "render/dump.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace tracso {
namespace {

std::string printed_look(const DumpRequest& request, const Dump& look) {
  return request.json
             ? dump_json(look, request.count == 1)
             : dump_text(
                   request.render, look, request.demangle ? Names::demangled : Names::as_they_are);
}

// The process that gets a signal after each look; none where none was asked for.
class Signalling {
 public:
  static Result<Signalling> prepare(const LiveTarget& live, const DumpRequest& request) {
    Signalling signalling(live);
    if (request.signal.empty()) {
      return signalling;
    }
    signalling.number_ = os::signal_number(request.signal);
    if (signalling.number_ == 0) {
      return Error{ErrorKind::usage,
                   "send a signal to",
                   fmt::format("process {}", request.pid),
                   fmt::format("there is no signal '{}'", printable(request.signal)),
                   "tracso dump --signal USR1 PID"};
    }
    auto process = os::SignalledProcess::open(request.pid);
    if (!process) {
      return process.error();
    }
    signalling.process_ = std::move(*process);
    const auto may = signalling.process_->may_take(signalling.number_, signalling.status());
    return may ? Result<Signalling>(std::move(signalling)) : may.error();
  }

  // Its handlers are asked for anew: a program may take one away.
  Result<Done> send() const {
    if (!process_) {
      return Done{};
    }
    auto sent = process_->send(number_, status());
    if (sent) {
      say(fmt::format("sent {}: what its handler says stands where the process writes",
                      os::signal_name(number_)));
    }
    return sent;
  }

 private:
  explicit Signalling(const LiveTarget& live) : live_(&live) {}

  std::string status() const {
    const auto text = live_->target().process->read("status");
    return text ? *text : "";
  }

  const LiveTarget* live_;
  int number_ = 0;
  std::optional<os::SignalledProcess> process_;
};

}  // namespace

int dump(const DumpRequest& request) {
  if (request.native && !Dumper::has_native()) {
    return fail({ErrorKind::missing_tool,
                 "show native stacks of",
                 fmt::format("process {}", request.pid),
                 "this build has none: libunwind was not at hand when it was built",
                 "without --native: the rest; gdb -p or eu-stack -p for the stacks"});
  }
  const auto live = LiveTarget::open(request.pid);
  if (!live) {
    return fail(live.error());
  }
  const auto signalling = Signalling::prepare(*live, request);
  if (!signalling) {
    return fail(signalling.error());
  }
  Dumper dumper(live->target(),
                {request.timeout, request.native, descriptor_borrower(request.pid)});
  OutputOptions output;
  output.file = request.file;
  std::string all;
  int status = 0;
  for (std::uint64_t i = 0; i < request.count; ++i) {
    if (i != 0) {
      std::this_thread::sleep_for(request.interval);
    }
    const auto look = dumper.look();
    if (!look && i != 0 && exit_status(look.error().kind) == status_ended) {
      say("the process has ended");
      status = status_ended;
      break;
    }
    if (!look) {
      return fail(with_denial(look.error(), request.pid));
    }
    auto text = printed_look(request, *look);
    text = (i != 0 && !request.json ? "\n" : "") + text;
    all += text;
    // A file is written whole, at the end; a terminal or a pipe wants each look when it is made.
    const bool to_file = request.file && *request.file != "-";
    if (!to_file) {
      if (const auto done = deliver(text, output, os::LiveCommands()); !done) {
        return fail(done.error());
      }
    }
    if (const auto sent = signalling->send(); !sent) {
      return fail(sent.error());
    }
  }
  if (request.file && *request.file != "-") {
    if (const auto done = deliver(all, output, os::LiveCommands()); !done) {
      return fail(done.error());
    }
  }
  return status;
}

}  // namespace tracso
