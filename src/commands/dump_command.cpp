#include "commands/dump_command.hpp"

#include "commands/output.hpp"
#include "commands/request.hpp"
#include "commands/sources.hpp"
#include "dump/dump.hpp"
#include "os/live_commands.hpp"
#include "render/dump.hpp"

#include <fmt/format.h>

#include <thread>

namespace tracso {
namespace {

constexpr int status_ended = 3;

std::string printed_look(const DumpRequest& request, const Dump& look) {
  return request.json
             ? dump_json(look, request.count == 1)
             : dump_text(
                   request.render, look, request.demangle ? Names::demangled : Names::as_they_are);
}

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
  Dumper dumper(live->target(), {request.timeout, request.native});
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
  }
  if (request.file && *request.file != "-") {
    if (const auto done = deliver(all, output, os::LiveCommands()); !done) {
      return fail(done.error());
    }
  }
  return status;
}

}  // namespace tracso
