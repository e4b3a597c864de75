#pragma once
// Which object a piece of code belongs to.

#include "tracso/target.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tracso::launch {

/// Asks the memory map once for each object that is asked about, and remembers the answer.
class CodeOwners {
 public:
  /// l_ld of the object whose file is mapped around the address; 0: none of `dynamics` (the l_ld of
  /// all that are loaded) lies there.
  std::uint64_t owner_of(const ProcessSource& process,
                         std::uint64_t address,
                         std::span<const std::uint64_t> dynamics);

  /// Objects have gone: their addresses may become those of others.
  void forget() { known_.clear(); }

 private:
  struct Piece {
    std::uint64_t start = 0, end = 0, dynamic = 0;
  };

  std::vector<Piece> known_;
};

}  // namespace tracso::launch
