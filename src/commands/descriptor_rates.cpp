#include "commands/descriptor_rates.hpp"

#include "commands/progress.hpp"
#include "os/borrowed_sockets.hpp"
#include "proc/descriptors.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <thread>

namespace tracso {
namespace {

using Clock = std::chrono::steady_clock;

// What is counted of one descriptor at one moment.
struct Counted {
  std::string link;  // whether it is still the same
  Clock::time_point at;
  std::optional<std::uint64_t> position, received, sent, waiting;
};

bool has_queue(DescriptorKind kind) {
  return kind == DescriptorKind::pipe || kind == DescriptorKind::fifo ||
         kind == DescriptorKind::unix_socket || kind == DescriptorKind::udp;
}

Counted count(const ProcessSource& process,
              const os::DescriptorBorrower* borrower,
              const Descriptor& descriptor) {
  const std::string name = std::to_string(descriptor.fd);
  Counted counted;
  if (const auto link = process.read_link("fd/" + name)) {
    counted.link = *link;
  }
  if (descriptor.kind == DescriptorKind::file) {
    if (const auto info = process.read("fdinfo/" + name)) {
      counted.position = proc::parse_descriptor_info(*info).position;
    }
  } else if (borrower != nullptr && descriptor.kind == DescriptorKind::tcp) {
    if (const auto traffic = borrower->tcp_traffic(descriptor.fd)) {
      counted.received = traffic->received;
      counted.sent = traffic->acknowledged;
    }
  } else if (borrower != nullptr && has_queue(descriptor.kind)) {
    const DescriptorKind by_link =
        proc::parse_descriptor_link(counted.link).kind;  // a fifo is a path, "unix" a socket
    if (const auto facts = borrower->look(descriptor.fd, by_link)) {
      counted.waiting = facts->waiting;
    }
  }
  counted.at = Clock::now();
  return counted;
}

DescriptorRate rate(const Counted& before, const Counted& after) {
  const double seconds = std::chrono::duration<double>(after.at - before.at).count();
  if (before.link.empty() || before.link != after.link || seconds <= 0) {
    return {};
  }
  const auto per_second = [&](std::optional<std::uint64_t> Counted::*figure) {
    return before.*figure && after.*figure
               ? std::optional((static_cast<double>(*(after.*figure)) -
                                static_cast<double>(*(before.*figure))) /
                               seconds)
               : std::nullopt;
  };
  return {per_second(&Counted::received),
          per_second(&Counted::sent),
          per_second(&Counted::position),
          per_second(&Counted::waiting)};
}

}  // namespace

std::vector<DescriptorRate> measure_rates(const ProcessSource& process,
                                          const std::vector<Descriptor>& descriptors,
                                          std::chrono::milliseconds time) {
  const auto opened = os::DescriptorBorrower::open(process.pid());
  const os::DescriptorBorrower* borrower = opened ? &*opened : nullptr;
  std::vector<Counted> before;
  before.reserve(descriptors.size());
  for (const Descriptor& one : descriptors) {
    before.push_back(count(process, borrower, one));
  }
  {
    const Progress progress(fmt::format("counting the bytes of process {} for {:g} s",
                                        process.pid(),
                                        std::chrono::duration<double>(time).count()));
    std::this_thread::sleep_for(time);
  }
  std::vector<DescriptorRate> rates;
  rates.reserve(descriptors.size());
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    rates.push_back(rate(before[i], count(process, borrower, descriptors[i])));
  }
  return rates;
}

}  // namespace tracso
