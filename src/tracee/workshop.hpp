#pragma once
// What is mapped in a process while a thread of it is borrowed, and the code there:
//
//   [ code | data: state, end of calls, pause, context, texts, calls | vectors | stack ]
//
// The code makes one call after the other, says in memory that they are done, and waits for us; if
// nobody comes, the thread gives itself back what it had.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tracso::tracee {

/// A function of the process, and its arguments.
struct RemoteCall {
  std::uint64_t function = 0;
  std::array<std::uint64_t, 6> arguments{};
};

inline std::span<const std::byte> bytes_of(const std::uint64_t& word) {
  return std::as_bytes(std::span(&word, 1));
}

namespace workshop {

constexpr std::uint64_t page = 4096;
// Offsets into the whole.
constexpr std::uint64_t data_at = page, vectors_at = 2 * page, system_call_code = 128;
// Offsets into the data.
constexpr std::uint64_t state_at = 0, calls_end_at = 16, pause_at = 72, context_at = 256;
constexpr std::uint64_t texts_at = 1024, text_bytes = 512, calls_at = 3072;
constexpr std::size_t most_texts = 4, most_calls = 16;

/// One call in the data: what RemoteCall has, then the result.
struct CallRecord {
  RemoteCall call;
  std::uint64_t result = 0;
};

static_assert(sizeof(CallRecord) == 64, "the code counts by it");
static_assert(calls_at + most_calls * sizeof(CallRecord) <= page);
static_assert(texts_at + most_texts * text_bytes <= calls_at);

constexpr std::uint64_t is_running = 0, is_done = 1;

/// At the beginning; rbx is the data.
std::span<const std::byte> code();
/// At `system_call_code`, a function: number, then up to five arguments.
std::span<const std::byte> system_call_function();

}  // namespace workshop
}  // namespace tracso::tracee
