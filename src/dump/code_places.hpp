#pragma once
// Addresses of code -> library and exported function.

#include "tracso/mapping.hpp"
#include "tracso/target.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tracso::dump {

struct CodePlace {
  std::string library;  ///< base name; empty: not mapped from a file
  std::string symbol;   ///< exported function around the address; empty: none
};

class CodePlaces {
 public:
  explicit CodePlaces(const Target& target) : target_(target) {}

  /// Answers are kept: threads of a pool all wait at one place.
  const CodePlace& at(std::uint64_t address, const std::vector<Mapping>& mappings);

 private:
  std::string symbol_in(const Mapping& mapping, std::uint64_t file_offset) const;

  Target target_;
  std::map<std::pair<std::uint64_t, std::string>, CodePlace> known_;  // address and file
};

}  // namespace tracso::dump
