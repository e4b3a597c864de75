#include "launch/dlopen_call.hpp"

#include <algorithm>

namespace tracso::launch {
namespace {

// dlfcn.h, include/dlfcn.h
constexpr std::uint32_t dlopen_bit = 0x80000000;
constexpr std::uint32_t lazy_or_now = 3;
constexpr std::uint32_t all_modes = 0xfe00110f;

constexpr std::uint64_t page_bytes = 4096;

bool is_mode(std::uint64_t word) {
  const auto mode = static_cast<std::uint32_t>(word);  // the other half of 8 bytes is padding
  return (mode & dlopen_bit) != 0 && (mode & lazy_or_now) != 0 && (mode & ~all_modes) == 0;
}

// LM_ID_NEWLM is -1, and there is another number for "that of the caller".
bool is_namespace(std::uint64_t word) {
  const auto number = static_cast<std::int32_t>(static_cast<std::uint32_t>(word));
  return number >= -2 && number < 16;
}

}  // namespace

std::vector<loader::Range> stack_ranges(std::uint64_t address,
                                        std::size_t count,
                                        std::size_t word) {
  std::vector<loader::Range> ranges;
  for (std::size_t left = count * word; left > 0;) {
    const std::size_t size =
        std::min<std::size_t>(left, static_cast<std::size_t>(page_bytes - address % page_bytes));
    ranges.push_back({address, size});
    address += size;
    left -= size;
  }
  return ranges;
}

std::vector<std::uint64_t> words_in(std::span<const std::string> pieces, std::size_t word) {
  std::string bytes;
  for (const std::string& piece : pieces) {
    if (piece.empty()) {
      break;
    }
    bytes += piece;
  }
  return loader::to_words(bytes, word);
}

std::vector<std::uint64_t> stack_words(const ProcessSource& process,
                                       std::uint64_t address,
                                       std::size_t count,
                                       std::size_t word) {
  const auto elf_class = word == 4 ? ElfClass::elf32 : ElfClass::elf64;
  return words_in(
      loader::SteadyMemory(process, elf_class).bytes_of(stack_ranges(address, count, word)), word);
}

std::optional<DlopenCall> find_dlopen_call(std::span<const std::uint64_t> stack,
                                           const std::function<bool(const DlopenCall&)>& fits) {
  for (std::size_t i = 0; i + 4 < stack.size(); ++i) {
    if (stack[i] == 0 || !is_mode(stack[i + 1]) || stack[i + 2] == 0) {
      continue;
    }
    for (const std::size_t map : {i + 3, i + 4}) {
      if (map + 1 >= stack.size() || !is_namespace(stack[map + 1])) {
        continue;
      }
      const DlopenCall call{stack[i], stack[i + 2], stack[map], i};
      if (fits(call)) {
        return call;
      }
    }
  }
  return std::nullopt;
}

}  // namespace tracso::launch
