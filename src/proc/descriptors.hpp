#pragma once
// /proc/PID/fd and /proc/PID/fdinfo as text -> what a descriptor is.

#include "tracso/resources.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::proc {

/// What the link of /proc/PID/fd/N says (proc_pid_fd(5)): a path, "pipe:[12]", "socket:[12]",
/// "anon_inode:[eventfd]", "/memfd:name (deleted)".
struct DescriptorLink {
  /// file stands for any path; socket for any socket.
  DescriptorKind kind = DescriptorKind::other;
  std::string target;       ///< the path without " (deleted)", the memfd's name; else the link
  std::uint64_t inode = 0;  ///< of pipe and socket
  bool deleted = false;
  bool operator==(const DescriptorLink&) const = default;
};

DescriptorLink parse_descriptor_link(std::string_view link);

/// /proc/PID/fdinfo/N (proc_pid_fdinfo(5)); what a kind does not have is nullopt or empty.
struct DescriptorInfo {
  std::optional<std::uint64_t> flags;     ///< as open(2) has them
  std::optional<std::uint64_t> position;  ///< in bytes
  std::optional<std::uint64_t> count;     ///< of an eventfd
  std::optional<std::int64_t> pid;        ///< of a pidfd; -1: it has ended
  std::vector<std::int32_t> watched;      ///< descriptors of an epoll, 64 at most
  std::size_t watched_count = 0;          ///< all of them
  std::size_t inotify_watches = 0, locks = 0;
  std::string lock;  ///< the first lock as it stands there: "FLOCK  ADVISORY  WRITE"
  bool operator==(const DescriptorInfo&) const = default;
};

DescriptorInfo parse_descriptor_info(std::string_view text);

/// What an open descriptor tells of itself when it is borrowed (pidfd_getfd(2)). Foreign bytes.
struct BorrowedFacts {
  std::optional<DescriptorKind> kind;  ///< where it is more than the link says
  std::string target;                  ///< endpoints or path of a socket
  std::string detail;                  ///< "listening", "stream"
  std::string local, remote;           ///< endpoints as /proc/PID/net/tcp has them
  std::int32_t peer = 0;  ///< of a Unix socket: who connected it, or made the pair; 0: not known
  std::optional<std::uint64_t> waiting, unsent;
};

/// Looks into a descriptor by way of the kernel; nullopt: it cannot. Given by whoever has the door.
using Borrow = std::function<std::optional<BorrowedFacts>(std::int32_t fd, DescriptorKind kind)>;

/// "count 3", "watches 5, 7", "pid 4711", "locked (FLOCK WRITE)"; empty: nothing more to say.
std::string describe(DescriptorKind kind, const DescriptorInfo& info);

}  // namespace tracso::proc
