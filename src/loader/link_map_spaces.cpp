// Namespaces of a glibc before 2.35, which keeps an r_debug for each but chains none to the first.
// They lie in ld.so's own variable _rtld_global, in an array whose element size differs from
// version to version; but each of them has the breakpoint address and the base of the first one.

#include "elf/memory_image.hpp"
#include "loader/link_map_walk.hpp"

#include <algorithm>

namespace tracso::loader {

std::vector<std::uint64_t> unchained_spaces(const ProcessSource& process,
                                            ElfClass elf_class,
                                            std::uint64_t r_debug) {
  constexpr std::uint64_t most_bytes = 65536;  // it has 4 KiB in 2.31
  constexpr std::uint64_t int_part = 0xffffffffU;
  const SteadyMemory memory(process, elf_class);
  const auto base = memory.peek(r_debug, 5);  // version, first, breakpoint, state, base of ld.so
  if (base.empty() || (base[0] & int_part) != 1 || base[2] == 0 || base[4] == 0) {
    return {};
  }
  const auto loader = elf::MemoryImage::at_header(process, base[4]);
  const auto global = loader ? loader->symbol(process, "_rtld_global") : std::nullopt;
  if (!global) {
    return {};
  }
  const std::size_t bytes = static_cast<std::size_t>(std::min(global->size, most_bytes));
  const auto words = memory.peek(global->address, bytes / memory.word());
  std::vector<std::uint64_t> spaces;
  for (std::size_t i = 0; i + 5 <= words.size(); ++i) {
    const bool is_debug = (words[i] & int_part) == 1 && words[i + 2] == base[2] &&
                          words[i + 4] == base[4] && words[i + 1] != 0;
    if (is_debug && words[i + 1] != base[1]) {
      spaces.push_back(global->address + i * memory.word());
    }
  }
  return spaces;
}

}  // namespace tracso::loader
