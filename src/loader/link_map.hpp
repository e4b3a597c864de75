#pragma once
// What ld.so itself knows of a running process: its link maps, read from memory (glibc
// include/link.h, elf/link.h r_debug; musl ldso/dynlink.c struct dso). No file is opened and the
// process is not stopped.

#include "tracso/dynamic_section.hpp"
#include "tracso/mapping.hpp"
#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include "proc/auxv.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::loader {

/// One object as ld.so has it. Names are bytes as ld.so keeps them: unnormalised, perhaps relative.
struct LinkMapEntry {
  /// How it came in (glibc l_type); unknown: LinkMaps::private_fields is false.
  enum class Start : std::uint8_t { unknown, program, startup, dlopened };
  std::uint64_t address = 0;  ///< of the record itself
  std::string name;           ///< l_name; "" for the program (glibc) and the vDSO (musl)
  std::uint64_t bias = 0;     ///< l_addr
  std::uint64_t dynamic = 0;  ///< l_ld; 0: none
  std::size_t space = 0;      ///< namespace: 0 is the base one, others come of dlmopen and LD_AUDIT
  std::size_t position = 0;   ///< in the list of its namespace: load order
  std::optional<std::size_t> mapping;  ///< the mapping `dynamic` lies in

  // Private fields of glibc; empty where LinkMaps::private_fields is false.
  std::vector<std::string> requested;    ///< l_libname: every name it was asked for by
  std::optional<std::size_t> requester;  ///< l_loader: the entry that first needed it; nullopt: it
                                         ///< is the program, was preloaded for nobody, or dlopened
  Start start = Start::unknown;
  std::uint32_t direct_opens = 0;  ///< dlopen calls that named it and were not closed
  bool proxy = false;              ///< ld.so's stand-in in a namespace of dlmopen
  bool operator==(const LinkMapEntry&) const = default;
};

/// All lists of one process at one moment.
struct LinkMaps {
  ElfClass elf_class = ElfClass::elf64;
  std::vector<LinkMapEntry> entries;  ///< by namespace, then in load order; never empty
  std::optional<std::size_t> loader;  ///< ld.so's own entry in the base namespace
  bool private_fields = false;
  std::string private_reason;    ///< why not
  std::size_t private_word = 0;  ///< the word of a record at which l_phdr stands; 0: not known
  /// The lists did not change while they were read, and ld.so was not at work on them.
  bool consistent = true;
  std::string inconsistency;  ///< what was wrong at the last try
  int tries = 1;
  std::string via;  ///< "DT_DEBUG", "_r_debug symbol", "_dl_debug_addr symbol"
  bool operator==(const LinkMaps&) const = default;
};

/// Reads the link maps. Tries again, for some 20 ms in all, while the process loads or unloads;
/// after the last of `tries` the state is given as it is, marked. `mappings` must be sorted by
/// address.
/// unsupported: statically linked. not_found: ld.so has made no list yet. malformed: no list where
/// it should be. denied, interrupted: as the memory says.
Result<LinkMaps> read_link_maps(const ProcessSource& process,
                                std::span<const Mapping> mappings,
                                const proc::Auxv& auxv,
                                int tries = 12);

/// The dynamic section of each entry, from memory; nullopt: unreadable, or it has none.
std::vector<std::optional<DynamicSection>> read_dynamic_sections(const ProcessSource& process,
                                                                 const LinkMaps& maps);

/// Which entry satisfies one needed name.
struct NeededMatch {
  /// By what it was recognised: a name it was requested by, its SONAME, the path it was opened
  /// under.
  enum class Reason : std::uint8_t { none, name, soname, path };
  std::size_t requester = 0;          ///< index of LinkMaps::entries
  std::size_t needed = 0;             ///< index of DynamicSection::needed
  std::optional<std::size_t> target;  ///< nullopt: no entry has that name
  Reason reason = Reason::none;
  bool operator==(const NeededMatch&) const = default;
};

/// Every needed name of every entry, in order: the first entry of the same namespace that answers
/// to it, as ld.so looks (ld.so's own entry is shared by all). `sections` stand beside the entries.
/// `program` is the path of the program's file, for $ORIGIN; may be empty.
std::vector<NeededMatch> match_needed(const LinkMaps& maps,
                                      std::span<const std::optional<DynamicSection>> sections,
                                      std::string_view program);

}  // namespace tracso::loader
