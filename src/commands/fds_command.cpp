#include "commands/fds_command.hpp"

#include "base/text.hpp"
#include "commands/descriptor_peers.hpp"
#include "commands/descriptor_rates.hpp"
#include "commands/output.hpp"
#include "commands/sources.hpp"
#include "commands/stat_look.hpp"
#include "os/live_commands.hpp"
#include "os/live_process.hpp"
#include "proc/no_memory.hpp"
#include "render/fds_text.hpp"
#include "render/stat_json.hpp"

#include <fmt/format.h>

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
  const proc::Borrow borrow = descriptor_borrower(request.pid);
  auto descriptors = collect_descriptors(**process, borrow, notices);
  if (!descriptors) {
    return fail(with_denial(descriptors.error(), request.pid));
  }
  if (request.verbose) {
    say(fmt::format("{} of process {}; sockets and pipes are {}",
                    counted(descriptors->size(), "descriptor"),
                    request.pid,
                    borrow
                        ? "borrowed (pidfd_getfd)"
                        : "told by the tables of its network namespace: pidfd_getfd is not to be "
                          "had"));
  }
  add_peers(request.pid, **process, *descriptors, notices);
  if (!request.queues) {
    forget_queues(*descriptors);
  }
  std::vector<DescriptorRate> rates;
  if (request.rate_over) {
    rates = measure_rates(**process, *descriptors, *request.rate_over);
  }
  OutputOptions options;
  options.file = request.output.file;
  const os::LiveCommands commands;
  const std::string text =
      request.output.json ? descriptors_json(request.pid, *descriptors, rates, notices)
      : request.csv
          ? descriptors_csv(*descriptors, rates)
          : descriptors_text(request.output.render, request.pid, *descriptors, rates, notices);
  if (const auto done = deliver(text, options, commands); !done) {
    return fail(done.error());
  }
  return 0;
}

}  // namespace tracso
