#pragma once
// The doors through which tracso sees the world: a process, files as that process sees them, helper
// programs. Live, recorded and faked in tests; nobody above the os/ folder opens anything by other
// means.

#include "tracso/result.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

/// A path as the target sees it. Only a FileSystem opens it, so a container's /lib cannot be
/// confused with ours.
struct TargetPath {
  std::string text;
  auto operator<=>(const TargetPath&) const = default;
};

struct FileStatus {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::uint32_t mode = 0;  ///< st_mode: type and permission bits
  std::uint32_t owner = 0;
  std::uint64_t links = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;  ///< since the epoch
  bool operator==(const FileStatus&) const = default;
};

/// An open regular file.
class File {
 public:
  virtual ~File() = default;
  virtual Result<FileStatus> status() const = 0;
  /// Reads as much of `into` as the file has from `offset`; the number of bytes read, 0 at or
  /// behind the end.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const = 0;
};

/// Where a file is mapped, for opening exactly that file (proc_pid_map_files(5)).
struct MappedRange {
  std::uint64_t start = 0, end = 0;
  std::uint64_t device = 0, inode = 0;  ///< as maps prints them
};

/// Files as the target sees them (live: inside /proc/PID/root, never following a link out of it).
/// Errors: not_found for ENOENT and ENOTDIR, denied for EACCES and EPERM, failed otherwise.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  /// Follows links.
  virtual Result<FileStatus> status(const TargetPath& path) const = 0;
  /// Never blocks; anything but a regular file is an error of kind unsupported.
  virtual Result<std::unique_ptr<File>> open(const TargetPath& path) const = 0;
  /// The path with every link followed, inside the target's root.
  virtual Result<TargetPath> resolve(const TargetPath& path) const = 0;
  /// Names in a directory, unsorted, without . and ..
  virtual Result<std::vector<std::string>> list(const TargetPath& directory) const = 0;
  /// A path by which another program of this host can open the file.
  virtual std::string host_path(const TargetPath& path) const = 0;
};

/// One piece of target memory to read. `got` is false where the memory is not there.
struct MemoryRead {
  std::uint64_t address = 0;
  std::span<std::byte> into;
  bool got = false;
};

/// A target's kernel state. Live: /proc/PID. Names are those of proc(5): "maps", "auxv",
/// "task/12/children".
class ProcessSource {
 public:
  virtual ~ProcessSource() = default;
  virtual std::int32_t pid() const = 0;
  virtual Result<std::string> read(std::string_view name) const = 0;
  /// A piece of a file that is too large to be read whole: "pagemap". The number of bytes read.
  /// unsupported where a source has none.
  virtual Result<std::size_t> read_at(std::string_view name,
                                      std::uint64_t offset,
                                      std::span<std::byte> into) const;
  virtual Result<std::string> read_link(std::string_view name) const = 0;
  virtual Result<std::vector<std::string>> list(std::string_view name) const = 0;
  /// The whole of `into` or an Error: denied, not_found (no memory there), interrupted (the process
  /// ended).
  virtual Result<Done> read_memory(std::uint64_t address, std::span<std::byte> into) const = 0;
  /// Many pieces with as few system calls as possible; sets `got` of each.
  virtual void read_memory(std::span<MemoryRead> pieces) const = 0;

  /// May the whole page be read where a few bytes of it are asked for? Not where what is read is
  /// kept: a recording holds no more of somebody's memory than it needs.
  virtual bool may_read_ahead() const { return true; }

  /// The very file that is mapped there, even deleted, replaced or of another mount namespace.
  /// denied: not permitted (then try the path and compare the inode).
  virtual Result<std::unique_ptr<File>> open_mapped(const MappedRange& range) const = 0;
};

struct Command {
  std::vector<std::string>
      argv;           ///< argv[0] is looked up in PATH, then on a fixed list of directories
  std::string input;  ///< given on stdin
  std::chrono::milliseconds deadline{5000};
  std::size_t output_limit = std::size_t{64} << 20;  ///< bytes kept of each stream
};

struct CommandOutput {
  int status = 0;  ///< exit status, or 128+N for signal N
  std::string out, err;
};

/// readelf, ldconfig, dot. Errors: missing_tool, interrupted (deadline), failed.
class CommandRunner {
 public:
  virtual ~CommandRunner() = default;
  virtual Result<CommandOutput> run(const Command& command) const = 0;
};

/// What is looked at. `process` is null where a file is explained and nothing runs.
struct Target {
  const ProcessSource* process = nullptr;
  const FileSystem* files = nullptr;
  const CommandRunner* commands = nullptr;
};

}  // namespace tracso
