#pragma once
// Structures, arrays and what pointers in them lead to, as ltrace writes them:
// { 9, { 8, recurse^ }, [ 1, 2, 3... ] }.

#include "calls/events.hpp"
#include "calls/prototypes.hpp"
#include "calls/value_text.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::calls {

/// How much is shown.
struct ShownLimits {
  std::size_t text_bytes = 32;
  std::size_t elements = 4;  ///< of an array
};

/// A call and, once it has returned, its result.
struct ShownCall {
  const CallEvent& call;
  const CallEvent* result;
  const Prototype& prototype;
  ShownLimits limits;
};

class InnerText {
 public:
  /// `after`: what was copied when the function had returned. `call` must outlive it.
  InnerText(const ShownCall& call, bool after);

  /// A pointer in a register of the call (0 to 5, tracso_node_result, or any other number: what it
  /// leads to was not copied).
  std::string pointer(const Type& type, std::uint64_t word, std::uint8_t from);
  /// A value whose bytes are there: a structure that is passed by value.
  std::string value(const Type& type, std::string_view bytes);
  /// What a std::string_view shows; its length and its pointer.
  std::string view(std::uint64_t length, std::uint64_t word, std::uint8_t from);

 private:
  struct Where {
    std::string_view bytes;        // of the whole piece
    std::uint64_t offset;          // in it
    std::uint8_t from;             // the node that the piece is of; 0xff: none
    const Type* around = nullptr;  // the structure around it, and where that begins
    std::uint64_t around_offset = 0;
  };

  const Piece* followed(std::uint8_t from, std::uint64_t offset, std::uint8_t& node) const;
  std::string pointer_at(const Type& type,
                         std::uint64_t word,
                         std::uint8_t from,
                         std::uint64_t offset);
  std::string target(const Type& type, const Piece& piece, std::uint8_t node, std::uint64_t word);
  std::string text_object(std::uint64_t word, std::uint8_t from, std::uint64_t offset);
  std::string inner(const Type& type, const Where& where);
  std::string structure(const Type& type, const Where& where);
  std::string array(const Type& type, const Where& where);
  std::string characters(const Type& type, const Where& where);
  std::optional<std::uint64_t> count(const Length& length, const Where& where) const;

  const ShownCall& call_;
  bool after_;
  const CallEvent& event_;           // that has the pieces
  std::vector<std::uint64_t> open_;  // addresses of the structures around
};

}  // namespace tracso::calls
