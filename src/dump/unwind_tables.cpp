#include "dump/unwind_tables.hpp"

#include "base/byte_view.hpp"
#include "dump/code_places.hpp"
#include "elf/memory_image.hpp"

#include <elf.h>

#include <algorithm>
#include <array>

namespace tracso::dump {
namespace {

// DW_EH_PE_*: how numbers are written. Linkers write the header in one way only.
constexpr std::uint8_t version = 1, relative_signed_4 = 0x1b, unsigned_4 = 0x03,
                       header_relative_signed_4 = 0x3b;
constexpr std::uint64_t head_bytes = 12;  // version and encodings, .eh_frame, number of entries

// A library may be mapped several times (dlmopen): of its mappings, the one with the file's first
// byte that lies next below. The vdso is no file.
std::uint64_t first_byte_of(const std::vector<Mapping>& mappings, const Mapping& code) {
  for (auto i = static_cast<std::size_t>(&code - mappings.data()) + 1; i > 0; --i) {
    const Mapping& at = mappings[i - 1];
    const bool same = at.device == code.device && at.inode == code.inode && at.name == code.name;
    if (same && at.offset == 0) {
      return at.start;
    }
    if (!same && at.has_file()) {
      break;
    }
  }
  return 0;
}

}  // namespace

std::optional<UnwindTables> UnwindTableFinder::read(std::uint64_t object) const {
  const auto image = elf::MemoryImage::at_header(process_, object);
  if (!image || image->elf_class() != ElfClass::elf64) {
    return std::nullopt;
  }
  UnwindTables tables;
  tables.code_start = UINT64_MAX;
  for (const auto& segment : image->program_headers()) {
    const auto start = image->bias() + segment.address;
    if (segment.type == PT_LOAD) {
      tables.code_start = std::min(tables.code_start, start);
      tables.code_end = std::max(tables.code_end, start + segment.memory_bytes);
    } else if (segment.type == PT_GNU_EH_FRAME) {
      tables.header = start;
    }
  }
  std::array<std::byte, head_bytes> head{};
  if (tables.header == 0 || !process_.read_memory(tables.header, head)) {
    return std::nullopt;
  }
  const ByteView view{std::span<const std::byte>(head)};
  const auto byte = [&](std::size_t at) { return std::to_integer<std::uint8_t>(head.at(at)); };
  if (byte(0) != version || byte(1) != relative_signed_4 || byte(2) != unsigned_4 ||
      byte(3) != header_relative_signed_4) {
    return std::nullopt;
  }
  tables.table = tables.header + head_bytes;
  tables.entries = view.get<std::uint32_t>(8).value_or(0);
  return tables;
}

std::optional<UnwindTables> UnwindTableFinder::at(std::uint64_t address) {
  const auto* mapping = mappings_ == nullptr ? nullptr : mapping_at(*mappings_, address);
  if (mapping == nullptr || !mapping->executable || mapping->name.empty()) {
    return std::nullopt;
  }
  const auto object = first_byte_of(*mappings_, *mapping);
  if (object == 0) {
    return std::nullopt;
  }
  const auto known = known_.find(object);
  return known != known_.end() ? known->second : known_.emplace(object, read(object)).first->second;
}

}  // namespace tracso::dump
