#include "tracso/resources.hpp"

#include <numeric>

namespace tracso {
namespace {

constexpr std::array<std::string_view, memory_class_count> memory_names{
    "libraries", "heap", "python", "stacks", "files", "shared", "other"};

constexpr std::array<std::string_view, 20> descriptor_names{
    "file",    "directory", "device",  "terminal", "pipe",   "fifo",    "tcp",
    "udp",     "unix",      "netlink", "packet",   "socket", "eventfd", "epoll",
    "timerfd", "signalfd",  "inotify", "memfd",    "pidfd",  "other"};

}  // namespace

std::string_view memory_class_name(MemoryClass what) {
  return memory_names[static_cast<std::size_t>(what)];
}

std::string_view descriptor_kind_name(DescriptorKind kind) {
  return descriptor_names[static_cast<std::size_t>(kind)];
}

// Saturates: a saved document may claim any number.
void MemoryUse::add(const MemoryUse& more) {
  const auto sum = [](std::uint64_t one, std::uint64_t other) {
    return one > UINT64_MAX - other ? UINT64_MAX : one + other;
  };
  mapped = sum(mapped, more.mapped);
  resident = sum(resident, more.resident);
  private_bytes = sum(private_bytes, more.private_bytes);
  dirty = sum(dirty, more.dirty);
  swapped = sum(swapped, more.swapped);
}

MemoryUse MemoryByClass::total() const {
  MemoryUse sum;
  for (const MemoryUse& use : uses) {
    sum.add(use);
  }
  return sum;
}

}  // namespace tracso
