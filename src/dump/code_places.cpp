#include "dump/code_places.hpp"

#include "base/text.hpp"
#include "elf/file_image.hpp"
#include "elf/symbols.hpp"

#include <elf.h>

#include <algorithm>

namespace tracso::dump {
namespace {

std::optional<std::uint64_t> address_of_offset(const elf::FileImage& image, std::uint64_t offset) {
  for (const auto& segment : image.program_headers()) {
    if (segment.type == PT_LOAD && segment.offset <= offset &&
        offset - segment.offset < segment.file_bytes) {
      return segment.address + (offset - segment.offset);
    }
  }
  return std::nullopt;
}

}  // namespace

std::string CodePlaces::symbol_in(const Mapping& mapping, std::uint64_t file_offset) const {
  auto file =
      target_.process->open_mapped({mapping.start, mapping.end, mapping.device, mapping.inode});
  if (!file && target_.files != nullptr && !mapping.deleted) {
    file = target_.files->open({mapping.name});
  }
  if (!file) {
    return "";
  }
  const auto image = elf::FileImage::open(**file, mapping.name);
  const auto address = image ? address_of_offset(*image, file_offset) : std::nullopt;
  auto table =
      address ? elf::SymbolTable::open(**file, mapping.name) : Result<elf::SymbolTable>(Error{});
  if (!table) {
    return "";
  }
  const auto function = table->function_at(*address);
  return function && *function ? (*function)->name : "";
}

const CodePlace& CodePlaces::at(std::uint64_t address, const std::vector<Mapping>& mappings) {
  const auto after = std::upper_bound(
      mappings.begin(), mappings.end(), address, [](std::uint64_t value, const Mapping& mapping) {
        return value < mapping.start;
      });
  const Mapping* mapping = after == mappings.begin() ? nullptr : &*std::prev(after);
  mapping = mapping != nullptr && address < mapping->end ? mapping : nullptr;
  const auto [place, is_new] =
      known_.try_emplace({address, mapping == nullptr ? "" : mapping->name});
  if (is_new && mapping != nullptr) {
    place->second.library = base_name(mapping->name);
    if (mapping->has_file()) {
      place->second.symbol = symbol_in(*mapping, address - mapping->start + mapping->offset);
    }
  }
  return place->second;
}

}  // namespace tracso::dump
