#include "elf/memory_image.hpp"

#include "base/byte_view.hpp"

#include <fmt/format.h>

#include <elf.h>

#include <algorithm>
#include <bit>
#include <string_view>

namespace tracso::elf {
namespace {

// Real sections have some 30 entries, the largest seen (2 dependencies per DT_NEEDED) a few
// hundred.
constexpr std::size_t most_entries_in_memory = 4096;
constexpr std::size_t first_page = 4096;

std::size_t word_size(ElfClass elf_class) {
  return elf_class == ElfClass::elf32 ? 4 : 8;
}

/// Addresses of a 32-bit process wrap at 4 GiB.
std::uint64_t wrap(ElfClass elf_class, std::uint64_t address) {
  return elf_class == ElfClass::elf32 ? address & 0xffffffffU : address;
}

std::uint64_t word_at(const ByteView& bytes, ElfClass elf_class, std::uint64_t offset) {
  return elf_class == ElfClass::elf32 ? bytes.get<std::uint32_t>(offset).value_or(0)
                                      : bytes.get<std::uint64_t>(offset).value_or(0);
}

Error malformed(const ProcessSource& process, std::uint64_t address, std::string reason) {
  return Error{ErrorKind::malformed,
               "read ELF object",
               fmt::format("at {:#x} of pid {}", address, process.pid()),
               std::move(reason),
               ""};
}

Result<std::string> read_bytes(const ProcessSource& process,
                               std::uint64_t address,
                               std::size_t count) {
  std::string bytes(count, '\0');
  if (auto done = process.read_memory(address, std::as_writable_bytes(std::span(bytes))); !done) {
    return done.error();
  }
  return bytes;
}

ProgramHeader header_from(const ByteView& bytes, ElfClass elf_class, std::uint64_t at) {
  ProgramHeader header;
  const std::uint64_t word = word_size(elf_class);
  header.type = bytes.get<std::uint32_t>(at).value_or(0);
  header.flags = bytes.get<std::uint32_t>(at + (word == 8 ? 4 : 24)).value_or(0);
  const std::uint64_t first = at + word;  // p_offset, p_vaddr, p_paddr, p_filesz, p_memsz
  header.offset = word_at(bytes, elf_class, first);
  header.address = word_at(bytes, elf_class, first + word);
  header.file_bytes = word_at(bytes, elf_class, first + 3 * word);
  header.memory_bytes = word_at(bytes, elf_class, first + 4 * word);
  return header;
}

Result<std::vector<ProgramHeader>> read_headers(const ProcessSource& process,
                                                std::uint64_t address,
                                                std::uint64_t count,
                                                ElfClass elf_class) {
  if (count == 0 || count > most_program_headers) {
    return malformed(process, address, fmt::format("{} program headers", count));
  }
  const std::size_t size = elf_class == ElfClass::elf32 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
  auto bytes = read_bytes(process, address, static_cast<std::size_t>(count) * size);
  if (!bytes) {
    return bytes.error();
  }
  std::vector<ProgramHeader> headers;
  for (std::uint64_t at = 0; at < bytes->size(); at += size) {
    headers.push_back(header_from(ByteView(*bytes), elf_class, at));
  }
  return headers;
}

const ProgramHeader* find_header(const std::vector<ProgramHeader>& headers, std::uint32_t type) {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const ProgramHeader& header) {
    return header.type == type;
  });
  return found == headers.end() ? nullptr : &*found;
}

/// Where the file's first byte lies relative to the bias; nullopt: no segment holds it.
std::optional<std::uint64_t> header_address(const std::vector<ProgramHeader>& headers) {
  for (const auto& header : headers) {
    if (header.type == PT_LOAD && header.offset < first_page) {
      return header.address - header.offset;
    }
  }
  return std::nullopt;
}

using DynamicEntries = std::vector<std::pair<std::int64_t, std::uint64_t>>;

/// Adds the entries in `bytes`; true: DT_NULL was among them.
bool add_entries(const std::string& bytes, ElfClass elf_class, DynamicEntries& entries) {
  const std::size_t word = word_size(elf_class);
  const ByteView view(bytes);
  for (std::size_t at = 0; at + 2 * word <= bytes.size(); at += 2 * word) {
    const std::uint64_t raw = word_at(view, elf_class, at);
    if (raw == DT_NULL) {
      return true;
    }
    const std::int64_t tag = word == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(raw))
                                       : static_cast<std::int64_t>(raw);
    entries.emplace_back(tag, word_at(view, elf_class, at + word));
  }
  return false;
}

// The size of a section found through a link map is not known: it goes to DT_NULL, and memory may
// end right behind that.
Result<DynamicEntries> read_dynamic(const ProcessSource& process,
                                    std::uint64_t address,
                                    std::size_t most,
                                    ElfClass elf_class) {
  constexpr std::size_t at_once = 32;
  const std::size_t entry = 2 * word_size(elf_class);
  DynamicEntries entries;
  for (std::size_t read = 0; read < most;) {
    std::size_t count = std::min(at_once, most - read);
    auto bytes = read_bytes(process, address + read * entry, count * entry);
    if (!bytes && count > 1) {
      count = 1;
      bytes = read_bytes(process, address + read * entry, entry);
    }
    if (!bytes) {
      return bytes.error();
    }
    if (add_entries(*bytes, elf_class, entries)) {
      return entries;
    }
    read += count;
  }
  if (most >= most_entries_in_memory) {
    return malformed(process, address, "the dynamic section has no end");
  }
  return entries;
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
  return a < b ? b - a : a - b;
}

}  // namespace

Result<Done> MemoryImage::load_dynamic(const ProcessSource& process, std::uint64_t most_bytes) {
  const std::uint64_t entry = 2 * word_size(class_);
  const auto most =
      static_cast<std::size_t>(std::min<std::uint64_t>(most_bytes / entry, most_entries_in_memory));
  auto entries = read_dynamic(process, dynamic_address_, most, class_);
  if (!entries) {
    return entries.error();
  }
  dynamic_ = std::move(*entries);
  return Done{};
}

Result<Done> MemoryImage::load_segment(const ProcessSource& process) {
  const auto* segment = find_header(headers_, PT_DYNAMIC);
  if (segment == nullptr) {
    return Done{};
  }
  dynamic_address_ = wrap(class_, bias_ + segment->address);
  return load_dynamic(process, segment->memory_bytes);
}

Result<MemoryImage> MemoryImage::at_header(const ProcessSource& process, std::uint64_t header) {
  auto bytes = read_bytes(process, header, sizeof(Elf64_Ehdr));
  if (!bytes) {
    return bytes.error();
  }
  const auto& ident = *bytes;
  const bool class_known = ident[EI_CLASS] == ELFCLASS32 || ident[EI_CLASS] == ELFCLASS64;
  if (ident.compare(0, SELFMAG, ELFMAG) != 0 || !class_known) {
    return malformed(process, header, "no ELF header there");
  }
  constexpr char native = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (ident[EI_DATA] != native) {
    return malformed(process, header, "it has another byte order than this machine");
  }
  MemoryImage image;
  image.class_ = ident[EI_CLASS] == ELFCLASS32 ? ElfClass::elf32 : ElfClass::elf64;
  const bool wide = image.class_ == ElfClass::elf64;
  const ByteView view(ident);
  const std::uint64_t offset = word_at(view, image.class_, wide ? 32 : 28);
  const std::uint16_t count = view.get<std::uint16_t>(wide ? 56 : 44).value_or(0);
  auto headers = read_headers(process, wrap(image.class_, header + offset), count, image.class_);
  if (!headers) {
    return headers.error();
  }
  image.headers_ = std::move(*headers);
  // The first segment of a non-PIE program, and of some libraries, is not linked at address 0.
  const auto first = header_address(image.headers_);
  if (!first) {
    return malformed(process, header, "no segment holds the ELF header");
  }
  image.bias_ = wrap(image.class_, header - *first);
  if (auto done = image.load_segment(process); !done) {
    return done.error();
  }
  return image;
}

Result<MemoryImage> MemoryImage::at_program_headers(const ProcessSource& process,
                                                    std::uint64_t phdr,
                                                    std::uint64_t count,
                                                    ElfClass elf_class) {
  auto headers = read_headers(process, phdr, count, elf_class);
  if (!headers) {
    return headers.error();
  }
  MemoryImage image;
  image.class_ = elf_class;
  image.headers_ = std::move(*headers);
  if (const auto* self = find_header(image.headers_, PT_PHDR); self != nullptr) {
    image.bias_ = wrap(elf_class, phdr - self->address);
  } else if (const auto first = header_address(image.headers_)) {
    // Static programs have no PT_PHDR; their table follows the ELF header.
    const std::size_t before =
        elf_class == ElfClass::elf32 ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr);
    const auto magic = read_bytes(process, phdr - before, SELFMAG);
    image.bias_ = magic && *magic == ELFMAG ? wrap(elf_class, phdr - before - *first) : 0;
  }
  if (auto done = image.load_segment(process); !done) {
    return done.error();
  }
  return image;
}

Result<MemoryImage> MemoryImage::at_dynamic(const ProcessSource& process,
                                            std::uint64_t bias,
                                            std::uint64_t dynamic,
                                            ElfClass elf_class) {
  MemoryImage image;
  image.class_ = elf_class;
  image.bias_ = wrap(elf_class, bias);
  image.dynamic_address_ = dynamic;
  constexpr std::uint64_t unknown = ~std::uint64_t{0};
  if (auto done = image.load_dynamic(process, unknown); !done) {
    return done.error();
  }
  return image;
}

std::optional<std::uint64_t> MemoryImage::dynamic_value(std::int64_t tag) const {
  for (const auto& [key, value] : dynamic_) {
    if (key == tag) {
      return value;
    }
  }
  return std::nullopt;
}

// glibc adds the bias to the pointers of a dynamic section it may write to; musl never does, and
// the vDSO's is read-only. Which it was shows by where the value points: into the object or not.
std::uint64_t MemoryImage::located(std::uint64_t value) const {
  const std::uint64_t moved = wrap(class_, value + bias_);
  return distance(value, dynamic_address_) <= distance(moved, dynamic_address_) ? value : moved;
}

std::optional<std::string> read_text(const ProcessSource& process,
                                     std::uint64_t address,
                                     std::size_t limit) {
  // A piece that starts at a multiple of its size crosses no page end, so the text before an
  // unmapped page is still read.
  constexpr std::size_t piece = 64;
  std::string text;
  while (text.size() < limit) {
    const std::uint64_t at = address + text.size();
    const std::size_t room =
        std::min(piece - static_cast<std::size_t>(at % piece), limit - text.size());
    const auto bytes = read_bytes(process, at, room);
    if (!bytes) {
      return std::nullopt;
    }
    const std::size_t end = bytes->find('\0');
    text.append(*bytes, 0, end);
    if (end != std::string::npos) {
      return text;
    }
  }
  return std::nullopt;
}

}  // namespace tracso::elf
