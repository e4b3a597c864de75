#include "calls/inner_text.hpp"

#include <algorithm>
#include <cstring>

namespace tracso::calls {
namespace {

constexpr std::uint8_t nowhere = 0xff;

std::optional<std::uint64_t> number_in(std::string_view bytes,
                                       std::uint64_t offset,
                                       std::size_t size) {
  std::uint64_t word = 0;
  if (size > sizeof word || offset > bytes.size() || bytes.size() - offset < size) {
    return std::nullopt;
  }
  std::memcpy(&word, bytes.data() + offset, size);
  return word;
}

std::string_view part(std::string_view bytes, std::uint64_t offset, std::uint64_t count) {
  return offset > bytes.size() ? std::string_view() : bytes.substr(offset, count);
}

bool is_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

// A number of elements by the word that tells it; below zero it is a failure: none.
std::uint64_t as_count(std::uint64_t word, const Type& type) {
  const bool has_sign = type.role == Role::signed_number || type.role == Role::enumeration;
  const auto value = has_sign ? signed_value(word, type.size)
                              : static_cast<std::int64_t>(unsigned_value(word, type.size));
  return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

}  // namespace

InnerText::InnerText(const ShownCall& call, bool after)
    : call_(call),
      after_(after),
      event_(after && call.result != nullptr ? *call.result : call.call) {}

// What was copied for the pointer there; nullptr: nothing.
const Piece* InnerText::followed(std::uint8_t from,
                                 std::uint64_t offset,
                                 std::uint8_t& node) const {
  const auto& nodes = call_.prototype.nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool is_after = (nodes[i].kind & tracso_capture_after) != 0;
    if (nodes[i].from == from && nodes[i].offset == offset && is_after == after_) {
      node = static_cast<std::uint8_t>(tracso_node_first + i);
      return event_.piece(static_cast<std::uint8_t>(tracso_piece_node + i));
    }
  }
  node = nowhere;
  return nullptr;
}

std::optional<std::uint64_t> InnerText::count(const Length& length, const Where& where) const {
  switch (length.of) {
    case Length::Of::number:
      return length.number;
    case Length::Of::result:
      if (call_.result == nullptr) {
        return std::nullopt;
      }
      return as_count(call_.result->result.integer, call_.prototype.result);
    case Length::Of::argument: {
      ArgumentPlaces places = places_of(call_.prototype);
      for (std::uint64_t i = 0; i < call_.prototype.arguments.size(); ++i) {
        const auto words = places.next(call_.prototype.arguments[i]);
        if (i + 1 == length.number && words.size() == 1) {
          const auto value = word_at(call_.call, words.front());
          return value.known ? std::optional(as_count(value.word, call_.prototype.arguments[i]))
                             : std::nullopt;
        }
      }
      return std::nullopt;
    }
    case Length::Of::field: {
      if (where.around == nullptr || length.number > where.around->inside->fields.size()) {
        return std::nullopt;
      }
      const Type& field = where.around->inside->fields[length.number - 1];
      const auto word =
          number_in(where.bytes,
                    where.around_offset + where.around->inside->offsets[length.number - 1],
                    field.size);
      return word && field.inside == nullptr ? std::optional(as_count(*word, field)) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::string InnerText::pointer(const Type& type, std::uint64_t word, std::uint8_t from) {
  return pointer_at(type, word, from, 0);
}

std::string InnerText::value(const Type& type, std::string_view bytes) {
  return inner(type, {bytes, 0, nowhere});
}

std::string InnerText::view(std::uint64_t length, std::uint64_t word, std::uint8_t from) {
  std::uint8_t node = 0;
  const Piece* piece = followed(from, 0, node);
  if (piece == nullptr || (piece->state == tracso_piece_fault && length != 0)) {
    return pointer_text(word);
  }
  const auto shown = std::min<std::uint64_t>(
      {length, piece->bytes.size(), std::uint64_t{call_.limits.text_bytes}});
  return quoted(std::string_view(piece->bytes).substr(0, shown), shown < length);
}

// A std::string of libstdc++: a pointer, then a length. Where they cannot be one, only its address.
std::string InnerText::text_object(std::uint64_t word, std::uint8_t from, std::uint64_t offset) {
  std::uint8_t node = 0;
  const Piece* object = followed(from, offset, node);
  const auto start = object == nullptr ? std::nullopt : number_in(object->bytes, 0, sizeof word);
  const auto length =
      object == nullptr ? std::nullopt : number_in(object->bytes, sizeof word, sizeof word);
  constexpr std::uint64_t most = std::uint64_t{1} << 47U;
  if (!start || !length || *start == 0 || *length > most) {
    return pointer_text(word);
  }
  std::uint8_t inner_node = 0;
  const Piece* piece = followed(node, 0, inner_node);
  if (piece == nullptr || (piece->state == tracso_piece_fault && *length != 0)) {
    return pointer_text(word);
  }
  const auto shown = std::min<std::uint64_t>(
      {*length, piece->bytes.size(), std::uint64_t{call_.limits.text_bytes}});
  return quoted(std::string_view(piece->bytes).substr(0, shown), shown < *length);
}

std::string InnerText::pointer_at(const Type& type,
                                  std::uint64_t word,
                                  std::uint8_t from,
                                  std::uint64_t offset) {
  if (word == 0) {
    return "nil";
  }
  if (type.role == Role::text_object) {
    return text_object(word, from, offset);
  }
  if (type.role != Role::text && type.role != Role::reference) {
    return pointer_text(word);
  }
  const bool to_structure =
      type.role == Role::reference && type.inside->fields.front().role == Role::structure;
  if (to_structure && !open_.empty() && open_.size() >= call_.limits.elements) {
    return "...";
  }
  const auto known = std::find(open_.rbegin(), open_.rend(), word);
  if (to_structure && known != open_.rend()) {
    return "recurse" + std::string(static_cast<std::size_t>(known - open_.rbegin()), '^');
  }
  std::uint8_t node = 0;
  const Piece* piece = followed(from, offset, node);
  if (node == nowhere) {
    return open_.empty() || from == nowhere ? pointer_text(word) : "...";
  }
  if (piece == nullptr || piece->state == tracso_piece_fault) {
    return pointer_text(word);
  }
  if (type.role == Role::text) {
    return quoted(piece->bytes, piece->state == tracso_piece_cut);
  }
  return target(type.inside->fields.front(), *piece, node, word);
}

std::string InnerText::target(const Type& type,
                              const Piece& piece,
                              std::uint8_t node,
                              std::uint64_t word) {
  if (type.role == Role::structure) {
    open_.push_back(word);
  }
  auto text = inner(type, {piece.bytes, 0, node});
  if (type.role == Role::structure) {
    open_.pop_back();
  }
  return text;
}

std::string InnerText::inner(const Type& type, const Where& where) {
  if (type.role == Role::structure) {
    return structure(type, where);
  }
  if (type.role == Role::array) {
    return type.inside->is_text ? characters(type, where) : array(type, where);
  }
  if (type.role == Role::bits && type.inside != nullptr) {
    return bits_text(part(where.bytes, where.offset, bytes_of(type)));
  }
  const auto word = number_in(where.bytes, where.offset, type.size);
  if (!word) {
    return "?";
  }
  const Type* target = type.role == Role::reference ? &type.inside->fields.front() : nullptr;
  if (target != nullptr && target->role == Role::array &&
      target->inside->length.of == Length::Of::field) {
    // Its length stands here, beside the pointer, and not where that leads.
    Inside array = *target->inside;
    if (const auto told = count(array.length, where)) {
      array.length.of = Length::Of::number;
      array.length.number = *told;
    }
    Inside reference = *type.inside;
    reference.fields.front().inside = &array;
    Type here = type;
    here.inside = &reference;
    return pointer_at(here, *word, where.from, where.offset);
  }
  if (type.role == Role::text || type.role == Role::reference || type.role == Role::text_object) {
    return pointer_at(type, *word, where.from, where.offset);
  }
  return value_text({*word, tracso_piece_result, true}, type, event_);
}

std::string InnerText::structure(const Type& type, const Where& where) {
  std::string text = "{";
  for (std::size_t i = 0; i < type.inside->fields.size(); ++i) {
    if (type.inside->fields[i].hidden) {
      continue;
    }
    text += text.size() == 1 ? " " : ", ";
    text += inner(
        type.inside->fields[i],
        {where.bytes, where.offset + type.inside->offsets[i], where.from, &type, where.offset});
  }
  return text + (text.size() == 1 ? "}" : " }");
}

std::string InnerText::array(const Type& type, const Where& where) {
  const Type& element = type.inside->fields.front();
  const auto bytes = std::max<std::uint64_t>(bytes_of(element), 1);
  const auto told = count(type.inside->length, where);
  const auto there = part(where.bytes, where.offset, std::string_view::npos).size() / bytes;
  std::string text = "[";
  std::uint64_t i = 0;
  for (; i < there && (!told || i < *told); ++i) {
    const auto offset = where.offset + i * bytes;
    if (type.inside->length.until_zero && is_zero(part(where.bytes, offset, bytes))) {
      return text + (i == 0 ? "]" : " ]");
    }
    if (i == call_.limits.elements) {
      break;
    }
    text += i == 0 ? " " : ", ";
    text += inner(element, {where.bytes, offset, where.from, where.around, where.around_offset});
  }
  const bool is_whole = told && i == *told;
  return text + (is_whole ? "" : "...") + (text.size() == 1 && is_whole ? "]" : " ]");
}

std::string InnerText::characters(const Type& type, const Where& where) {
  const auto told = count(type.inside->length, where);
  const auto all = part(where.bytes, where.offset, told.value_or(std::string_view::npos));
  auto shown = all.substr(0, call_.limits.text_bytes);
  bool cut = shown.size() < told.value_or(std::string_view::npos);
  const auto end = type.inside->length.until_zero ? shown.find('\0') : std::string_view::npos;
  if (end != std::string_view::npos) {
    shown = shown.substr(0, end);
    cut = false;
  }
  return quoted(shown, cut);
}

}  // namespace tracso::calls
