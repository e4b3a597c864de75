#include "elf/linkage.hpp"

#include "elf/symbol_hash.hpp"

#include <elf.h>

namespace tracso::elf {
namespace {

// Those that glibc's lookup takes (elf/dl-lookup.c, ALLOWED_STT).
bool can_be_bound(std::uint8_t type) {
  return type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC || type == STT_COMMON ||
         type == STT_TLS || type == STT_GNU_IFUNC;
}

}  // namespace

SymbolName::SymbolName(std::string_view name, std::string_view wanted)
    : text(name), version(wanted), hash(gnu_hash(name)) {}

LinkSymbol Linkage::symbol(std::uint32_t index) const {
  const std::uint64_t each = encoding_.wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  const ByteView table = encoding_.view(symbols_);
  const auto bytes = table.slice(std::uint64_t{index} * each, each);
  if (bytes.empty()) {
    return {};
  }
  const ByteView view = encoding_.view(bytes);
  const std::uint64_t info = encoding_.wide ? 4 : 12;
  const std::uint64_t value = encoding_.wide ? 8 : 4;
  LinkSymbol symbol;
  symbol.name = view.get<std::uint32_t>(0).value_or(0);
  const auto kind = view.get<std::uint8_t>(info).value_or(0);
  symbol.binding = kind >> 4U;
  symbol.type = kind & 0xFU;
  symbol.value = encoding_.address(view, value);
  symbol.size = encoding_.address(view, value + encoding_.word());
  const auto section = view.get<std::uint16_t>(info + 2).value_or(0);
  symbol.defined =
      section != SHN_UNDEF && (symbol.value != 0 || section == SHN_ABS || symbol.type == STT_TLS);
  return symbol;
}

std::string_view Linkage::name(std::uint32_t index) const {
  return encoding_.view(strings_).text(symbol(index).name).value_or("");
}

std::string_view Linkage::needed_version(std::uint32_t index) const {
  const std::size_t number = index < version_of_.size() ? version_of_[index] & index_bits : 0;
  return number < needed_.size() ? std::string_view(needed_[number]) : std::string_view();
}

// As check_match of glibc's elf/dl-lookup.c.
bool Linkage::has_version(std::uint32_t index, std::string_view version) const {
  if (index >= version_of_.size()) {
    return true;
  }
  const bool hidden = (version_of_[index] & hidden_bit) != 0;
  const std::size_t number = version_of_[index] & index_bits;
  if (version.empty()) {
    return !hidden;
  }
  if (number < defined_.size() && !defined_[number].empty()) {
    return defined_[number] == version;
  }
  return !hidden;  // a symbol of no version serves every reference
}

bool Linkage::matches(std::uint32_t index, const SymbolName& wanted) const {
  const LinkSymbol found = symbol(index);
  return found.defined && found.binding != STB_LOCAL && can_be_bound(found.type) &&
         name(index) == wanted.text && has_version(index, wanted.version);
}

std::optional<std::uint32_t> Linkage::find(const SymbolName& wanted) const {
  if (wanted.text.empty() || buckets_.empty()) {
    return std::nullopt;
  }
  return gnu_ ? find_by_gnu_hash(wanted) : find_by_hash(wanted);
}

bool Linkage::may_have(std::uint32_t hash) const {
  if (bloom_.empty()) {
    return true;
  }
  const std::uint32_t bits = encoding_.wide ? 64 : 32;
  const std::uint64_t word = bloom_[(hash / bits) % bloom_.size()];
  const std::uint32_t second = bloom_shift_ < 32 ? hash >> bloom_shift_ : 0;
  return ((word >> (hash % bits)) & (word >> (second % bits)) & 1U) != 0;
}

std::optional<std::uint32_t> Linkage::find_by_gnu_hash(const SymbolName& wanted) const {
  if (!may_have(wanted.hash)) {
    return std::nullopt;
  }
  const std::uint32_t start = buckets_[wanted.hash % buckets_.size()];
  if (start < first_hashed_) {
    return std::nullopt;
  }
  std::size_t at = start - first_hashed_;
  for (std::size_t i = 0; i < longest_chain && at < chains_.size(); ++i, ++at) {
    if ((chains_[at] | 1U) == (wanted.hash | 1U)) {
      const auto index = static_cast<std::uint32_t>(at + first_hashed_);
      if (matches(index, wanted)) {
        return index;
      }
    }
    if ((chains_[at] & 1U) != 0) {
      break;
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Linkage::find_by_hash(const SymbolName& wanted) const {
  std::uint32_t index = buckets_[sysv_hash(wanted.text) % buckets_.size()];
  for (std::size_t i = 0; i < longest_chain && index != 0 && index < chains_.size(); ++i) {
    if (matches(index, wanted)) {
      return index;
    }
    index = chains_[index];
  }
  return std::nullopt;
}

}  // namespace tracso::elf
