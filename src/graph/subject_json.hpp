#pragma once
// A node of a document back into what it stands for, and words back into enumerators.

#include "tracso/graph.hpp"

#include "graph/json_item.hpp"
#include "graph/trace_words.hpp"

#include <fmt/format.h>

namespace tracso {

/// The enumerator of the key's word; `otherwise` where it is null.
template <class E>
E enumerator(const JsonItem& item, const char* key, E otherwise) {
  const JsonItem text = item.at(key);
  if (text.is_null()) {
    return otherwise;
  }
  const auto value = from_word<E>(text.own_text());
  if (!value) {
    text.wrong(fmt::format("unknown word '{}'", text.own_text()));
  }
  return value.value_or(otherwise);
}

/// By its "kind"; what is wrong in it is noted in the item's problem.
Subject read_subject(const JsonItem& item);

}  // namespace tracso
