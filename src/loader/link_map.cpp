#include "loader/link_map.hpp"

#include "base/byte_view.hpp"
#include "elf/memory_image.hpp"
#include "loader/link_map_walk.hpp"
#include "proc/paged_process.hpp"

#include <fmt/format.h>

#include <elf.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace tracso::loader {
namespace {

using elf::MemoryImage;

Error no_list(const ProcessSource& process, ErrorKind kind, std::string reason) {
  return Error{
      kind, "read link maps", fmt::format("of pid {}", process.pid()), std::move(reason), ""};
}

/// Where r_debug is, and how that was found.
struct DebugPlace {
  std::uint64_t address = 0;
  std::string via;
};

std::optional<std::uint64_t> read_pointer(const ProcessSource& process,
                                          std::uint64_t address,
                                          ElfClass elf_class) {
  const auto words = SteadyMemory(process, elf_class).peek(address, 1);
  return words.empty() ? std::nullopt : std::optional(words.front());
}

/// By the symbols of an ld.so: glibc exports the struct, musl a pointer to it.
std::optional<DebugPlace> place_by_symbol(const ProcessSource& process, const MemoryImage& loader) {
  if (const auto symbol = loader.symbol(process, "_r_debug")) {
    return DebugPlace{symbol->address, "_r_debug symbol"};
  }
  if (const auto symbol = loader.symbol(process, "_dl_debug_addr")) {
    if (const auto address = read_pointer(process, symbol->address, loader.elf_class())) {
      return DebugPlace{*address, "_dl_debug_addr symbol"};
    }
  }
  return std::nullopt;
}

/// DT_DEBUG of the program. As `ld.so ./program` the headers the kernel knows are ld.so's, which
/// has none; then, and for a program linked without one, ld.so's symbols tell.
Result<DebugPlace> find_debug(const ProcessSource& process, const proc::Auxv& auxv) {
  const auto program =
      MemoryImage::at_program_headers(process, auxv.phdr, auxv.phnum, auxv.elf_class);
  if (!program) {
    return program.error();
  }
  const auto debug = program->dynamic_value(DT_DEBUG);
  if (debug.value_or(0) != 0) {
    return DebugPlace{*debug, "DT_DEBUG"};
  }
  if (auxv.base == 0) {
    if (const auto place = place_by_symbol(process, *program)) {
      return *place;
    }
    return no_list(process, ErrorKind::unsupported, "no DT_DEBUG: statically linked");
  }
  const auto loader = MemoryImage::at_header(process, auxv.base);
  if (!loader) {
    return loader.error();
  }
  if (const auto place = place_by_symbol(process, *loader)) {
    return *place;
  }
  return debug ? no_list(process, ErrorKind::not_found, "the loader has made no list yet")
               : no_list(
                     process, ErrorKind::unsupported, "no DT_DEBUG, and the loader has no symbols");
}

std::optional<std::size_t> mapping_of(std::span<const Mapping> mappings, std::uint64_t address) {
  const auto after = std::upper_bound(
      mappings.begin(), mappings.end(), address, [](std::uint64_t at, const Mapping& mapping) {
        return at < mapping.start;
      });
  if (after == mappings.begin() || address >= std::prev(after)->end) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(std::prev(after) - mappings.begin());
}

/// The mark of the program from its ELF header: as `ld.so ./program` the kernel's words are
/// ld.so's.
ProgramMark mark_from_header(const ProcessSource& process,
                             std::span<const Mapping> mappings,
                             const LinkMapEntry& entry,
                             ElfClass elf_class) {
  if (!entry.mapping) {
    return {};
  }
  const auto& inside = mappings[*entry.mapping];
  auto first = static_cast<std::ptrdiff_t>(*entry.mapping);
  const auto starts_file = [&](const Mapping& mapping) {
    return mapping.offset == 0 && mapping.inode == inside.inode && mapping.device == inside.device;
  };
  while (first >= 0 && !starts_file(mappings[static_cast<std::size_t>(first)])) {
    --first;
  }
  std::array<std::byte, sizeof(Elf64_Ehdr)> raw{};
  if (first < 0 || !inside.has_file() ||
      !process.read_memory(mappings[static_cast<std::size_t>(first)].start, raw)) {
    return {};
  }
  const std::uint64_t start = mappings[static_cast<std::size_t>(first)].start;
  const ByteView view{std::span<const std::byte>(raw)};
  if (elf_class == ElfClass::elf32) {
    return {start + view.get<std::uint32_t>(28).value_or(0),
            (entry.bias + view.get<std::uint32_t>(24).value_or(0)) & 0xffffffffU,
            view.get<std::uint16_t>(44).value_or(0)};
  }
  return {start + view.get<std::uint64_t>(32).value_or(0),
          entry.bias + view.get<std::uint64_t>(24).value_or(0),
          view.get<std::uint16_t>(56).value_or(0)};
}

/// Where the records of all lists seem to be, read a page at a time: the loader makes them one
/// after the other, so a page has several. A hint: the walk reads each again, but all in one go.
/// Empty where no more may be read than is needed.
std::vector<std::uint64_t> records_ahead(const ProcessSource& process,
                                         ElfClass elf_class,
                                         std::span<const std::uint64_t> r_debugs) {
  std::vector<std::uint64_t> records;
  if (!process.may_read_ahead()) {
    return records;
  }
  constexpr std::size_t most_records = 16384, next_word = 3;
  const proc::PagedProcess paged(process);
  const SteadyMemory memory(paged, elf_class);
  for (const std::uint64_t r_debug : r_debugs) {
    const auto debug = memory.peek(r_debug, 2);
    std::uint64_t at = debug.empty() ? 0 : debug.back();
    while (at != 0 && records.size() < most_records) {
      records.push_back(at);
      const auto words = memory.peek(at, next_word + 1);
      at = words.empty() ? 0 : words.back();
    }
  }
  return records;
}

/// One try: everything from r_debug on.
class Attempt {
 public:
  Attempt(const ProcessSource& process, std::span<const Mapping> mappings, const proc::Auxv& auxv)
      : process_(process), mappings_(mappings), auxv_(auxv), memory_(process, auxv.elf_class) {}

  LinkMaps read(const DebugPlace& place) {
    LinkMaps maps;
    maps.elf_class = auxv_.elf_class;
    maps.via = place.via;
    std::vector<std::uint64_t> r_debugs =
        unchained_spaces(process_, auxv_.elf_class, place.address);
    r_debugs.insert(r_debugs.begin(), place.address);
    const RawMaps raw =
        walk_link_maps(memory_, r_debugs, records_ahead(process_, auxv_.elf_class, r_debugs));
    maps.inconsistency = raw.problem;
    if (!raw.entries.empty()) {
      add_public(raw, maps);
      const std::array<ProgramMark, 2> marks{
          ProgramMark{auxv_.phdr, auxv_.entry, auxv_.phnum},
          mark_from_header(process_, mappings_, maps.entries.front(), auxv_.elf_class)};
      fill_private_fields(memory_, raw, marks, maps);
      lend_loader(raw, maps);
    }
    if (maps.inconsistency.empty() && !memory_.unchanged()) {
      maps.inconsistency = "the list of objects changed while it was read";
    }
    maps.consistent = maps.inconsistency.empty();
    return maps;
  }

 private:
  void add_public(const RawMaps& raw, LinkMaps& maps) {
    std::size_t position = 0;
    for (std::size_t i = 0; i < raw.entries.size(); ++i) {
      const auto& from = raw.entries[i];
      position = i > 0 && raw.entries[i - 1].space == from.space ? position + 1 : 0;
      LinkMapEntry entry;
      entry.address = from.address;
      entry.bias = from.bias;
      entry.dynamic = from.dynamic;
      entry.space = from.space;
      entry.position = position;
      entry.mapping = mapping_of(mappings_, from.dynamic);
      if (!maps.loader && from.space == 0 && raw.loader_base != 0 && from.bias == raw.loader_base) {
        maps.loader = i;
      }
      maps.entries.push_back(std::move(entry));
    }
    add_names(raw, maps);
  }

  void add_names(const RawMaps& raw, LinkMaps& maps) {
    std::vector<TextWish> wishes;
    for (std::size_t i = 0; i < raw.entries.size(); ++i) {
      const auto mapping = maps.entries[i].mapping;
      const auto path = mapping ? std::string_view(mappings_[*mapping].name) : std::string_view();
      wishes.push_back({raw.entries[i].name, "", path});
    }
    auto names = memory_.texts_of(wishes);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i]) {
        maps.entries[i].name = std::move(*names[i]);
      } else if (raw.entries[i].name != 0 && maps.inconsistency.empty()) {
        maps.inconsistency = fmt::format("the name of object {} is unreadable", i);
      }
    }
  }

  // Before 2.35 ld.so's stand-in in another namespace had no address of its own.
  static void lend_loader(const RawMaps& raw, LinkMaps& maps) {
    for (std::size_t i = 0; i < maps.entries.size() && maps.loader; ++i) {
      auto& entry = maps.entries[i];
      const auto& real = maps.entries[*maps.loader];
      if (entry.proxy && entry.dynamic == 0 && raw.entries[i].real == real.address) {
        entry.bias = real.bias;
        entry.dynamic = real.dynamic;
        entry.mapping = real.mapping;
      }
    }
  }

  const ProcessSource& process_;
  std::span<const Mapping> mappings_;
  const proc::Auxv& auxv_;
  SteadyMemory memory_;
};

}  // namespace

Result<LinkMaps> read_link_maps(const ProcessSource& process,
                                std::span<const Mapping> mappings,
                                const proc::Auxv& auxv,
                                int tries) {
  const auto place = find_debug(process, auxv);
  if (!place) {
    return place.error();
  }
  LinkMaps maps;
  for (int number = 1;; ++number) {
    maps = Attempt(process, mappings, auxv).read(*place);
    maps.tries = number;
    if ((maps.consistent && !maps.entries.empty()) || number >= tries) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(250 * number));
  }
  if (!maps.entries.empty()) {
    return maps;
  }
  return maps.consistent ? no_list(process, ErrorKind::not_found, "the loader has made no list yet")
                         : no_list(process, ErrorKind::malformed, maps.inconsistency);
}

std::vector<std::optional<DynamicSection>> read_dynamic_sections(const ProcessSource& process,
                                                                 const LinkMaps& maps) {
  std::vector<std::optional<DynamicSection>> sections;
  for (const auto& entry : maps.entries) {
    auto& section = sections.emplace_back();
    if (entry.dynamic == 0) {
      continue;
    }
    const auto image = MemoryImage::at_dynamic(process, entry.bias, entry.dynamic, maps.elf_class);
    if (auto read =
            image ? image->dynamic_section(process) : Result<DynamicSection>(image.error())) {
      section = std::move(*read);
    }
  }
  return sections;
}

}  // namespace tracso::loader
