#pragma once
// Who has called dlopen, read from the stack of a thread that stands inside of it.
//
// glibc's _dl_open keeps a struct dl_open_args in its frame (elf/dl-open.c), which begins
//   const char* file; int mode; const void* caller_dlopen; struct link_map* map; Lmid_t nsid;
// in every version since 2.26; before, one more address stood in front of map. caller_dlopen is the
// return address of the dlopen call, or of what libc does for itself (NSS, iconv); in 2.43 the link
// map of that code stands in its place. dlopen sets a bit in mode that nothing else has there, and
// the map is one that has just come: so five words in a row are recognised without knowing the
// frames in between. Such words may also be left over from an earlier call, so whoever asks has to
// say which fit.

#include "tracso/target.hpp"

#include "loader/link_map_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tracso::launch {

struct DlopenCall {
  std::uint64_t name = 0;    ///< address of the text that was asked for
  std::uint64_t caller = 0;  ///< an address in the code that asked, or the link map of its object
  std::uint64_t record = 0;  ///< link map of what was opened; 0: not yet, or in vain
  std::size_t word = 0;      ///< where among the words it begins
};

/// Where `count` words of 4 or 8 bytes lie from the address on, a range for each page: of a stack
/// the last pages may be missing.
std::vector<loader::Range> stack_ranges(std::uint64_t address, std::size_t count, std::size_t word);

/// The words in the bytes of those ranges, up to the first that is empty.
std::vector<std::uint64_t> words_in(std::span<const std::string> pieces, std::size_t word);

/// As many of `count` words of 4 or 8 bytes as there are from the address on.
std::vector<std::uint64_t> stack_words(const ProcessSource& process,
                                       std::uint64_t address,
                                       std::size_t count,
                                       std::size_t word);

/// The innermost one that fits among the words of a stack, lowest address first.
std::optional<DlopenCall> find_dlopen_call(std::span<const std::uint64_t> stack,
                                           const std::function<bool(const DlopenCall&)>& fits);

}  // namespace tracso::launch
