#pragma once
// Numbers of /proc/PID as text -> facts: statm, status, io, stat.

#include <cstdint>
#include <optional>
#include <string_view>

namespace tracso::proc {

/// The first two fields of statm (proc_pid_statm(5)), in pages. A zombie reads as zeros.
struct Statm {
  std::uint64_t virtual_pages = 0, resident_pages = 0;
  bool operator==(const Statm&) const = default;
};

std::optional<Statm> parse_statm(std::string_view text);

/// The memory lines of status (proc_pid_status(5)), in bytes; nullopt: the line is not there (a
/// zombie, a kernel thread).
struct MemoryStatus {
  std::optional<std::uint64_t> peak;       ///< VmHWM: most that was resident since exec
  std::optional<std::uint64_t> resident;   ///< VmRSS
  std::optional<std::uint64_t> anonymous;  ///< RssAnon
  std::optional<std::uint64_t> virtual_;   ///< VmSize
  std::optional<std::uint64_t> swapped;    ///< VmSwap
  bool operator==(const MemoryStatus&) const = default;
};

MemoryStatus parse_memory_status(std::string_view status);

/// Context switches of one task; those of a process are the sum over its tasks.
struct Switches {
  std::uint64_t voluntary = 0, forced = 0;
  bool operator==(const Switches&) const = default;
};

std::optional<Switches> parse_switches(std::string_view status);

/// proc_pid_io(5), bytes.
struct Io {
  std::uint64_t read_bytes = 0, written_bytes = 0;            ///< rchar, wchar
  std::uint64_t disk_read_bytes = 0, disk_written_bytes = 0;  ///< read_bytes, write_bytes
  bool operator==(const Io&) const = default;
};

/// nullopt: rchar or wchar is missing.
std::optional<Io> parse_io(std::string_view text);

/// Processor time of stat (proc_pid_stat(5)), in clock ticks.
struct CpuTicks {
  std::uint64_t own = 0;       ///< utime + stime
  std::uint64_t children = 0;  ///< cutime + cstime: of children that it has waited for
  bool operator==(const CpuTicks&) const = default;
};

std::optional<CpuTicks> parse_cpu_ticks(std::string_view stat);

/// The soft limit of "Max open files" in limits (proc_pid_limits(5)); nullopt: unlimited, or no
/// such line.
std::optional<std::uint64_t> parse_descriptor_limit(std::string_view limits);

}  // namespace tracso::proc
