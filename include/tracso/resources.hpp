#pragma once
// What a process holds beside its libraries: memory by use, descriptors, threads, children.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

/// What memory is for. Every mapping belongs to exactly one, so the classes sum to the process.
enum class MemoryClass : std::uint8_t {
  libraries,  ///< files with executable pages, the program too; their .bss is other
  heap,       ///< malloc: [heap], and glibc's arenas of other threads
  python,     ///< arenas of pymalloc, as their pool headers tell
  stacks,     ///< [stack], and anonymous memory behind a guard page
  files,      ///< other mapped files: data, fonts, locale archives
  shared,     ///< shared memory without a file of its own: shm, memfd, SysV, anonymous
  other       ///< anonymous memory of no known use, large malloc blocks among it; vdso
};

constexpr std::size_t memory_class_count = 7;

/// "libraries", "heap", "python", "stacks", "files", "shared", "other".
std::string_view memory_class_name(MemoryClass what);

/// Bytes.
struct MemoryUse {
  std::uint64_t mapped = 0;
  std::uint64_t resident = 0;
  std::uint64_t private_bytes = 0;  ///< of these what no other process shares now
  std::uint64_t dirty = 0;          ///< of these what cannot be dropped: the price of the process
  std::uint64_t swapped = 0;
  bool operator==(const MemoryUse&) const = default;

  void add(const MemoryUse& more);
};

struct MemoryByClass {
  std::array<MemoryUse, memory_class_count> uses{};
  bool operator==(const MemoryByClass&) const = default;

  MemoryUse& operator[](MemoryClass what) { return uses[static_cast<std::size_t>(what)]; }

  const MemoryUse& operator[](MemoryClass what) const {
    return uses[static_cast<std::size_t>(what)];
  }

  MemoryUse total() const;
};

enum class DescriptorKind : std::uint8_t {
  file,
  directory,
  device,
  terminal,
  pipe,
  fifo,
  tcp,
  udp,
  unix_socket,
  netlink,
  packet,
  socket,  ///< of another family, or one whose family could not be seen
  eventfd,
  epoll,
  timerfd,
  signalfd,
  inotify,
  memfd,
  pidfd,
  other
};

/// "file", "directory", ..., "unix" for unix_socket.
std::string_view descriptor_kind_name(DescriptorKind kind);

/// A process that has the other end.
struct Holder {
  std::int32_t pid = 0;
  std::string name;  ///< 15 bytes at most
  std::int32_t fd = -1;
  bool operator==(const Holder&) const = default;
};

struct Descriptor {
  std::int32_t fd = -1;
  DescriptorKind kind = DescriptorKind::other;
  std::string link;    ///< as the kernel names it: "socket:[4711]"; bytes
  std::string target;  ///< what it is: a path, "10.0.0.2:41446 -> 10.0.0.9:5432"; bytes
  std::string detail;  ///< "count 3", "watches 5, 7", "listening"; empty: nothing more
  bool deleted = false;
  std::optional<std::uint64_t> bytes_waiting;  ///< to be read; nullopt: not asked, or not known
  std::optional<std::uint64_t> bytes_unsent;   ///< written, and not yet taken by the other end
  std::vector<Holder> peers;
  bool operator==(const Descriptor&) const = default;
};

struct ThreadInfo {
  std::int32_t tid = 0;
  std::string name;  ///< 15 bytes at most
  bool operator==(const ThreadInfo&) const = default;
};

struct ChildProcess {
  std::int32_t pid = 0, parent = 0;
  std::string name;     ///< 15 bytes at most
  char state = '?';     ///< as ps prints it; Z is a zombie
  bool orphan = false;  ///< its parent has ended; nobody of the tree waits for it
  std::optional<std::uint64_t> resident, peak;  ///< bytes; nullopt: a zombie, or not readable
  bool operator==(const ChildProcess&) const = default;
};

/// What a process has done since its start (proc_pid_io(5), proc_pid_status(5)).
struct Activity {
  std::optional<std::uint64_t> read_bytes, written_bytes;            ///< by system calls
  std::optional<std::uint64_t> disk_read_bytes, disk_written_bytes;  ///< that reached storage
  std::optional<std::uint64_t> voluntary_switches, forced_switches;
  bool operator==(const Activity&) const = default;
};

}  // namespace tracso
