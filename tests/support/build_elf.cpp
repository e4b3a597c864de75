#include "support/build_elf.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tracso::test {
namespace {

// System V gABI, figure 5-10, and the GNU additions of <elf.h>.
constexpr std::uint64_t dt_null = 0, dt_needed = 1, dt_hash = 4, dt_strtab = 5, dt_symtab = 6,
                        dt_rela = 7, dt_relasz = 8, dt_relaent = 9, dt_strsz = 10, dt_syment = 11,
                        dt_soname = 14, dt_rpath = 15, dt_runpath = 29, dt_relrsz = 35,
                        dt_relr = 36, dt_relrent = 37, dt_gnu_hash = 0x6ffffef5,
                        dt_versym = 0x6ffffff0, dt_verdef = 0x6ffffffc, dt_verdefnum = 0x6ffffffd,
                        dt_verneed = 0x6ffffffe, dt_verneednum = 0x6fffffff;

std::uint32_t sysv_hash(std::string_view name) {
  std::uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4U) + static_cast<unsigned char>(c);
    const std::uint32_t high = hash & 0xF0000000U;
    hash = (hash ^ (high >> 24U)) & ~high;
  }
  return hash;
}

std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) {
    hash = hash * 33 + static_cast<unsigned char>(c);
  }
  return hash;
}

// Collects the parts of the file behind the program headers and remembers where each one went.
class Builder {
 public:
  explicit Builder(const ElfSpec& spec) : spec_(spec), wide_(spec.elf_class != ElfClass::elf32) {}

  std::string build();

 private:
  struct Header {
    std::uint32_t type = 0, flags = 0;
    std::uint64_t offset = 0, bytes = 0;
  };

  std::uint64_t word() const { return wide_ ? 8 : 4; }

  std::uint64_t here() const { return out_.size(); }

  void put(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      const std::size_t shift = 8 * (spec_.byte_order == ByteOrder::little ? i : bytes - 1 - i);
      out_ += static_cast<char>((value >> shift) & 0xFFU);
    }
  }

  void put_word(std::uint64_t value) { put(value, word()); }

  void align(std::size_t to) {
    while (out_.size() % to != 0) {
      out_ += '\0';
    }
  }

  std::uint64_t string(const std::string& text) {
    const auto known = string_at_.find(text);
    if (known != string_at_.end()) {
      return known->second;
    }
    const std::uint64_t at = strings_.size();
    strings_ += text + '\0';
    return string_at_[text] = at;
  }

  void add(std::uint64_t tag, std::uint64_t value) { entries_.emplace_back(tag, value); }

  void add_table(std::uint64_t tag) { add(tag, spec_.load_address + here()); }

  void plan();
  void put_interp_and_notes();
  void put_symbols();
  void put_hash();
  void put_versions();
  void put_definitions();
  void put_needs();
  void put_relocations();
  void put_dynamic();
  void put_elf_header(std::size_t program_headers);
  void put_program_header(const Header& header);
  std::size_t program_header_count() const;

  const ElfSpec& spec_;
  bool wide_;
  std::string out_;
  std::string strings_ = std::string(1, '\0');
  std::map<std::string, std::uint64_t> string_at_{{"", 0}};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> entries_;
  std::vector<Header> headers_;
  std::vector<ElfSymbol> symbols_;  // undefined ones first, as the GNU hash table wants them
  std::size_t undefined_ = 0;
  std::map<std::pair<std::string, std::string>, std::uint16_t>
      version_index_;  // (file, version); own: file ""
  std::map<std::string, std::vector<ElfVersionNeed>> needs_;
};

void Builder::plan() {
  symbols_ = spec_.symbols;
  const auto first_defined = std::stable_partition(
      symbols_.begin(), symbols_.end(), [](const ElfSymbol& s) { return !s.defined; });
  undefined_ = static_cast<std::size_t>(first_defined - symbols_.begin());
  std::uint16_t next = 1;
  for (const auto& version : spec_.defined_versions) {
    version_index_[{"", version}] = next++;
  }
  next = std::max<std::uint16_t>(next, 2);
  auto needed_versions = spec_.needed_versions;
  for (const auto& symbol : symbols_) {
    if (!symbol.defined && !symbol.version.empty()) {
      needed_versions.push_back({symbol.file, symbol.version, false});
    }
  }
  for (const auto& need : needed_versions) {
    if (version_index_.emplace(std::pair(need.file, need.version), next).second) {
      needs_[need.file].push_back(need);
      ++next;
    }
  }
}

void Builder::put_interp_and_notes() {
  if (spec_.interp) {
    headers_.push_back({3, 4, here(), spec_.interp->size() + 1});
    out_ += *spec_.interp + '\0';
  }
  if (spec_.notes.empty()) {
    return;
  }
  align(4);
  const std::uint64_t start = here();
  for (const auto& note : spec_.notes) {
    put(note.owner.size() + 1, 4);
    put(note.content.size(), 4);
    put(note.type, 4);
    out_ += note.owner + '\0';
    align(4);
    out_ += note.content;
    align(4);
  }
  headers_.push_back({4, 4, start, here() - start});
}

void Builder::put_symbols() {
  align(8);
  add_table(dt_symtab);
  add(dt_syment, wide_ ? 24 : 16);
  out_.append(wide_ ? 24 : 16, '\0');
  for (const auto& symbol : symbols_) {
    const std::uint64_t info = (symbol.weak ? 0x20U : 0x10U) | 2U;  // a function
    const std::uint64_t section = symbol.defined ? 7 : 0;
    put(string(symbol.name), 4);
    const auto put_kind = [&] {
      put(info, 1);
      put(0, 1);
      put(section, 2);
    };
    if (wide_) {
      put_kind();
    }
    put_word(symbol.defined ? symbol.value : 0);
    put_word(symbol.size);
    if (!wide_) {
      put_kind();
    }
  }
}

void Builder::put_hash() {
  align(8);
  const std::size_t count = symbols_.size() + 1;
  if (spec_.hash == HashStyle::sysv) {
    add_table(dt_hash);
    put(1, 4);
    put(count, 4);
    put(count > 1 ? 1 : 0, 4);
    for (std::size_t i = 0; i < count; ++i) {
      put(i != 0 && i + 1 < count ? i + 1 : 0, 4);
    }
  } else if (spec_.hash == HashStyle::gnu) {
    const bool empty = undefined_ == symbols_.size();
    add_table(dt_gnu_hash);
    put(1, 4);
    put(undefined_ + 1, 4);
    put(1, 4);
    put(0, 4);
    put_word(empty ? 0 : ~std::uint64_t{0});
    put(empty ? 0 : undefined_ + 1, 4);
    for (std::size_t i = undefined_; i < symbols_.size(); ++i) {
      put((gnu_hash(symbols_[i].name) & ~1U) | (i + 1 == symbols_.size() ? 1U : 0U), 4);
    }
  }
}

void Builder::put_versions() {
  if (version_index_.empty()) {
    return;
  }
  add_table(dt_versym);
  put(0, 2);
  for (const auto& symbol : symbols_) {
    const auto found = version_index_.find({symbol.defined ? "" : symbol.file, symbol.version});
    const std::uint16_t index = found == version_index_.end() ? std::uint16_t{1} : found->second;
    put(index | (symbol.hidden ? 0x8000U : 0U), 2);
  }
  put_definitions();
  put_needs();
}

void Builder::put_definitions() {
  if (spec_.defined_versions.empty()) {
    return;
  }
  align(8);
  add_table(dt_verdef);
  add(dt_verdefnum, spec_.defined_versions.size());
  for (std::size_t i = 0; i < spec_.defined_versions.size(); ++i) {
    const std::string& version = spec_.defined_versions[i];
    put(1, 2);
    put(i == 0 ? 1 : 0, 2);
    put(i + 1, 2);
    put(1, 2);
    put(sysv_hash(version), 4);
    put(20, 4);
    put(i + 1 < spec_.defined_versions.size() ? 28 : 0, 4);
    put(string(version), 4);
    put(0, 4);
  }
}

void Builder::put_needs() {
  if (needs_.empty()) {
    return;
  }
  align(8);
  add_table(dt_verneed);
  add(dt_verneednum, needs_.size());
  std::size_t left = needs_.size();
  for (const auto& [file, versions] : needs_) {
    put(1, 2);
    put(versions.size(), 2);
    put(string(file), 4);
    put(16, 4);
    put(--left == 0 ? 0 : 16 + 16 * versions.size(), 4);
    for (const auto& need : versions) {
      put(sysv_hash(need.version), 4);
      put(need.weak ? 2 : 0, 2);
      put(version_index_.at({file, need.version}), 2);
      put(string(need.version), 4);
      put(&need == &versions.back() ? 0 : 16, 4);
    }
  }
}

void Builder::put_relocations() {
  align(8);
  if (!spec_.rela.empty()) {
    add_table(dt_rela);
    add(dt_relasz, spec_.rela.size() * 3 * word());
    add(dt_relaent, 3 * word());
    for (const std::uint64_t offset : spec_.rela) {
      put_word(offset);
      put_word(8);  // R_X86_64_RELATIVE
      put_word(0);
    }
  }
  if (!spec_.relr.empty()) {
    add_table(dt_relr);
    add(dt_relrsz, spec_.relr.size() * word());
    add(dt_relrent, word());
    for (const std::uint64_t entry : spec_.relr) {
      put_word(entry);
    }
  }
}

void Builder::put_dynamic() {
  if (!spec_.has_dynamic) {
    return;
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (const auto& entry : spec_.dynamic) {
    all.emplace_back(entry.tag, entry.text ? string(*entry.text) : entry.value);
  }
  all.insert(all.end(), entries_.begin(), entries_.end());
  if (spec_.has_string_table) {
    all.emplace_back(dt_strtab, spec_.load_address + here());
    all.emplace_back(dt_strsz, strings_.size());
  }
  all.emplace_back(dt_null, 0);
  out_ += strings_;
  align(8);
  headers_.push_back({2, 6, here(), all.size() * 2 * word()});
  for (const auto& [tag, value] : all) {
    put_word(tag);
    put_word(value);
  }
}

void Builder::put_elf_header(std::size_t program_headers) {
  const std::uint64_t header_bytes = wide_ ? 64 : 52;
  out_ +=
      "\x7f"
      "ELF";
  put(wide_ ? 2 : 1, 1);
  put(spec_.byte_order == ByteOrder::little ? 1 : 2, 1);
  put(1, 1);
  put(spec_.os_abi, 1);
  out_.append(8, '\0');
  put(spec_.type, 2);
  put(spec_.machine, 2);
  put(1, 4);
  put_word(spec_.load_address);
  put_word(header_bytes);
  put_word(0);
  put(spec_.flags, 4);
  put(header_bytes, 2);
  put(wide_ ? 56 : 32, 2);
  put(program_headers, 2);
  put(wide_ ? 64 : 40, 2);
  put(0, 2);
  put(0, 2);
}

void Builder::put_program_header(const Header& header) {
  const bool stack = header.type == 0x6474e551;
  put(header.type, 4);
  if (wide_) {
    put(header.flags, 4);
  }
  put_word(header.offset);
  put_word(stack ? 0 : spec_.load_address + header.offset);
  put_word(stack ? 0 : spec_.load_address + header.offset);
  put_word(header.bytes);
  put_word(header.type == 1 && spec_.memory_bytes != 0 ? spec_.memory_bytes : header.bytes);
  if (!wide_) {
    put(header.flags, 4);
  }
  put_word(header.type == 1 ? 0x1000 : 8);
}

std::size_t Builder::program_header_count() const {
  return 1U + (spec_.interp ? 1U : 0U) + (spec_.notes.empty() ? 0U : 1U) +
         (spec_.stack_flags ? 1U : 0U) + (spec_.has_dynamic ? 1U : 0U);
}

std::string Builder::build() {
  plan();
  const std::size_t count = program_header_count();
  put_elf_header(count);
  const std::size_t table = out_.size();
  out_.append(count * (wide_ ? 56 : 32), '\0');
  put_interp_and_notes();
  if (!symbols_.empty()) {
    put_symbols();
    put_hash();
  }
  put_versions();
  put_relocations();
  put_dynamic();
  if (spec_.stack_flags) {
    headers_.push_back({0x6474e551, *spec_.stack_flags, 0, 0});
  }
  headers_.insert(headers_.begin(), Header{1, 7, 0, here()});
  std::string whole = std::exchange(out_, {});
  for (const auto& header : headers_) {
    put_program_header(header);
  }
  whole.replace(table, out_.size(), out_);
  return whole;
}

}  // namespace

DynamicEntry needed(std::string name) {
  return text_entry(dt_needed, std::move(name));
}

DynamicEntry soname(std::string name) {
  return text_entry(dt_soname, std::move(name));
}

DynamicEntry rpath(std::string path) {
  return text_entry(dt_rpath, std::move(path));
}

DynamicEntry runpath(std::string path) {
  return text_entry(dt_runpath, std::move(path));
}

DynamicEntry text_entry(std::uint64_t tag, std::string text) {
  return {tag, 0, std::move(text)};
}

DynamicEntry value_entry(std::uint64_t tag, std::uint64_t value) {
  return {tag, value, std::nullopt};
}

ElfNote build_id_note(std::string bytes) {
  return {"GNU", 3, std::move(bytes)};
}

std::string build_elf(const ElfSpec& spec) {
  return Builder(spec).build();
}

}  // namespace tracso::test
