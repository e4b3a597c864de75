#pragma once
// Which files lie on another machine (proc_pid_mountinfo(5)).

#include <string>
#include <string_view>
#include <vector>

namespace tracso {

struct RemoteMount {
  std::string directory;  ///< as the process sees it
  std::string type;       ///< "nfs4", "cifs", "fuse.sshfs"
  bool operator==(const RemoteMount&) const = default;
};

/// Mounts of network file systems, by the text of mountinfo. Lines that are none are passed over.
std::vector<RemoteMount> parse_remote_mounts(std::string_view text);

/// The type of the mount that the path lies on; empty: none of these.
std::string file_system_of(std::string_view path, const std::vector<RemoteMount>& mounts);

}  // namespace tracso
