#pragma once
// How many bytes a second go through a descriptor, as far as the kernel tells.

#include <cstdint>
#include <optional>

namespace tracso {

/// Bytes per second between two looks; what the kernel does not count is nullopt. All nullopt: not
/// visible, or it is another thing by now.
struct DescriptorRate {
  std::optional<double> received, sent;  ///< TCP: taken from the other end, taken by it (tcp_info)
  std::optional<double> position;        ///< of a file: read or written on from there (fdinfo)
  std::optional<double> queue;           ///< pipes, other sockets: what waits grows by; not traffic
  bool operator==(const DescriptorRate&) const = default;

  bool is_visible() const { return received || sent || position || queue; }
};

}  // namespace tracso
