#pragma once
// The parts of read_link_maps: from the address of r_debug to raw records, and from those to what
// glibc keeps behind the public part of them.

#include "loader/link_map.hpp"
#include "loader/link_map_memory.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::loader {

/// Words of an r_debug: version, first record, breakpoint, state, base of ld.so.
constexpr std::size_t debug_words = 5;
/// The part of a word that an int fills; the rest is padding.
constexpr std::uint64_t int_part = 0xffffffffU;

/// The first eight words of a struct link_map; the last three are glibc's own.
struct RawEntry {
  std::uint64_t address = 0;
  std::size_t space = 0;  ///< index of the r_debug it hangs on
  std::uint64_t bias = 0, name = 0, dynamic = 0, real = 0, lmid = 0, names = 0;
};

/// One look at all lists. `problem` is empty if they were whole and at rest.
struct RawMaps {
  std::vector<RawEntry> entries;
  std::uint64_t loader_base = 0;  ///< r_ldbase
  std::string problem;
};

/// Walks the lists of all namespaces: of the r_debug of the base one, of those chained to it, then
/// of the others given. Ends in any case: at most 16384 entries, none twice. Where it has been
/// walked before, the addresses of the records seen then spare most of the reads.
RawMaps walk_link_maps(SteadyMemory& memory,
                       std::span<const std::uint64_t> r_debugs,
                       std::span<const std::uint64_t> expected = {});

/// What the loader says it is doing to one of the lists, as RawMaps::problem says it; empty: it is
/// at rest. A few reads.
std::string loader_at_work(SteadyMemory& memory, std::span<const std::uint64_t> r_debugs);

/// The r_debug of each further namespace, where they are not chained to the first; mostly empty.
std::vector<std::uint64_t> unchained_spaces(const ProcessSource& process,
                                            ElfClass elf_class,
                                            std::uint64_t r_debug);

/// Where they would be found: ld.so's own variable that all of them lie in. It does not move.
/// nullopt: they are chained, or it is not glibc.
std::optional<Range> spaces_variable(const ProcessSource& process,
                                     ElfClass elf_class,
                                     std::uint64_t r_debug);
/// Those in the words of that variable; `base` are five words of the first r_debug.
std::vector<std::uint64_t> spaces_in(std::span<const std::uint64_t> variable,
                                     std::uint64_t address,
                                     std::span<const std::uint64_t> base,
                                     std::size_t word);

/// Three values of the program that only its own record has side by side.
struct ProgramMark {
  std::uint64_t phdr = 0, entry = 0, phnum = 0;
};

/// What is told from l_loader on.
struct PrivateTail {
  std::uint64_t requester = 0;  ///< l_loader, the address of a record; 0: none
  std::uint32_t direct_opens = 0;
  LinkMapEntry::Start start = LinkMapEntry::Start::unknown;  ///< unknown: a number without meaning
};

/// Where that lies in a record, once it is known where l_phdr does (LinkMaps::private_word).
Range private_tail(std::uint64_t record, std::size_t private_word, std::size_t word);
/// The bytes of that range; nullopt: cut short.
std::optional<PrivateTail> parse_private_tail(std::string_view bytes, std::size_t word);

/// Fills the private fields of `maps` (whose entries stand beside those of `raw`) if the main
/// record shows `mark`, and nothing that is read contradicts itself; else the reason why not.
void fill_private_fields(SteadyMemory& memory,
                         const RawMaps& raw,
                         std::span<const ProgramMark> marks,
                         LinkMaps& maps);

}  // namespace tracso::loader
