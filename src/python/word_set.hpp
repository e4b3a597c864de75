#pragma once
// A set of strings that a piece of a text can be looked up in without a copy.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace tracso::python {

struct WordHash {
  using is_transparent = void;

  std::size_t operator()(std::string_view word) const {
    return std::hash<std::string_view>()(word);
  }
};

using WordSet = std::unordered_set<std::string, WordHash, std::equal_to<>>;

}  // namespace tracso::python
