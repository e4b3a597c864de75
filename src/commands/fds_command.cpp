#include "commands/fds_command.hpp"

#include "commands/descriptor_peers.hpp"
#include "commands/output.hpp"
#include "commands/sources.hpp"
#include "commands/stat_look.hpp"
#include "os/live_commands.hpp"
#include "os/live_process.hpp"
#include "proc/no_memory.hpp"
#include "render/fds_text.hpp"
#include "render/stat_json.hpp"

namespace tracso {
namespace {

// Bytes are asked for where the user wants them; to borrow a descriptor is the price.
void forget_queues(std::vector<Descriptor>& descriptors) {
  for (Descriptor& descriptor : descriptors) {
    descriptor.bytes_waiting.reset();
    descriptor.bytes_unsent.reset();
  }
}

}  // namespace

int fds(const FdsRequest& request) {
  const auto process = os::LiveProcess::open(request.pid);
  if (!process) {
    return fail(process.error());
  }
  if (const auto error = proc::no_memory("look at process", **process)) {
    return fail(*error);  // a zombie has no descriptors: that is not none
  }
  std::vector<Notice> notices;
  auto descriptors = collect_descriptors(**process, descriptor_borrower(request.pid), notices);
  if (!descriptors) {
    return fail(with_denial(descriptors.error(), request.pid));
  }
  add_peers(request.pid, **process, *descriptors, notices);
  if (!request.queues) {
    forget_queues(*descriptors);
  }
  OutputOptions options;
  options.file = request.output.file;
  const os::LiveCommands commands;
  const std::string text =
      request.output.json ? descriptors_json(request.pid, *descriptors, notices)
      : request.csv       ? descriptors_csv(*descriptors)
                    : descriptors_text(request.output.render, request.pid, *descriptors, notices);
  if (const auto done = deliver(text, options, commands); !done) {
    return fail(done.error());
  }
  return 0;
}

}  // namespace tracso
