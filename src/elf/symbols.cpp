#include "elf/symbols.hpp"

#include "elf/symbol_hash.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace tracso::elf {
namespace {

// The largest libraries have some hundred thousand symbols; these only stop a hostile table.
constexpr std::uint64_t most_exports = 1'000'000;
constexpr std::size_t most_name_bytes = std::size_t{64} << 20U;

constexpr std::string_view endless_chain = "a chain of its hash table does not end";
constexpr std::string_view too_many_symbols = "more symbols than any linker writes";

}  // namespace

Result<SymbolTable> SymbolTable::open(const File& file, std::string_view name) {
  auto image = FileImage::open(file, name);
  if (!image) {
    return image.error();
  }
  auto entries = image->dynamic_entries();
  if (!entries) {
    return entries.error();
  }
  auto versions = read_versions(*image, *entries);
  if (!versions) {
    return versions.error();
  }
  return SymbolTable(std::move(*image), std::move(*entries), std::move(*versions));
}

SymbolTable::SymbolTable(FileImage image, std::vector<DynamicEntry> entries, Versions versions)
    : image_(std::move(image)),
      entries_(std::move(entries)),
      versions_(std::move(versions)),
      symbols_(find_value(entries_, DT_SYMTAB).value_or(0)),
      strings_(find_value(entries_, DT_STRTAB).value_or(0)),
      gnu_hash_(find_value(entries_, DT_GNU_HASH)),
      hash_(find_value(entries_, DT_HASH)),
      version_table_(find_value(entries_, DT_VERSYM)) {}

Result<std::uint32_t> SymbolTable::number_at(std::uint64_t address) {
  const auto bytes = image_.at_address(address, sizeof(std::uint32_t));
  if (!bytes) {
    return bytes.error();
  }
  return image_.encoding().view(*bytes).get<std::uint32_t>(0).value_or(0);
}

Result<SymbolTable::Symbol> SymbolTable::symbol(std::uint64_t index) {
  const auto bytes = image_.at_address(symbols_ + index * symbol_bytes(),
                                       static_cast<std::size_t>(symbol_bytes()));
  if (!bytes) {
    return bytes.error();
  }
  const ByteView view = image_.encoding().view(*bytes);
  const std::uint64_t info = image_.encoding().wide ? 4 : 12;
  return Symbol{view.get<std::uint32_t>(0).value_or(0),
                view.get<std::uint8_t>(info).value_or(0),
                view.get<std::uint16_t>(info + 2).value_or(0),
                image_.encoding().address(view, image_.encoding().wide ? 8 : 4)};
}

/// With the hidden bit; the file must have DT_VERSYM.
Result<std::uint16_t> SymbolTable::version_index(std::uint64_t index) {
  const auto bytes = image_.at_address(*version_table_ + 2 * index, sizeof(std::uint16_t));
  if (!bytes) {
    return bytes.error();
  }
  return image_.encoding().view(*bytes).get<std::uint16_t>(0).value_or(0);
}

/// Reads no more than the name has, however long the symbol's is.
Result<bool> SymbolTable::is_named(const Symbol& symbol, std::string_view name) {
  std::uint64_t at = strings_ + symbol.name;
  const std::string_view end("\0", 1);
  for (std::string_view rest = name; !rest.empty();) {
    const std::size_t count = std::min(rest.size(), FileImage::window_bytes);
    const auto bytes = image_.at_address(at, count);
    if (!bytes) {
      return bytes.error();
    }
    if (std::memcmp(bytes->data(), rest.data(), count) != 0) {
      return false;
    }
    at += count;
    rest.remove_prefix(count);
  }
  const auto last = image_.at_address(at, end.size());
  if (!last) {
    return last.error();
  }
  return last->front() == std::byte{0};
}

/// As check_match of glibc's elf/dl-lookup.c.
Result<bool> SymbolTable::has_version(std::uint64_t index, std::string_view version) {
  if (version.empty() || !version_table_) {
    return true;
  }
  const auto found = version_index(index);
  if (!found) {
    return found.error();
  }
  const auto defined = std::find_if(
      versions_.defined.begin(), versions_.defined.end(), [&](const DefinedVersion& candidate) {
        return candidate.index == (*found & index_bits) && !candidate.base;
      });
  if (defined != versions_.defined.end()) {
    return defined->name == version;
  }
  // A symbol of no version serves every reference.
  return (*found & hidden_bit) == 0;
}

Result<bool> SymbolTable::binds(std::uint64_t index,
                                std::string_view name,
                                std::string_view version) {
  const auto found = symbol(index);
  if (!found) {
    return found.error();
  }
  if (found->section == SHN_UNDEF) {
    return false;
  }
  const auto named = is_named(*found, name);
  bound_ = found->value;
  return named && *named ? has_version(index, version) : named;
}

Result<bool> SymbolTable::defines(std::string_view name, std::string_view version) {
  if (name.empty() || symbols_ == 0) {
    return false;
  }
  if (gnu_hash_) {
    return defines_by_gnu_hash(name, version);
  }
  return hash_ ? defines_by_hash(name, version) : Result<bool>(false);
}

Result<std::optional<std::uint64_t>> SymbolTable::address_of(std::string_view name) {
  const auto found = defines(name, "");
  if (!found) {
    return found.error();
  }
  return *found ? std::optional(bound_) : std::nullopt;
}

Result<SymbolTable::GnuTable> SymbolTable::gnu_table() {
  const auto bytes = image_.at_address(*gnu_hash_, 16);
  if (!bytes) {
    return bytes.error();
  }
  const ByteView view = image_.encoding().view(*bytes);
  GnuTable table;
  table.buckets = view.get<std::uint32_t>(0).value_or(0);
  table.first = view.get<std::uint32_t>(4).value_or(0);
  const std::uint64_t bloom_words = view.get<std::uint32_t>(8).value_or(0);
  table.bucket_table = *gnu_hash_ + 16 + bloom_words * image_.encoding().word();
  table.chain_table = table.bucket_table + std::uint64_t{table.buckets} * 4;
  return table;
}

Result<bool> SymbolTable::defines_by_gnu_hash(std::string_view name, std::string_view version) {
  const auto table = gnu_table();
  if (!table || table->buckets == 0) {
    return table ? Result<bool>(false) : table.error();
  }
  const std::uint32_t hash = gnu_hash(name);
  const auto start = number_at(table->bucket_table + std::uint64_t{hash % table->buckets} * 4);
  if (!start || *start < table->first) {
    return start ? Result<bool>(false) : start.error();
  }
  std::uint64_t index = *start;
  for (std::size_t i = 0; i < longest_chain; ++i, ++index) {
    const auto link = number_at(table->chain_table + (index - table->first) * 4);
    if (!link) {
      return link.error();
    }
    if ((*link | 1U) == (hash | 1U)) {
      if (const auto found = binds(index, name, version); !found || *found) {
        return found;
      }
    }
    if ((*link & 1U) != 0) {
      return false;
    }
  }
  return image_.fault(endless_chain);
}

Result<bool> SymbolTable::defines_by_hash(std::string_view name, std::string_view version) {
  const auto buckets = number_at(*hash_);
  if (!buckets || *buckets == 0) {
    return buckets ? Result<bool>(false) : buckets.error();
  }
  const std::uint64_t bucket_table = *hash_ + 8;
  const std::uint64_t chain_table = bucket_table + std::uint64_t{*buckets} * 4;
  auto index = number_at(bucket_table + std::uint64_t{sysv_hash(name) % *buckets} * 4);
  for (std::size_t i = 0; i < longest_chain; ++i) {
    if (!index || *index == 0) {
      return index ? Result<bool>(false) : index.error();
    }
    if (const auto found = binds(*index, name, version); !found || *found) {
      return found;
    }
    index = number_at(chain_table + std::uint64_t{*index} * 4);
  }
  return image_.fault(endless_chain);
}

/// No field says how long the symbol table is: DT_HASH has a link for each symbol, DT_GNU_HASH a
/// chain through the last one, unless nothing is exported.
Result<std::uint64_t> SymbolTable::count_symbols() {
  if (hash_) {
    const auto count = number_at(*hash_ + 4);
    return count ? Result<std::uint64_t>(*count) : count.error();
  }
  if (!gnu_hash_) {
    return count_by_sections();
  }
  const auto table = gnu_table();
  if (!table || table->buckets > most_exports) {
    return table ? image_.fault(too_many_symbols) : table.error();
  }
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < table->buckets; ++i) {
    const auto start = number_at(table->bucket_table + i * 4);
    if (!start) {
      return start.error();
    }
    last = std::max<std::uint64_t>(last, *start);
  }
  if (last < table->first || last == 0) {
    return count_by_sections();
  }
  for (std::size_t i = 0; i < longest_chain; ++i, ++last) {
    const auto link = number_at(table->chain_table + (last - table->first) * 4);
    if (!link || (*link & 1U) != 0) {
      return link ? Result<std::uint64_t>(last + 1) : link.error();
    }
  }
  return image_.fault(endless_chain);
}

/// By the section header of .dynsym, else up to the string table, which linkers put behind it.
Result<std::uint64_t> SymbolTable::count_by_sections() {
  const FileHeader& header = image_.header();
  const bool wide = header.encoding.wide;
  const std::uint64_t each = wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  for (std::uint64_t i = 0; header.section_headers != 0 && i < header.section_header_count; ++i) {
    const auto bytes = image_.at(header.section_headers + i * each, static_cast<std::size_t>(each));
    if (!bytes) {
      break;  // cut off, as by some strip programs
    }
    const ByteView view = header.encoding.view(*bytes);
    if (view.get<std::uint32_t>(4) == std::uint32_t{SHT_DYNSYM}) {
      return header.encoding.address(view, wide ? 32 : 20) / symbol_bytes();
    }
  }
  return strings_ > symbols_ ? (strings_ - symbols_) / symbol_bytes() : 0;
}

/// The undefined symbols without their names; these are put into `names` as offsets.
Result<std::vector<UndefinedSymbol>> SymbolTable::list_undefined(
    std::vector<std::uint64_t>& names, std::vector<std::uint64_t>& indexes) {
  std::vector<UndefinedSymbol> undefined;
  const auto place = image_.locate(symbols_);
  if (!place) {
    return undefined;
  }
  const auto counted = count_symbols();
  if (!counted) {
    return counted.error();
  }
  const std::uint64_t count = std::min(*counted, place->room / symbol_bytes());
  if (count > most_exports) {
    return image_.fault(too_many_symbols);
  }
  for (std::uint64_t i = 1; i < count; ++i) {
    const auto symbol = this->symbol(i);
    if (!symbol) {
      return symbol.error();
    }
    const auto binding = ELF64_ST_BIND(symbol->info);  // the same in both classes
    if (symbol->section == SHN_UNDEF && symbol->name != 0 && binding != STB_LOCAL) {
      undefined.push_back({{}, {}, {}, binding == STB_WEAK});
      names.push_back(symbol->name);
      indexes.push_back(i);
    }
  }
  return undefined;
}

// One table after the other, each from its start to its end: so neighbours come out of one read.
Result<std::vector<UndefinedSymbol>> SymbolTable::undefined() {
  std::vector<std::uint64_t> names, indexes;
  auto undefined = list_undefined(names, indexes);
  if (!undefined) {
    return undefined;
  }
  auto texts = image_.texts_at(strings_, names, most_name_bytes);
  if (!texts) {
    return texts.error();
  }
  std::unordered_map<std::uint16_t, std::pair<const VersionNeed*, const NeededVersion*>> needs;
  for (const auto& need : versions_.needed) {
    for (const auto& version : need.versions) {
      needs.emplace(version.index, std::pair(&need, &version));
    }
  }
  for (std::size_t i = 0; i < undefined->size(); ++i) {
    UndefinedSymbol& symbol = (*undefined)[i];
    symbol.name = std::move((*texts)[i]);
    const auto index =
        version_table_ ? version_index(indexes[i]) : Result<std::uint16_t>(std::uint16_t{0});
    if (!index) {
      return index.error();
    }
    const auto need = needs.find(*index & index_bits);
    if (need != needs.end()) {
      symbol.file = need->second.first->file;
      symbol.version = need->second.second->name;
    }
  }
  return undefined;
}

}  // namespace tracso::elf
