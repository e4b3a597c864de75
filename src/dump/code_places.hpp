#pragma once
// Addresses of code -> library and function.

#include "tracso/mapping.hpp"
#include "tracso/target.hpp"

#include "elf/function_table.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tracso::dump {

struct CodePlace {
  std::string library;       ///< base name; empty: not mapped from a file
  std::uint64_t offset = 0;  ///< address in that file (as its symbols have it)
  std::string symbol;        ///< function around the address; empty: none known
  std::uint64_t into = 0;    ///< bytes from its start
};

/// The mapping that contains the address; null: none. `mappings` are sorted.
const Mapping* mapping_at(const std::vector<Mapping>& mappings, std::uint64_t address);

class CodePlaces {
 public:
  explicit CodePlaces(const Target& target) : target_(target) {}

  /// Answers are kept: threads of a pool all wait at one place.
  const CodePlace& at(std::uint64_t address, const std::vector<Mapping>& mappings);

 private:
  /// A file, its functions and which of its bytes lie at which address.
  struct Code {
    struct Segment {
      std::uint64_t offset = 0, bytes = 0, address = 0;
    };

    std::vector<Segment> segments;
    std::optional<elf::FunctionTable> functions;
  };

  const Code& code_of(const Mapping& mapping);
  Code read(const Mapping& mapping) const;

  Target target_;
  std::map<std::pair<std::uint64_t, std::string>, CodePlace> known_;  // address and file
  std::map<std::pair<std::uint64_t, std::uint64_t>, Code> files_;     // device and inode
};

}  // namespace tracso::dump
