#pragma once
// Descriptors of another process, borrowed for a moment (pidfd_getfd(2)): the only way to ask a
// socket or pipe how many bytes wait in it, in whatever network namespace it is.

#include "tracso/resources.hpp"
#include "tracso/result.hpp"

#include "base/unique_fd.hpp"
#include "proc/descriptors.hpp"

#include <cstdint>
#include <optional>

namespace tracso::os {

/// Bytes since a TCP connection began.
struct TcpTraffic {
  std::uint64_t received = 0;      ///< from the other end
  std::uint64_t acknowledged = 0;  ///< that the other end has
};

class DescriptorBorrower {
 public:
  /// denied, not_found; unsupported: a kernel before 5.6.
  static Result<DescriptorBorrower> open(std::int32_t pid);

  /// Borrows a pipe or socket and gives it back at once: as long as we hold it, its other end does
  /// not see it closed. `kind` is what the link says; of a path only the type of the file is asked
  /// for. nullopt: it is closed, or not for us.
  std::optional<proc::BorrowedFacts> look(std::int32_t fd, DescriptorKind kind) const;

  /// nullopt: no TCP connection, closed, not for us, or a kernel that does not count (before 4.1).
  std::optional<TcpTraffic> tcp_traffic(std::int32_t fd) const;

 private:
  DescriptorBorrower(UniqueFd process, UniqueFd folder)
      : process_(std::move(process)), folder_(std::move(folder)) {}

  std::optional<proc::BorrowedFacts> borrow(std::int32_t fd) const;

  UniqueFd process_, folder_;  // a pidfd, /proc/PID/fd
};

}  // namespace tracso::os
