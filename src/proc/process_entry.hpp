#pragma once
// One line of a list of processes: what anybody may see of a process, told from texts of /proc.

#include <cstdint>
#include <string>
#include <string_view>

namespace tracso::proc {

struct ProcessEntry {
  std::int32_t pid = 0;
  std::string user;
  std::uint64_t resident_bytes = 0;  ///< VmRSS
  std::string name;                  ///< at most 15 bytes, as the kernel has it (comm)
  std::string command;    ///< the arguments, separated by blanks; the name in brackets if none
  std::string python;     ///< "3.11", "PyPy", "yes" (a Python of unknown version); empty: none seen
  std::string container;  ///< "docker 1a2b3c4d5e6f"; empty: none seen
  bool python_asked = true;  ///< false: nobody has looked for a Python yet
  bool operator==(const ProcessEntry&) const = default;
};

/// Kernel threads have no memory of their own, and nothing to look at (proc_pid_status(5)).
bool has_memory(std::string_view status);

/// Name, resident bytes and pid from status, the arguments from cmdline; the rest stays empty.
ProcessEntry parse_process_entry(std::int32_t pid,
                                 std::string_view status,
                                 std::string_view cmdline);

/// The version in the name of a Python program or of a mapped libpython: "/usr/bin/python3.11",
/// "libpython3.12.so.1.0". A guess by names; empty: neither is there, or maps could not be read.
std::string python_by_names(std::string_view exe, std::string_view maps);

}  // namespace tracso::proc
