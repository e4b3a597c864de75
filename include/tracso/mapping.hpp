#pragma once
// One line of /proc/PID/maps (proc_pid_maps(5)).

#include <cstdint>
#include <string>

namespace tracso {

struct Mapping {
  std::uint64_t start = 0, end = 0;
  std::uint64_t offset = 0;             ///< bytes into the file
  std::uint64_t device = 0, inode = 0;  ///< device = makedev(major, minor); both 0: no file
  bool readable = false, writable = false, executable = false, shared = false;
  std::string name;  ///< path as bytes with \012 turned back into a newline; "[heap]", "[vdso]";
                     ///< empty: anonymous
  bool deleted = false;  ///< the line ends in " (deleted)", which is cut from name; a file may
                         ///< really be called that
  bool operator==(const Mapping&) const = default;

  /// A file stands behind it (also a deleted one, a memfd or shared memory).
  bool has_file() const { return inode != 0; }

  /// Memory of nobody's name: no file, no "[heap]".
  bool is_anonymous() const { return !has_file() && name.empty(); }

  /// Such memory that may not be touched: a guard, or room kept for later.
  bool is_reserved() const { return is_anonymous() && !readable && !writable && !executable; }
};

}  // namespace tracso
