#include "launch/program_start.hpp"

#include <elf.h>

#include <array>
#include <cstring>
#include <span>

namespace tracso::launch {
namespace {

std::uint64_t word_at(std::string_view bytes, std::size_t offset, std::size_t word) {
  std::uint64_t value = 0;
  if (word == 4) {
    std::uint32_t half = 0;
    std::memcpy(&half, bytes.data() + offset, sizeof half);
    value = half;
  } else {
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  }
  return value;
}

std::uint64_t read_word(const ProcessSource& process, std::uint64_t address, std::size_t word) {
  std::array<std::byte, 8> bytes{};
  if (!process.read_memory(address, std::span(bytes).first(word))) {
    return 0;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

StartFacts parse_auxv(std::string_view bytes, std::size_t word) {
  StartFacts facts;
  for (std::size_t at = 0; at + 2 * word <= bytes.size(); at += 2 * word) {
    const std::uint64_t value = word_at(bytes, at + word, word);
    switch (word_at(bytes, at, word)) {
      case AT_ENTRY:
        facts.entry = value;
        break;
      case AT_BASE:
        facts.loader = value;
        break;
      case AT_PHDR:
        facts.headers = value;
        break;
      case AT_PHNUM:
        facts.header_count = value;
        break;
      default:
        break;
    }
  }
  return facts;
}

Result<elf::MemoryImage> loader_image(const ProcessSource& process,
                                      const StartFacts& facts,
                                      ElfClass elf_class) {
  return facts.loader != 0 ? elf::MemoryImage::at_header(process, facts.loader)
                           : elf::MemoryImage::at_program_headers(
                                 process, facts.headers, facts.header_count, elf_class);
}

std::optional<LoaderHook> find_loader_hook(const ProcessSource& process,
                                           const StartFacts& facts,
                                           ElfClass elf_class) {
  const auto image = loader_image(process, facts, elf_class);
  if (!image) {
    return std::nullopt;
  }
  const auto function = image->symbol(process, "_dl_debug_state");
  if (!function) {
    return std::nullopt;
  }
  LoaderHook hook;
  hook.function = hook.stop = function->address;
  hook.word = elf_class == ElfClass::elf32 ? 4 : 8;
  if (const auto glibc = image->symbol(process, "_r_debug")) {
    hook.record = glibc->address;
  } else if (const auto musl = image->symbol(process, "_dl_debug_addr")) {
    hook.record_pointer = musl->address;
  } else {
    return std::nullopt;
  }
  return hook;
}

std::uint64_t loader_record(const ProcessSource& process, const LoaderHook& hook) {
  return hook.record_pointer != 0 ? read_word(process, hook.record_pointer, hook.word)
                                  : hook.record;
}

LoaderState loader_state(const ProcessSource& process, const LoaderHook& hook) {
  const std::uint64_t record = loader_record(process, hook);
  std::array<std::byte, 4> bytes{};
  // struct r_debug: int r_version; r_map; r_brk; r_state, each at the width of an address
  if (!process.read_memory(record + 3 * hook.word, bytes)) {
    return LoaderState::unknown;
  }
  std::uint32_t state = 0;
  std::memcpy(&state, bytes.data(), sizeof state);
  return state <= 2 ? static_cast<LoaderState>(state) : LoaderState::unknown;
}

}  // namespace tracso::launch
