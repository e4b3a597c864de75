#pragma once
// The ABI tag of a file, a note that says for which system and from which kernel on it is meant.
// Loaders of glibc up to 2.35 pass over a file whose tag they do not like (elf/dl-load.c,
// open_verify); later ones do not look at it.

#include "tracso/target.hpp"

#include "loader/loader_traits.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tracso::loader {

/// Why such a loader passes over the file, in our words, for it has none; empty: it takes it.
/// `start` are the first bytes of the file, at least its header. `kernel` as CpuFacts has it.
std::string abi_note_refusal(const File& file,
                             std::span<const std::byte> start,
                             const ProgramKind& kind,
                             std::uint32_t kernel);

}  // namespace tracso::loader
