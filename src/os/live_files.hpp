#pragma once
// Files as a target sees them, on this machine.

#include "tracso/target.hpp"

#include "base/unique_fd.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace tracso::os {

/// A File over an open descriptor of a regular file; anything else is refused (unsupported).
Result<std::unique_ptr<File>> make_live_file(UniqueFd fd, std::string_view name);

/// Paths are resolved inside a root directory (openat2(2) RESOLVE_IN_ROOT: no link leads out of
/// it), relative ones from a working directory inside that root. Without a root: our own, by plain
/// system calls.
class LiveFiles final : public FileSystem {
 public:
  /// Our own root.
  explicit LiveFiles(std::string working_directory = "/");
  /// Another root: an O_PATH descriptor of it, and how to name it for other programs
  /// ("/proc/4711/root").
  LiveFiles(UniqueFd root, std::string root_name, std::string working_directory);

  Result<FileStatus> status(const TargetPath& path) const override;
  Result<std::unique_ptr<File>> open(const TargetPath& path) const override;
  Result<TargetPath> resolve(const TargetPath& path) const override;
  Result<std::vector<std::string>> list(const TargetPath& directory) const override;
  std::string host_path(const TargetPath& path) const override;

 private:
  std::string absolute(const TargetPath& path) const;
  Result<UniqueFd> open_at(const TargetPath& path, int flags, std::string_view action) const;

  UniqueFd root_;
  std::string root_name_, working_directory_;
  std::string root_link_;  // what the kernel calls the root: cut from resolved paths
};

/// The files of a system tree below `directory`, for --root. not_found, denied, unsupported (not a
/// directory).
Result<std::unique_ptr<FileSystem>> open_root(const std::string& directory);

/// The files of a process. With `own_root` the process shares our root and mounts, and plain calls
/// are used. denied: /proc/PID/root may not be followed.
Result<std::unique_ptr<FileSystem>> open_process_root(std::int32_t pid,
                                                      const std::string& working_directory);

/// The files from which a process loads: its own root; but ours where it changed its root after it
/// was loaded, or where its root may not be followed (what is missed there the report says).
std::unique_ptr<FileSystem> open_process_files(const ProcessSource& process);

}  // namespace tracso::os
