// Exported symbols out of memory, by the hash tables ld.so itself uses (gABI "Hash Table";
// DT_GNU_HASH as in glibc elf/dl-lookup.c). A lookup costs five or six reads, a vain one mostly
// two.

#include "base/byte_view.hpp"
#include "elf/memory_image.hpp"
#include "elf/symbol_hash.hpp"

#include <elf.h>

#include <algorithm>
#include <array>

namespace tracso::elf {
namespace {

constexpr std::size_t most_candidates = 64;

template <std::size_t Count>
std::optional<std::array<std::uint32_t, Count>> read_halves(const ProcessSource& process,
                                                            std::uint64_t address) {
  std::array<std::uint32_t, Count> halves{};
  if (!process.read_memory(address, std::as_writable_bytes(std::span(halves)))) {
    return std::nullopt;
  }
  return halves;
}

// Two bits of one word say for most names that they are not there, and save the walk.
bool bloom_has(const ProcessSource& process,
               std::uint64_t words,
               std::uint32_t count,
               std::uint64_t word_bytes,
               std::uint32_t hash,
               std::uint32_t shift) {
  const auto bits = static_cast<std::uint32_t>(word_bytes * 8);
  std::array<std::byte, 8>
      raw{};  // the rest stays 0; memory is that of this machine, so little-endian
  const std::uint64_t at = words + word_bytes * (hash / bits & (count - 1));
  if (!process.read_memory(at, std::span(raw).first(static_cast<std::size_t>(word_bytes)))) {
    return false;
  }
  const ByteView view{std::span<const std::byte>(raw)};
  const std::uint64_t word = view.get<std::uint64_t>(0).value_or(0);
  const std::uint32_t second = shift < 32 ? hash >> shift : 0;
  return (word >> (hash % bits) & word >> (second % bits) & 1U) != 0;
}

}  // namespace

std::optional<MemorySymbol> MemoryImage::symbol_at(const ProcessSource& process,
                                                   std::uint64_t index,
                                                   std::string_view name) const {
  const bool wide = class_ == ElfClass::elf64;
  const auto symbols = dynamic_value(DT_SYMTAB);
  const auto strings = dynamic_value(DT_STRTAB);
  if (!symbols || !strings) {
    return std::nullopt;
  }
  std::array<std::byte, sizeof(Elf64_Sym)> raw{};
  const auto entry = std::span(raw).first(wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
  if (!process.read_memory(located(*symbols) + index * entry.size(), entry)) {
    return std::nullopt;
  }
  const ByteView view{std::span<const std::byte>(raw)};
  const std::uint32_t name_offset = view.get<std::uint32_t>(0).value_or(0);
  const std::uint16_t section = view.get<std::uint16_t>(wide ? 6 : 14).value_or(0);
  std::string text(name.size() + 1, '\0');
  if (section == SHN_UNDEF ||
      !process.read_memory(located(*strings) + name_offset,
                           std::as_writable_bytes(std::span(text))) ||
      text.back() != '\0' || std::string_view(text).substr(0, name.size()) != name) {
    return std::nullopt;
  }
  MemorySymbol symbol;
  symbol.type = static_cast<std::uint8_t>(view.get<std::uint8_t>(wide ? 4 : 12).value_or(0) & 0xfU);
  const std::uint64_t value =
      wide ? view.get<std::uint64_t>(8).value_or(0) : view.get<std::uint32_t>(4).value_or(0);
  symbol.size =
      wide ? view.get<std::uint64_t>(16).value_or(0) : view.get<std::uint32_t>(8).value_or(0);
  const bool absolute = section == SHN_ABS || symbol.type == STT_TLS;
  symbol.address = absolute ? value : value + bias_;
  if (!wide) {
    symbol.address &= 0xffffffffU;
  }
  return symbol;
}

std::optional<MemorySymbol> MemoryImage::gnu_hash_symbol(const ProcessSource& process,
                                                         std::uint64_t table,
                                                         std::string_view name) const {
  const auto header = read_halves<4>(process, table);  // buckets, first symbol, bloom words, shift
  if (!header || (*header)[0] == 0) {
    return std::nullopt;
  }
  const auto [buckets, first_symbol, bloom_words, shift] = *header;
  const std::uint32_t hash = gnu_hash(name);
  const std::uint64_t word = class_ == ElfClass::elf64 ? 8 : 4;
  const std::uint64_t bloom = table + 16;
  if (bloom_words != 0 && !bloom_has(process, bloom, bloom_words, word, hash, shift)) {
    return std::nullopt;
  }
  const std::uint64_t bucket_table = bloom + word * bloom_words;
  const auto bucket = read_halves<1>(process, bucket_table + 4 * std::uint64_t{hash % buckets});
  if (!bucket || (*bucket)[0] < first_symbol) {
    return std::nullopt;
  }
  std::size_t candidates = 0;
  const std::uint64_t chains = bucket_table + 4 * std::uint64_t{buckets};
  for (std::uint64_t step = 0; step < longest_chain; ++step) {
    const std::uint64_t index = (*bucket)[0] + step;
    const auto link = read_halves<1>(process, chains + 4 * (index - first_symbol));
    if (!link) {
      return std::nullopt;
    }
    if (((*link)[0] | 1U) == (hash | 1U)) {
      if (auto found = symbol_at(process, index, name)) {
        return found;
      }
      if (++candidates == most_candidates) {
        return std::nullopt;
      }
    }
    if (((*link)[0] & 1U) != 0) {  // the last of its bucket
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<MemorySymbol> MemoryImage::hash_symbol(const ProcessSource& process,
                                                     std::uint64_t table,
                                                     std::string_view name) const {
  const auto header = read_halves<2>(process, table);  // buckets, chain entries = symbols
  if (!header || (*header)[0] == 0) {
    return std::nullopt;
  }
  const auto [buckets, symbols] = *header;
  auto next = read_halves<1>(process, table + 8 + 4 * std::uint64_t{sysv_hash(name) % buckets});
  const std::uint64_t chains = table + 8 + 4 * std::uint64_t{buckets};
  for (std::size_t step = 0; step < longest_chain && next; ++step) {
    const std::uint64_t index = (*next)[0];
    if (index == STN_UNDEF || index >= symbols) {
      return std::nullopt;
    }
    if (auto found = symbol_at(process, index, name)) {
      return found;
    }
    next = read_halves<1>(process, chains + 4 * index);
  }
  return std::nullopt;
}

std::optional<MemorySymbol> MemoryImage::symbol(const ProcessSource& process,
                                                std::string_view name) const {
  if (name.empty()) {
    return std::nullopt;
  }
  if (const auto table = dynamic_value(DT_GNU_HASH)) {
    return gnu_hash_symbol(process, located(*table), name);
  }
  if (const auto table = dynamic_value(DT_HASH)) {
    return hash_symbol(process, located(*table), name);
  }
  return std::nullopt;
}

}  // namespace tracso::elf
