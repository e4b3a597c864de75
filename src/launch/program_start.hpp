#pragma once
// Where a program that has just been exec'ed can be stopped again once the loader is done.

#include "tracso/dynamic_section.hpp"
#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include "elf/memory_image.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tracso::launch {

/// What the kernel has told the program (getauxval(3)).
struct StartFacts {
  std::uint64_t entry = 0;                      ///< the program's first instruction
  std::uint64_t loader = 0;                     ///< where its loader is mapped; 0: it has none
  std::uint64_t headers = 0, header_count = 0;  ///< its program headers
};

/// auxv as bytes; `word` is 4 or 8. What is missing is 0.
StartFacts parse_auxv(std::string_view bytes, std::size_t word);

/// The loader's own hook for debuggers: it calls `function` before and after it changes its list.
struct LoaderHook {
  std::uint64_t function = 0;
  std::uint64_t record = 0;          ///< address of struct r_debug (link.h)
  std::uint64_t record_pointer = 0;  ///< or of a pointer to it, which is not valid at exec yet
  std::size_t word = 8;              ///< bytes of an address: 4 or 8
  std::uint64_t stop = 0;            ///< where threads are stopped: `function`, or in its gate
  bool gated = false;  ///< they do not stop where something is about to be added (loader_gate.hpp)
};

/// The hook of the loader that is mapped at facts.loader, or of the program itself where it is a
/// loader that was run as one. nullopt: none (a static program).
std::optional<LoaderHook> find_loader_hook(const ProcessSource& process,
                                           const StartFacts& facts,
                                           ElfClass elf_class);

/// The loader itself: what is mapped at facts.loader, or the program where it is a loader that was
/// run as one.
Result<elf::MemoryImage> loader_image(const ProcessSource& process,
                                      const StartFacts& facts,
                                      ElfClass elf_class);

/// Where struct r_debug is; 0: not there yet.
std::uint64_t loader_record(const ProcessSource& process, const LoaderHook& hook);

/// RT_CONSISTENT, RT_ADD, RT_DELETE of link.h.
enum class LoaderState : std::uint8_t { consistent, adding, removing, unknown };

/// What the loader is doing to its list; unknown: unreadable, or a number that has no meaning.
LoaderState loader_state(const ProcessSource& process, const LoaderHook& hook);

}  // namespace tracso::launch
