#pragma once
// Who has the other end of pipes and sockets: what the kernel knows of pairs, and which processes
// of this machine hold them.

#include "tracso/resources.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tracso::os {

/// What only sock_diag(7) knows of a Unix socket.
struct UnixSocketEnds {
  std::uint64_t peer = 0;                  ///< inode of the other end; 0: not connected
  std::optional<std::uint32_t> to_accept;  ///< connections that wait; nullopt: it does not listen
};

/// Of every Unix socket in the network namespace of the process, by inode. Empty: not permitted,
/// or the kernel has no unix_diag.
std::map<std::uint64_t, UnixSocketEnds> unix_socket_ends(std::int32_t pid);

/// A descriptor of some process.
struct HeldEnd {
  Holder holder;
  bool reads = false, writes = false;
};

/// Every descriptor of every process that we may look at whose link is one of `links`
/// ("pipe:[12]", "socket:[12]"), in the order of pids. Looks at `most` descriptors altogether;
/// `complete` is set to false if there were more.
std::map<std::string, std::vector<HeldEnd>> find_holders(const std::set<std::string>& links,
                                                         bool& complete,
                                                         std::size_t most = 2'000'000);

}  // namespace tracso::os
