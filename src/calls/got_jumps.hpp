#pragma once
// Jumps and calls that lead through a word of the GOT: the PLT's, and those of -fno-plt. x86-64.

#include "tracso/target.hpp"

#include "elf/function_symbols.hpp"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace tracso::calls {

/// The executable segments of a file, of 512 MB each at most; `name` is for messages. Empty: not
/// ELF.
std::vector<elf::CodePiece> code_segments(const File& file, std::string_view name);

/// Calls `found` with the address of each such instruction and that of the word. `kind`: the byte
/// behind 0xff, 0x25 of a jump, 0x15 of a call.
void find_jumps(const elf::CodePiece& piece,
                std::uint8_t kind,
                const std::function<void(std::uint64_t, std::uint64_t)>& found);

}  // namespace tracso::calls
