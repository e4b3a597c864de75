// Namespaces of a glibc before 2.35, which keeps an r_debug for each but chains none to the first.
// They lie in ld.so's own variable _rtld_global, in an array whose element size differs from
// version to version; but each of them has the breakpoint address and the base of the first one.

#include "elf/memory_image.hpp"
#include "loader/link_map_walk.hpp"

#include <link.h>

#include <algorithm>

namespace tracso::loader {
namespace {

constexpr std::uint64_t most_bytes = 65536;  // it has 4 KiB in 2.31

bool chains_none(std::span<const std::uint64_t> base) {
  return base.size() >= debug_words && (base[0] & int_part) == 1 && base[2] != 0 && base[4] != 0;
}

}  // namespace

std::optional<Range> spaces_variable(const ProcessSource& process,
                                     ElfClass elf_class,
                                     std::uint64_t r_debug) {
  const auto base = SteadyMemory(process, elf_class).peek(r_debug, debug_words);
  if (!chains_none(base)) {
    return std::nullopt;
  }
  const auto loader = elf::MemoryImage::at_header(process, base[4]);
  const auto global = loader ? loader->symbol(process, "_rtld_global") : std::nullopt;
  if (!global) {
    return std::nullopt;
  }
  return Range{global->address, static_cast<std::size_t>(std::min(global->size, most_bytes))};
}

std::vector<std::uint64_t> spaces_in(std::span<const std::uint64_t> variable,
                                     std::uint64_t address,
                                     std::span<const std::uint64_t> base,
                                     std::size_t word) {
  if (!chains_none(base)) {
    return {};
  }
  std::vector<std::uint64_t> spaces;
  for (std::size_t i = 0; i + debug_words <= variable.size(); ++i) {
    const bool is_debug =
        (variable[i] & int_part) == 1 && variable[i + 2] == base[2] && variable[i + 4] == base[4];
    // One whose first object is about to come has no list yet, but the loader is at work on it.
    const bool is_used = variable[i + 1] != 0 || (variable[i + 3] & int_part) == r_debug::RT_ADD;
    if (is_debug && is_used && variable[i + 1] != base[1]) {
      spaces.push_back(address + i * word);
    }
  }
  return spaces;
}

std::vector<std::uint64_t> unchained_spaces(const ProcessSource& process,
                                            ElfClass elf_class,
                                            std::uint64_t r_debug) {
  const SteadyMemory memory(process, elf_class);
  const auto place = spaces_variable(process, elf_class, r_debug);
  return place ? spaces_in(memory.peek(place->address, place->bytes / memory.word()),
                           place->address,
                           memory.peek(r_debug, debug_words),
                           memory.word())
               : std::vector<std::uint64_t>();
}

}  // namespace tracso::loader
