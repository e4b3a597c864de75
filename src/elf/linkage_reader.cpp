// How a Linkage is filled. No field says how long a symbol table is: the hash table knows what is
// exported, relocations know what is imported, and no other symbol is ever asked for.

#include "elf/hash_tables.hpp"
#include "elf/linkage.hpp"
#include "elf/relocation_types.hpp"

#include <elf.h>

#include <algorithm>
#include <utility>

namespace tracso::elf {
namespace {

constexpr std::uint64_t df_bind_now = 8, df_1_now = 1;
constexpr std::uint64_t least_page = 4096;

}  // namespace

class LinkageReader {
 public:
  LinkageReader(FileImage image, std::vector<DynamicEntry> entries)
      : image_(std::move(image)), entries_(std::move(entries)) {
    out_.encoding_ = image_.encoding();
  }

  Result<Linkage> read() {
    describe();
    for (const auto step : {&LinkageReader::read_hash,
                            &LinkageReader::read_relocations,
                            &LinkageReader::read_symbols,
                            &LinkageReader::read_version_tables,
                            &LinkageReader::read_initial_words}) {
      if (const auto done = (this->*step)(); !done) {
        return done.error();
      }
    }
    keep_foreign_addresses();
    return std::move(out_);
  }

 private:
  std::uint64_t value(std::uint64_t tag) const { return find_value(entries_, tag).value_or(0); }

  bool has(std::uint64_t tag) const { return find_value(entries_, tag).has_value(); }

  void describe() {
    out_.binds_now_ = has(DT_BIND_NOW) || (value(DT_FLAGS) & df_bind_now) != 0 ||
                      (value(DT_FLAGS_1) & df_1_now) != 0;
    types_ = relocation_types(image_.header().machine);
    out_.knows_machine_ = types_.has_value();
    for (const ProgramHeader& segment : image_.program_headers()) {
      if (segment.type == PT_LOAD) {
        out_.first_address_ = segment.address - segment.address % least_page;
        break;
      }
    }
  }

  Result<std::vector<std::byte>> table(std::uint64_t address, std::uint64_t bytes) {
    return FileTables(image_).table(address, bytes);
  }

  Result<Done> read_hash() {
    auto read = read_hash_tables(image_, entries_);
    if (!read) {
      return read.error();
    }
    out_.gnu_ = read->gnu;
    out_.bloom_shift_ = read->bloom_shift;
    out_.first_hashed_ = read->first_hashed;
    out_.bloom_ = std::move(read->bloom);
    out_.buckets_ = std::move(read->buckets);
    out_.chains_ = std::move(read->chains);
    symbols_wanted_ = read->symbols;
    return Done{};
  }

  Result<Done> read_relocations() {
    if (!types_) {
      return Done{};
    }
    const bool rela = value(DT_PLTREL) != DT_REL;
    const std::uint64_t rela_bytes = out_.encoding_.wide ? 24 : 12;
    const std::uint64_t rel_bytes = out_.encoding_.wide ? 16 : 8;
    // Relative ones, which need no symbol, come first and are counted.
    const std::uint64_t skip_rela = value(DT_RELACOUNT) * rela_bytes;
    const std::uint64_t skip_rel = value(DT_RELCOUNT) * rel_bytes;
    for (const auto& added :
         {add_slots(value(DT_JMPREL), value(DT_PLTRELSZ), 0, rela ? rela_bytes : rel_bytes),
          add_slots(value(DT_RELA), value(DT_RELASZ), skip_rela, rela_bytes),
          add_slots(value(DT_REL), value(DT_RELSZ), skip_rel, rel_bytes)}) {
      if (!added) {
        return added.error();
      }
    }
    // Older linkers count the PLT's relocations among the others too.
    auto& slots = out_.slots_;
    std::stable_sort(slots.begin(), slots.end(), [](const ImportSlot& a, const ImportSlot& b) {
      return a.address < b.address;
    });
    slots.erase(std::unique(slots.begin(),
                            slots.end(),
                            [](const ImportSlot& a, const ImportSlot& b) {
                              return a.address == b.address;
                            }),
                slots.end());
    return Done{};
  }

  Result<Done> add_slots(std::uint64_t address,
                         std::uint64_t bytes,
                         std::uint64_t skip,
                         std::uint64_t each) {
    if (bytes <= skip || skip % each != 0) {
      return Done{};
    }
    const auto entries = table(address + skip, bytes - skip);
    if (!entries) {
      return entries.error();
    }
    const ByteView view = image_.encoding().view(*entries);
    for (std::uint64_t at = 0; at + each <= entries->size(); at += each) {
      add_slot(image_.encoding().address(view, at),
               image_.encoding().address(view, at + out_.word()));
    }
    return Done{};
  }

  void add_slot(std::uint64_t address, std::uint64_t info) {
    const bool wide = out_.encoding_.wide;
    const std::uint64_t type = wide ? ELF64_R_TYPE(info) : ELF32_R_TYPE(info);
    const std::uint64_t symbol = wide ? ELF64_R_SYM(info) : ELF32_R_SYM(info);
    const bool jump = type == types_->jump_slot, pointer = type == types_->address;
    const bool copy = type == types_->copy;
    if (symbol == 0 || symbol >= most_symbols ||
        (!jump && !pointer && !copy && type != types_->glob_dat)) {
      return;
    }
    const auto index = static_cast<std::uint32_t>(symbol);
    symbols_wanted_ = std::max<std::uint64_t>(symbols_wanted_, symbol + 1);
    if (copy) {
      out_.copies_.push_back(index);
    } else if (pointer && types_->address != types_->glob_dat) {
      out_.addresses_taken_.push_back(index);
    } else {
      out_.slots_.push_back({address, index, jump, 0});
    }
  }

  Result<Done> read_symbols() {
    const std::uint64_t each = out_.encoding_.wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    if (symbols_wanted_ == 0) {
      return Done{};
    }
    if (symbols_wanted_ > most_symbols) {
      return image_.fault(too_many);
    }
    auto symbols = table(value(DT_SYMTAB), symbols_wanted_ * each);
    auto strings = table(value(DT_STRTAB), value(DT_STRSZ));
    if (!symbols || !strings) {
      return symbols ? strings.error() : symbols.error();
    }
    out_.symbol_count_ = static_cast<std::uint32_t>(symbols_wanted_);
    out_.symbols_ = std::move(*symbols);
    out_.strings_ = std::move(*strings);
    return Done{};
  }

  Result<Done> read_version_tables() {
    if (!has(DT_VERSYM) || symbols_wanted_ == 0) {
      return Done{};
    }
    const auto numbers = table(value(DT_VERSYM), symbols_wanted_ * 2);
    const auto versions = read_versions(image_, entries_);
    if (!numbers || !versions) {
      return numbers ? versions.error() : numbers.error();
    }
    const ByteView view = image_.encoding().view(*numbers);
    out_.version_of_.resize(static_cast<std::size_t>(symbols_wanted_));
    for (std::size_t i = 0; i < out_.version_of_.size(); ++i) {
      out_.version_of_[i] = view.get<std::uint16_t>(2 * i).value_or(0);
    }
    const auto put = [](std::vector<std::string>& names, std::uint16_t index, std::string name) {
      const std::size_t at = index & 0x7FFFU;
      names.resize(std::max(names.size(), at + 1));
      names[at] = std::move(name);
    };
    for (const DefinedVersion& version : versions->defined) {
      put(out_.defined_, version.index, version.base ? "" : version.name);
    }
    for (const VersionNeed& need : versions->needed) {
      for (const NeededVersion& version : need.versions) {
        put(out_.needed_, version.index, version.name);
      }
    }
    return Done{};
  }

  Result<Done> read_initial_words() {
    for (ImportSlot& slot : out_.slots_) {
      const auto bytes = slot.jump
                             ? image_.at_address(slot.address, out_.word())
                             : Result<std::span<const std::byte>>(std::span<const std::byte>());
      if (bytes && !bytes->empty()) {
        slot.initial = image_.encoding().address(image_.encoding().view(*bytes), 0);
      }
    }
    return Done{};
  }

  void keep_foreign_addresses() {
    auto& taken = out_.addresses_taken_;
    std::sort(taken.begin(), taken.end());
    taken.erase(std::unique(taken.begin(), taken.end()), taken.end());
    taken.erase(std::remove_if(taken.begin(),
                               taken.end(),
                               [&](std::uint32_t index) { return out_.symbol(index).defined; }),
                taken.end());
  }

  FileImage image_;
  std::vector<DynamicEntry> entries_;
  std::optional<RelocationTypes> types_;
  std::uint64_t symbols_wanted_ = 0;
  Linkage out_;
};

Result<Linkage> Linkage::read(const File& file, std::string_view name) {
  auto image = FileImage::open(file, name);
  if (!image) {
    return image.error();
  }
  auto entries = image->dynamic_entries();
  if (!entries) {
    return entries.error();
  }
  return LinkageReader(std::move(*image), std::move(*entries)).read();
}

}  // namespace tracso::elf
