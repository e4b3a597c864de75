#pragma once
// The words that a document uses for enumerators (docs/json.md), in both directions: who writes and
// who reads use one table.

#include "tracso/trace.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace tracso {

template <class E>
struct Word {
  E value;
  std::string_view text;
};

/// Every enumerator that has a word; the argument only picks the table.
std::span<const Word<EdgeKind>> words(EdgeKind type);
std::span<const Word<Witness>> words(Witness type);
std::span<const Word<Rule>> words(Rule type);
std::span<const Word<SearchStep::Outcome>> words(SearchStep::Outcome type);
std::span<const Word<ObjectFile::State>> words(ObjectFile::State type);
std::span<const Word<ObjectFile::Role>> words(ObjectFile::Role type);
std::span<const Word<Finding::Severity>> words(Finding::Severity type);
std::span<const Word<ElfClass>> words(ElfClass type);
std::span<const Word<ByteOrder>> words(ByteOrder type);
std::span<const Word<NeededEntry::Kind>> words(NeededEntry::Kind type);

/// "already-loaded"; empty where the document says null (Rule::none, ElfClass::none).
template <class E>
std::string_view word(E value) {
  for (const Word<E>& entry : words(value)) {
    if (entry.value == value) {
      return entry.text;
    }
  }
  return {};
}

/// nullopt: no such word.
template <class E>
std::optional<E> from_word(std::string_view text) {
  for (const Word<E>& entry : words(E{})) {
    if (entry.text == text) {
      return entry.value;
    }
  }
  return std::nullopt;
}

}  // namespace tracso
