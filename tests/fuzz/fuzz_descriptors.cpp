// Links, fdinfo, tables of sockets and counters of /proc as foreign text.

#include "proc/counters.hpp"
#include "proc/descriptors.hpp"
#include "proc/net_tables.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tracso;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto link = proc::parse_descriptor_link(text);
  const auto info = proc::parse_descriptor_info(text);
  if (info.watched.size() > info.watched_count) {
    std::abort();
  }
  static_cast<void>(proc::describe(link.kind, info));
  static_cast<void>(proc::describe(DescriptorKind::epoll, info));
  for (const auto& socket : proc::parse_internet_table(text)) {
    if (socket.local.empty()) {
      std::abort();
    }
  }
  static_cast<void>(proc::parse_unix_table(text));
  static_cast<void>(proc::parse_statm(text));
  static_cast<void>(proc::parse_memory_status(text));
  static_cast<void>(proc::parse_switches(text));
  static_cast<void>(proc::parse_io(text));
  static_cast<void>(proc::parse_cpu_ticks(text));
  static_cast<void>(proc::parse_descriptor_limit(text));
  return 0;
}
