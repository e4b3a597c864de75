// Where a thread keeps its errno. __errno_location() of every C library adds a number to the thread
// pointer; which one stands in its code, or in a word that its code names.

#include "calls/engine_capture.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <optional>

namespace tracso::calls {
namespace {

using Code = std::array<std::uint8_t, 32>;

bool has(const Code& code, std::size_t at, std::initializer_list<std::uint8_t> bytes) {
  return at + bytes.size() <= code.size() &&
         std::equal(bytes.begin(), bytes.end(), code.begin() + static_cast<std::ptrdiff_t>(at));
}

std::int32_t number_at(const Code& code, std::size_t at) {
  std::int32_t number = 0;
  std::memcpy(&number, code.data() + at, sizeof number);
  return number;
}

std::optional<std::int64_t> offset_of(pid_t thread, std::uint64_t function) {
  Code code{};
  if (function == 0 ||
      read_target(thread, function, std::as_writable_bytes(std::span(code))) < code.size()) {
    return std::nullopt;
  }
  const std::size_t at = has(code, 0, {0xf3, 0x0f, 0x1e, 0xfa}) ? 4 : 0;
  constexpr std::size_t mov_bytes = 7;
  // mov WORD(%rip),%rax; add %fs:0,%rax
  if (has(code, at, {0x48, 0x8b, 0x05}) &&
      has(code, at + mov_bytes, {0x64, 0x48, 0x03, 0x04, 0x25})) {
    std::int64_t offset = 0;
    const auto word = function + at + mov_bytes +
                      static_cast<std::uint64_t>(std::int64_t{number_at(code, at + 3)});
    return read_target(thread, word, std::as_writable_bytes(std::span(&offset, 1))) == sizeof offset
               ? std::optional(offset)
               : std::nullopt;
  }
  // mov $NUMBER,%rax; add %fs:0,%rax
  if (has(code, at, {0x48, 0xc7, 0xc0}) &&
      has(code, at + mov_bytes, {0x64, 0x48, 0x03, 0x04, 0x25})) {
    return number_at(code, at + 3);
  }
  // mov %fs:0,%rax; add $NUMBER,%rax
  constexpr std::size_t long_mov_bytes = 9;
  if (has(code, at, {0x64, 0x48, 0x8b, 0x04, 0x25})) {
    const auto next = at + long_mov_bytes;
    return has(code, next, {0x48, 0x83, 0xc0})
               ? std::optional<std::int64_t>(static_cast<std::int8_t>(code[next + 3]))
           : has(code, next, {0x48, 0x05}) ? std::optional<std::int64_t>(number_at(code, next + 2))
                                           : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::int64_t read_errno(pid_t thread, std::uint64_t function, const tracee::Registers& registers) {
  const auto offset = offset_of(thread, function);
  std::int32_t number = 0;
  const bool got = offset && registers.thread_pointer() != 0 &&
                   read_target(thread,
                               registers.thread_pointer() + static_cast<std::uint64_t>(*offset),
                               std::as_writable_bytes(std::span(&number, 1))) == sizeof number;
  return got ? number : 0;
}

}  // namespace tracso::calls
