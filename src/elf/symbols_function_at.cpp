// An address back to a name: the one question for which the whole symbol table is read, for hash
// tables lead only from names to addresses.

#include "elf/symbols.hpp"

#include <elf.h>

#include <algorithm>

namespace tracso::elf {
namespace {

constexpr std::uint64_t most_symbols = 1'000'000;  // as in symbols.cpp
constexpr unsigned char type_ifunc = 10;           // STT_GNU_IFUNC
// Code without a size (assembly) reaches to the next symbol at most, and never this far.
constexpr std::uint64_t longest_unsized = 4096;

struct Candidate {
  std::uint64_t address = 0, size = 0;
  std::uint32_t name = 0;
  bool weak = false;
};

// The innermost function; of its names the weak one, for that is the public one in a C library
// ("select" beside "__select").
bool is_better(const Candidate& one, const std::optional<Candidate>& best) {
  return !best || one.address > best->address ||
         (one.address == best->address && one.weak && !best->weak);
}

bool contains(const Candidate& function, std::uint64_t address) {
  const auto length = function.size == 0 ? longest_unsized : function.size;
  return function.address <= address && address - function.address < length;
}

}  // namespace

Result<std::optional<DefinedFunction>> SymbolTable::function_at(std::uint64_t address) {
  const auto place = image_.locate(symbols_);
  const auto counted = place ? count_symbols() : Result<std::uint64_t>(std::uint64_t{0});
  if (!counted) {
    return counted.error();
  }
  const bool wide = image_.encoding().wide;
  const auto count =
      place ? std::min({*counted, place->room / symbol_bytes(), most_symbols}) : std::uint64_t{0};
  std::optional<Candidate> best;
  for (std::uint64_t i = 1; i < count; ++i) {
    const auto bytes =
        image_.at_address(symbols_ + i * symbol_bytes(), static_cast<std::size_t>(symbol_bytes()));
    if (!bytes) {
      return bytes.error();
    }
    const ByteView view = image_.encoding().view(*bytes);
    const auto info = view.get<std::uint8_t>(wide ? 4 : 12).value_or(0);
    const auto section = view.get<std::uint16_t>(wide ? 6 : 14).value_or(0);
    const auto type = ELF64_ST_TYPE(info);  // the same in both classes
    if (section == SHN_UNDEF || (type != STT_FUNC && type != type_ifunc)) {
      continue;
    }
    const Candidate one{image_.encoding().address(view, wide ? 8 : 4),
                        image_.encoding().address(view, wide ? 16 : 8),
                        view.get<std::uint32_t>(0).value_or(0),
                        ELF64_ST_BIND(info) == STB_WEAK};
    if (contains(one, address) && is_better(one, best)) {
      best = one;
    }
  }
  if (!best) {
    return std::optional<DefinedFunction>();
  }
  auto name = image_.text_at(strings_ + best->name);
  if (!name) {
    return name.error();
  }
  return std::optional(DefinedFunction{best->address, best->size, std::move(*name)});
}

}  // namespace tracso::elf
