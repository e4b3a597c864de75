#pragma once
// Reading the data of a process that goes on running: everything read is remembered, and at the end
// one quick second look tells whether all of it still stands there.

#include "tracso/dynamic_section.hpp"
#include "tracso/target.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::loader {

/// A piece of memory.
struct Range {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};

/// A text to read. Its end is not known, so it is read in small steps: what malloc keeps behind it
/// is none of our business. A good guess spares most steps.
struct TextWish {
  std::uint64_t address = 0;
  std::string start;       ///< what of it is known already; may go on behind its NUL
  std::string_view guess;  ///< what it probably is; empty: no idea
};

/// Single pieces cost half a microsecond each, so as few as possible are asked for, and many at
/// once. Not usable as a cache: every read goes to the process.
class SteadyMemory {
 public:
  SteadyMemory(const ProcessSource& process, ElfClass elf_class)
      : process_(process), word_(elf_class == ElfClass::elf32 ? 4 : 8) {}

  /// Bytes of a pointer of the process.
  std::size_t word() const { return word_; }

  /// `count` pointers from `address`; empty: not all of them are there.
  std::vector<std::uint64_t> words(std::uint64_t address, std::size_t count);
  /// The same, but without remembering it: for data that may change at any time.
  std::vector<std::uint64_t> peek(std::uint64_t address, std::size_t count) const;
  /// The bytes of each range, in one go; empty: not there.
  std::vector<std::string> bytes_of(std::span<const Range> ranges);
  /// The texts, without their NUL; nullopt: unreadable, longer than 4096 bytes, or all together are
  /// more than 4 MiB.
  std::vector<std::optional<std::string>> texts_of(std::span<const TextWish> wishes);

  /// Every byte that was read still is what it was.
  bool unchanged() const;

 private:
  /// What was read, as a piece of seen_bytes_.
  struct Seen {
    Range range;
    std::size_t offset = 0;
  };

  /// Reads the ranges; each answer is a view valid until the next read, empty: not there.
  std::vector<std::string_view> read(std::span<const Range> ranges);

  const ProcessSource& process_;
  std::size_t word_;
  std::vector<Seen> seen_;
  std::string seen_bytes_;
};

/// Pointers of `word` bytes each.
std::vector<std::uint64_t> to_words(std::string_view bytes, std::size_t word);

}  // namespace tracso::loader
