#pragma once
// /proc/PID/smaps as text -> what each mapping takes (proc_pid_smaps(5)).

#include "tracso/mapping.hpp"
#include "tracso/result.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tracso::proc {

/// One mapping and its memory, in bytes. A page that is only reserved, or the kernel's zero page,
/// is in none of them.
struct MappingCost {
  Mapping mapping;
  std::uint64_t resident = 0;    ///< Rss
  std::uint64_t clean = 0;       ///< Private_Clean: unchanged, and nobody else has it now
  std::uint64_t dirty = 0;       ///< Private_Dirty: changed, of this process alone
  std::uint64_t anonymous = 0;   ///< Anonymous: has no file, or is a changed copy of a file's page
  std::uint64_t swapped = 0;     ///< Swap
  std::uint64_t referenced = 0;  ///< Referenced: touched since the kernel's marks were cleared
  std::uint64_t huge = 0;        ///< Private_Hugetlb and Shared_Hugetlb, which Rss leaves out
  bool operator==(const MappingCost&) const = default;

  std::uint64_t private_bytes() const { return clean + dirty; }
};

/// In the order of the text (ascending addresses). Keys that are not known are skipped; a last line
/// without its end is one. malformed: a line that is neither a mapping nor "Key: value".
Result<std::vector<MappingCost>> parse_smaps(std::string_view text);

/// Whether the mapping at that address stays in memory (mlock(2): "lo" of its VmFlags). nullopt: no
/// such mapping, or the text has no flags.
std::optional<bool> is_locked(std::string_view smaps, std::uint64_t address);

}  // namespace tracso::proc
