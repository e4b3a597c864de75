#pragma once
// Descriptors that are open on the same, together: of a leak it is the number that tells.

#include "tracso/resources.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tracso {

struct DescriptorGroup {
  const Descriptor* first = nullptr;  ///< of the list that was given
  /// "/etc/hostname", "pipe", "tcp -> 10.0.0.9:5432"; bytes. What has no name that lasts (a pipe, a
  /// socket without a peer's address) is known by its kind.
  std::string what;
  std::vector<std::int32_t> fds;  ///< ascending as the list is
};

/// The largest first, then in the order of the list.
std::vector<DescriptorGroup> group_descriptors(std::span<const Descriptor> descriptors);

/// "39 x /etc/hostname"; bytes. Of one alone "/etc/hostname (fd 5)".
std::string group_phrase(const DescriptorGroup& group);

}  // namespace tracso
