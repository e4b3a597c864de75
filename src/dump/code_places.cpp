#include "dump/code_places.hpp"

#include "base/text.hpp"
#include "elf/file_image.hpp"

#include <elf.h>

#include <algorithm>

namespace tracso::dump {

const Mapping* mapping_at(const std::vector<Mapping>& mappings, std::uint64_t address) {
  const auto after = std::upper_bound(
      mappings.begin(), mappings.end(), address, [](std::uint64_t value, const Mapping& mapping) {
        return value < mapping.start;
      });
  const Mapping* mapping = after == mappings.begin() ? nullptr : &*std::prev(after);
  return mapping != nullptr && address < mapping->end ? mapping : nullptr;
}

CodePlaces::Code CodePlaces::read(const Mapping& mapping) const {
  Code code;
  auto file =
      target_.process->open_mapped({mapping.start, mapping.end, mapping.device, mapping.inode});
  if (!file && target_.files != nullptr && !mapping.deleted) {
    file = target_.files->open({mapping.name});
  }
  if (!file) {
    return code;
  }
  if (const auto image = elf::FileImage::open(**file, mapping.name)) {
    const auto headers = image->program_headers();
    for (const auto& segment : headers) {
      if (segment.type == PT_LOAD) {
        code.segments.push_back({segment.offset, segment.file_bytes, segment.address});
      }
    }
    if (auto functions = elf::FunctionTable::read(std::move(*file), mapping.name)) {
      code.functions = std::move(*functions);
    }
  }
  return code;
}

const CodePlaces::Code& CodePlaces::code_of(const Mapping& mapping) {
  const std::pair key(mapping.device, mapping.inode);
  const auto known = files_.find(key);
  return known != files_.end() ? known->second : files_.emplace(key, read(mapping)).first->second;
}

const CodePlace& CodePlaces::at(std::uint64_t address, const std::vector<Mapping>& mappings) {
  const Mapping* mapping = mapping_at(mappings, address);
  const auto [entry, is_new] =
      known_.try_emplace({address, mapping == nullptr ? "" : mapping->name});
  auto& place = entry->second;
  if (!is_new || mapping == nullptr) {
    return place;
  }
  place.library = base_name(mapping->name);
  place.offset = address - mapping->start + mapping->offset;
  if (!mapping->has_file()) {
    return place;
  }
  const auto& code = code_of(*mapping);
  const auto segment =
      std::find_if(code.segments.begin(), code.segments.end(), [&](const Code::Segment& one) {
        return one.offset <= place.offset && place.offset - one.offset < one.bytes;
      });
  if (segment == code.segments.end()) {
    return place;
  }
  place.offset = segment->address + (place.offset - segment->offset);
  const auto function = code.functions ? code.functions->at(place.offset) : std::nullopt;
  if (function) {
    place.symbol = function->name;
    place.into = place.offset - function->address;
  }
  return place;
}

}  // namespace tracso::dump
