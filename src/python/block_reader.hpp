#pragma once
// Reads another process's memory for who follows pointers through all of its heap: blocks of 64 KB
// are kept for one pass, so a list of a million objects costs a system call for each 64 KB and not
// for each object. For a few small things MemoryReader is better.

#include "tracso/target.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

namespace tracso::python {

struct BlockLimits {
  std::uint64_t bytes = std::uint64_t{1} << 30U;  ///< read, and kept, in one pass
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

class BlockReader {
 public:
  BlockReader(const ProcessSource& process, BlockLimits limits)
      : process_(process), limits_(limits) {}

  /// The whole of `into`, or false: not mapped, or a limit is reached.
  bool read(std::uint64_t address, std::span<std::byte> into);

  /// The value at that address; nullopt as above.
  template <class T>
  std::optional<T> value(std::uint64_t address) {
    T value{};
    if (!read(address, std::as_writable_bytes(std::span(&value, 1)))) {
      return std::nullopt;
    }
    return value;
  }

  /// The value that is there now, whatever was read before.
  template <class T>
  std::optional<T> fresh(std::uint64_t address) {
    T value{};
    const auto done = process_.read_memory(address, std::as_writable_bytes(std::span(&value, 1)));
    return done ? std::optional(value) : std::nullopt;
  }

  /// Starts a new pass: nothing read so far is believed any more.
  void forget();
  /// The same, with limits of its own.
  void restart(BlockLimits limits);

  /// A limit was reached: every further read of something new fails.
  bool exhausted() const { return exhausted_; }

 private:
  static constexpr std::uint64_t page_bytes = 4096, block_pages = 16,
                                 block_bytes = page_bytes * block_pages;

  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::uint32_t pages = 0;  // a bit for each that could be read
  };

  const Block* block(std::uint64_t number);

  const ProcessSource& process_;
  BlockLimits limits_;
  std::unordered_map<std::uint64_t, Block> blocks_;
  std::uint64_t last_number_ = 0;
  const Block* last_ = nullptr;
  std::uint64_t spent_ = 0;
  bool exhausted_ = false;
};

}  // namespace tracso::python
