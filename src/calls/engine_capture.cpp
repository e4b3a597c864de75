#include "calls/engine_capture.hpp"

#include "calls/argument_places.hpp"
#include "calls/format_conversion.hpp"
#include "tracee/call_stop.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

namespace tracso::calls {
namespace {

std::string bytes_at(pid_t thread, std::uint64_t address, std::size_t count) {
  std::string bytes(count, '\0');
  bytes.resize(read_target(thread, address, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

void add_text(pid_t thread,
              std::uint8_t of,
              std::uint64_t from,
              std::uint64_t at_most,
              std::size_t most,
              CallEvent& event) {
  constexpr std::uint64_t unlimited = ~std::uint64_t{0};
  // Other lengths below zero are none.
  if (from == 0 || (static_cast<std::int64_t>(at_most) < 0 && at_most != unlimited) ||
      event.pieces.size() >= tracso_most_pieces) {
    return;
  }
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(at_most, most + 1));
  auto text = bytes_at(thread, from, wanted);
  if (text.empty() && wanted != 0) {
    event.pieces.push_back({of, tracso_piece_fault, ""});
    return;
  }
  const auto end = text.find('\0');
  const auto length = std::min(end, text.size());
  const bool whole = (end != std::string::npos || length == at_most) && length <= most;
  text.resize(std::min(length, most));
  event.pieces.push_back({of,
                          static_cast<std::uint8_t>(whole ? tracso_piece_whole : tracso_piece_cut),
                          std::move(text)});
}

void add_bytes(pid_t thread,
               std::uint8_t of,
               std::uint64_t from,
               std::uint64_t count,
               std::size_t most,
               CallEvent& event) {
  if (from == 0 || static_cast<std::int64_t>(count) < 0 ||
      event.pieces.size() >= tracso_most_pieces) {
    return;
  }
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count, most));
  auto bytes = bytes_at(thread, from, wanted);
  const int state = bytes.size() == count          ? tracso_piece_whole
                    : bytes.empty() && wanted != 0 ? tracso_piece_fault
                                                   : tracso_piece_cut;
  event.pieces.push_back({of, static_cast<std::uint8_t>(state), std::move(bytes)});
}

std::uint64_t widened(std::uint64_t word, std::uint8_t size) {
  return size < sizeof word
             ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(word)})
             : word;
}

// The type of the argument that comes in that integer register, counted from 1.
const Type* in_register(const Prototype& prototype, std::size_t number) {
  ArgumentPlaces places = places_of(prototype);
  for (const Type& type : prototype.arguments) {
    const auto words = places.next(type);
    if (words.size() == 1 && words.front().in == ArgumentWord::In::integer &&
        words.front().number + 1 == number) {
      return &type;
    }
  }
  return nullptr;
}

using Words = std::span<const std::uint64_t, tracso_argument_registers>;

// How long what a pointer leads to is; nullopt: the prototype does not say.
std::optional<std::uint64_t> length_of(const Type& type,
                                       const Prototype& prototype,
                                       Words words,
                                       std::uint64_t result) {
  const auto returned = widened(result, prototype.result.size);
  switch (type.length) {
    case 0:
      return std::nullopt;
    case tracso_length_is_result:
      return returned;
    case tracso_length_is_product:
      return words[1] * words[2];
    case tracso_length_is_result_product:
      return returned * words[1];
    default: {
      const Type* length = in_register(prototype, type.length);
      return widened(words[type.length - 1], length == nullptr ? 8 : length->size);
    }
  }
}

// Gives arguments in order, with where they lie.
struct Integers {
  const CallEvent& event;
  ArgumentPlaces places;

  std::optional<PlacedWord> next() {
    const auto value = word_at(event, places.integer());
    return value.known ? std::optional(value) : std::nullopt;
  }

  void skip_floating() { places.floating(); }
};

// The digits behind the dot of a conversion; nullopt: none stand there.
std::uint64_t precision_in(std::string_view conversion, std::uint64_t last_star) {
  const auto dot = conversion.find('.');
  if (dot == std::string_view::npos) {
    return ~std::uint64_t{0};
  }
  if (conversion.substr(dot + 1).starts_with('*')) {
    const auto number = static_cast<std::int32_t>(last_star);
    return number < 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(number);
  }
  std::uint64_t number = 0;
  for (auto at = dot + 1; at < conversion.size() && conversion[at] >= '0' && conversion[at] <= '9';
       ++at) {
    number = (number * 10 + static_cast<std::uint64_t>(conversion[at] - '0')) % 1'000'000;
  }
  return number;
}

void add_formatted(pid_t thread, Integers& from, std::uint32_t text_bytes, CallEvent& event) {
  const std::string format = event.pieces.back().bytes;
  for (auto at = format.find('%'); at != std::string::npos; at = format.find('%', at)) {
    const auto start = ++at;
    const auto conversion = next_conversion(format, at);
    if (conversion.numbered || conversion.letter == 0 || conversion.long_double) {
      return;
    }
    if (conversion.letter == '%' || conversion.letter == 'm') {
      continue;
    }
    std::uint64_t star = 0;
    for (std::size_t i = 0; i < conversion.stars; ++i) {
      const auto value = from.next();
      star = value ? value->word : 0;
    }
    if (conversion.floating()) {
      from.skip_floating();
      continue;
    }
    const auto value = from.next();
    if (!value) {
      return;
    }
    if (conversion.letter == 's' && !conversion.wide) {
      const auto written = std::string_view(format).substr(start, at - start);
      add_text(thread, value->of, value->word, precision_in(written, star), text_bytes, event);
    }
  }
}

}  // namespace

std::size_t read_target(pid_t thread, std::uint64_t address, std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {  // page by page: the kernel stops at a hole
    const auto at = address + done;
    const auto room = static_cast<std::size_t>(page_bytes - at % page_bytes);
    iovec local{into.data() + done, std::min(room, into.size() - done)};
    iovec remote{reinterpret_cast<void*>(static_cast<std::uintptr_t>(at)),  // NOLINT: not ours
                 local.iov_len};
    const auto got = ::process_vm_readv(thread, &local, 1, &remote, 1, 0);
    if (got <= 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

bool has_floating(const Prototype* prototype) {
  const auto may_have = [](const Type& type) {
    return is_floating(type) || type.role == Role::structure || type.role == Role::format;
  };
  return prototype != nullptr &&
         (may_have(prototype->result) ||
          std::any_of(prototype->arguments.begin(), prototype->arguments.end(), may_have));
}

namespace {

// As capture_nodes() of agent/capture.c.
void add_nodes(pid_t thread,
               const Prototype& prototype,
               Words words,
               std::optional<std::uint64_t> result,
               std::uint32_t text_bytes,
               CallEvent& event) {
  for (std::size_t i = 0; i < prototype.nodes.size(); ++i) {
    const tracso_capture_node& node = prototype.nodes[i];
    if (((node.kind & tracso_capture_after) != 0) != result.has_value()) {
      continue;
    }
    std::uint64_t from = 0;
    if (node.from < tracso_argument_registers) {
      from = words[node.from];
    } else if (node.from == tracso_node_result) {
      from = result.value_or(0);
    } else if (node.from >= tracso_node_first) {
      const Piece* parent =
          event.piece(static_cast<std::uint8_t>(tracso_piece_node + node.from - tracso_node_first));
      if (parent != nullptr && node.offset + sizeof from <= parent->bytes.size()) {
        std::memcpy(&from, parent->bytes.data() + node.offset, sizeof from);
      }
    }
    const auto of = static_cast<std::uint8_t>(tracso_piece_node + i);
    constexpr std::uint32_t fewest = 16;  // a std::string begins with so many
    const auto most = node.bytes == 0 ? std::max(text_bytes, fewest) : node.bytes;
    if ((node.kind & tracso_capture_kind) == tracso_capture_text) {
      add_text(thread, of, from, ~std::uint64_t{0}, text_bytes, event);
    } else {
      add_bytes(thread, of, from, most, most, event);
    }
  }
}

void add_pieces(pid_t thread,
                const Prototype& prototype,
                std::uint32_t text_bytes,
                CallEvent& event) {
  const Words words(event.call.integer);
  Integers from{event, places_of(prototype)};
  for (const Type& type : prototype.arguments) {
    const auto places = from.places.next(type);
    if (places.size() != 1 || type.after) {
      continue;
    }
    const auto value = word_at(event, places.front());
    if (!value.known || is_floating(type)) {
      continue;
    }
    const auto length = length_of(type, prototype, words, 0);
    if (type.role == Role::text) {
      add_text(thread, value.of, value.word, length.value_or(~std::uint64_t{0}), text_bytes, event);
    } else if (type.role == Role::bytes && length) {
      add_bytes(thread, value.of, value.word, *length, text_bytes, event);
    } else if (type.role == Role::format) {
      const auto before = event.pieces.size();
      add_text(thread, value.of, value.word, ~std::uint64_t{0}, TRACSO_FORMAT_BYTES, event);
      if (event.pieces.size() != before) {
        add_formatted(thread, from, text_bytes, event);
      }
    }
  }
}

}  // namespace

void capture_pieces(pid_t thread,
                    const Prototype* prototype,
                    std::uint32_t text_bytes,
                    CallEvent& event) {
  if (prototype != nullptr) {
    add_pieces(thread, *prototype, text_bytes, event);
    add_nodes(thread, *prototype, Words(event.call.integer), std::nullopt, text_bytes, event);
  }
}

void capture_call(pid_t thread,
                  const tracee::Registers& registers,
                  const Prototype* prototype,
                  std::uint32_t text_bytes,
                  CallEvent& event) {
  for (std::size_t i = 0; i < tracso_argument_registers; ++i) {
    event.call.integer[i] = registers.argument(thread, i).value_or(0);
  }
  if (has_floating(prototype)) {
    if (const auto halves = tracee::floating_registers(thread)) {
      std::copy(halves->begin(), halves->end(), std::begin(event.call.floating));
    }
  }
  std::array<std::uint64_t, 1 + tracso_stack_words> stack{};
  const auto got =
      read_target(thread, registers.stack(), std::as_writable_bytes(std::span(stack))) /
      sizeof stack[0];
  event.call.return_address = stack[0];
  std::copy(stack.begin() + 1, stack.end(), std::begin(event.call.stack));
  event.call.stack_words = got == 0 ? 0 : got - 1;
  capture_pieces(thread, prototype, text_bytes, event);
}

void capture_results(pid_t thread,
                     std::span<const std::uint64_t, tracso_argument_registers> words,
                     const Prototype* prototype,
                     std::uint32_t text_bytes,
                     CallEvent& event) {
  if (prototype == nullptr) {
    return;
  }
  if (has_floating(prototype)) {
    if (const auto halves = tracee::floating_registers(thread)) {
      event.result.floating = halves->front();
    }
  }
  ArgumentPlaces places = places_of(*prototype);
  for (const Type& type : prototype->arguments) {
    const auto at = places.next(type);
    if (!type.after || at.size() != 1 || at.front().in != ArgumentWord::In::integer) {
      continue;
    }
    const auto of = static_cast<std::uint8_t>(at.front().number);
    const auto length = length_of(type, *prototype, words, event.result.integer);
    if (type.role == Role::text) {
      add_text(thread, of, words[of], length.value_or(~std::uint64_t{0}), text_bytes, event);
    } else if (type.role == Role::bytes && length) {
      add_bytes(thread, of, words[of], *length, text_bytes, event);
    }
  }
  add_nodes(thread, *prototype, words, event.result.integer, text_bytes, event);
  if (prototype->result.role == Role::text) {
    add_text(
        thread, tracso_piece_result, event.result.integer, ~std::uint64_t{0}, text_bytes, event);
  }
}

}  // namespace tracso::calls
