#include "calls/capture_rules.hpp"

#include "calls/argument_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tracso::calls {
namespace {

std::uint8_t capture_of(const Type& type) {
  int kind = tracso_capture_nothing;
  switch (type.role) {
    case Role::text:
      kind = tracso_capture_text;
      break;
    case Role::bytes:
      kind = tracso_capture_bytes;
      break;
    case Role::format:
      kind = tracso_capture_format;
      break;
    default:
      return 0;
  }
  return static_cast<std::uint8_t>(kind | (type.after ? tracso_capture_after : 0) |
                                   type.length << tracso_capture_length);
}

// Whether the number that tells the length is an int.
bool has_narrow_length(const Type& type, const Prototype& prototype) {
  constexpr std::uint8_t whole = 8;
  if (type.length == tracso_length_is_result) {
    return prototype.result.size < whole;
  }
  std::size_t integers = 0;
  for (const Type& other : prototype.arguments) {
    integers += is_floating(other) ? 0 : 1;
    if (type.length != 0 && integers == type.length && !is_floating(other)) {
      return other.size < whole;
    }
  }
  return false;
}

// Follows pointers from what has been copied to what they lead to.
class Planner {
 public:
  Planner(Prototype& prototype, std::size_t most) : nodes_(prototype.nodes), most_(most) {}

  // A pointer in a register, or at that offset of another node's bytes.
  void pointer(const Type& type, std::uint8_t from, std::uint32_t offset, bool after) {
    const bool is_text = type.role == Role::text;
    const bool follows = is_text || type.role == Role::reference || type.role == Role::text_object;
    if (!follows || nodes_.size() == tracso_most_capture_nodes || offset > most_offset) {
      return;
    }
    if (is_text) {
      add(from, offset, tracso_capture_text, 0, after);
      return;
    }
    if (type.role == Role::text_object) {
      constexpr std::uint32_t pointer_and_length = 16;
      const auto object = add(from, offset, tracso_capture_bytes, pointer_and_length, after);
      if (nodes_.size() < tracso_most_capture_nodes) {
        add(object, 0, tracso_capture_bytes, 0, after);
      }
      return;
    }
    const Type& target = type.inside->fields.front();
    const auto bytes = wanted(target);
    if (bytes == 0 && !is_shown_as_text(target)) {
      return;
    }
    const auto node = add(from, offset, tracso_capture_bytes, bytes, after);
    behind_.push_back({&target, node, depth_ + (target.role == Role::structure ? 1U : 0U), after});
  }

  // What is behind those, the nearest first.
  void follow() {
    for (std::size_t i = 0; i < behind_.size(); ++i) {
      const Behind next = behind_[i];
      depth_ = next.depth;
      inside(*next.type, next.node, 0, next.after);
    }
    depth_ = 0;
    behind_.clear();
  }

 private:
  static constexpr std::uint32_t most_offset = 4096;
  static constexpr std::uint32_t most_bytes = 4096;  // of what one pointer leads to

  static bool is_shown_as_text(const Type& type) {
    return type.role == Role::array && type.inside->is_text;
  }

  // Bytes that are looked at; 0: as many as of a text.
  std::uint32_t wanted(const Type& target) const {
    if (is_shown_as_text(target)) {
      return 0;
    }
    const auto more = static_cast<std::uint32_t>(std::min<std::size_t>(most_ + 1, most_bytes));
    std::uint32_t bytes = bytes_of(target);
    if (target.role == Role::array) {
      bytes = std::min(more, most_bytes / std::max(1U, bytes_of(target.inside->fields.front()))) *
              bytes_of(target.inside->fields.front());
    } else if (target.role == Role::structure && !target.inside->fields.empty()) {
      // Behind the last field perhaps the elements that another one counts.
      const Type& last = target.inside->fields.back();
      bytes += last.role == Role::array && last.inside->bytes == 0
                   ? more * bytes_of(last.inside->fields.front())
                   : 0;
    }
    return std::min(bytes, most_bytes);
  }

  std::uint8_t add(
      std::uint8_t from, std::uint32_t offset, int kind, std::uint32_t bytes, bool after) {
    nodes_.push_back({from,
                      static_cast<std::uint8_t>(kind | (after ? tracso_capture_after : 0)),
                      static_cast<std::uint16_t>(offset),
                      static_cast<std::uint16_t>(bytes)});
    return static_cast<std::uint8_t>(tracso_node_first + nodes_.size() - 1);
  }

  // The pointers in a value at that offset of a node's bytes.
  void inside(const Type& type, std::uint8_t node, std::uint32_t offset, bool after) {
    if (type.role == Role::structure) {
      for (std::size_t i = 0; i < type.inside->fields.size(); ++i) {
        inside(type.inside->fields[i], node, offset + type.inside->offsets[i], after);
      }
    } else if (type.role == Role::array && !type.inside->is_text) {
      const Type& element = type.inside->fields.front();
      const auto count = type.inside->length.of == Length::Of::number
                             ? std::min<std::uint64_t>(type.inside->length.number, most_)
                             : most_;
      for (std::uint64_t i = 0; i < count && nodes_.size() < tracso_most_capture_nodes &&
                                offset + i * bytes_of(element) < most_offset;
           ++i) {
        inside(element, node, offset + static_cast<std::uint32_t>(i) * bytes_of(element), after);
      }
    } else if (depth_ < most_) {
      pointer(type, node, offset, after);
    }
  }

  struct Behind {
    const Type* type;
    std::uint8_t node;
    std::size_t depth;
    bool after;
  };

  std::vector<tracso_capture_node>& nodes_;
  std::vector<Behind> behind_;
  std::size_t most_;
  std::size_t depth_ = 0;  // structures around
};

}  // namespace

void plan_nodes(Prototype& prototype, std::size_t most) {
  prototype.nodes.clear();
  Planner planner(prototype, most);
  ArgumentPlaces places = places_of(prototype);
  for (const Type& type : prototype.arguments) {
    const auto words = places.next(type);
    if (words.empty() || words.back().in != ArgumentWord::In::integer) {
      continue;
    }
    const auto number = static_cast<std::uint8_t>(words.back().number);
    if (type.role == Role::text_view) {
      prototype.nodes.push_back({number, tracso_capture_bytes, 0, 0});
    } else if (type.role == Role::reference || type.role == Role::text_object) {
      planner.pointer(type, number, 0, type.after);
    }
  }
  if (prototype.result.role == Role::reference) {
    planner.pointer(prototype.result, tracso_node_result, 0, /*after=*/true);
  }
  planner.follow();
}

// As key_of() of agent/filter.c: the hash is FNV-1a of 64 bits.
std::string capture_key(std::string_view name) {
  if (name.size() < tracso_capture_name_bytes) {
    return std::string(name);
  }
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char character : name) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3;
  }
  constexpr std::size_t digits = 16;
  return fmt::format("{}{:016x}", name.substr(0, tracso_capture_name_bytes - 1 - digits), hash);
}

tracso_capture_rule capture_rule(std::string_view name, const Prototype& prototype) {
  tracso_capture_rule rule{};
  const auto key = capture_key(name);
  std::memcpy(static_cast<char*>(rule.name), key.data(), key.size());
  ArgumentPlaces places = places_of(prototype);
  for (const Type& type : prototype.arguments) {
    const auto words = places.next(type);
    if (words.size() == 1 && words.front().in == ArgumentWord::In::integer) {
      rule.argument[words.front().number] = static_cast<std::uint8_t>(
          capture_of(type) | (has_narrow_length(type, prototype) ? tracso_capture_narrow : 0));
    }
    rule.stack = rule.stack != 0 || type.role == Role::format || places.uses_stack() ? 1 : 0;
  }
  rule.result = prototype.result.role == Role::text ? tracso_capture_text : tracso_capture_nothing;
  const auto nodes = std::min<std::size_t>(prototype.nodes.size(), tracso_most_capture_nodes);
  rule.nodes = static_cast<std::uint8_t>(nodes);
  std::copy_n(prototype.nodes.begin(), nodes, std::begin(rule.node));
  return rule;
}

bool is_empty(const tracso_capture_rule& rule) {
  return rule.stack == 0 && rule.result == 0 && rule.nodes == 0 &&
         std::all_of(std::begin(rule.argument), std::end(rule.argument), [](std::uint8_t one) {
           return one == 0;
         });
}

}  // namespace tracso::calls
