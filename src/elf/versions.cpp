#include "elf/versions.hpp"

#include <elf.h>

#include <algorithm>
#include <utility>

namespace tracso::elf {
namespace {

constexpr std::size_t most_needed_files = 4096;
constexpr std::size_t most_versions = 32768;  // an index in DT_VERSYM has 15 bits
constexpr std::size_t most_version_text = std::size_t{4} << 20U;
constexpr std::string_view endless = "its tables of symbol versions do not end";

/// Walks the linked lists of both tables, which look the same in either ELF class (gABI has none of
/// this; the layouts are Elf64_Verdef and Elf64_Verneed of <elf.h>).
class VersionReader {
 public:
  VersionReader(FileImage& image, std::uint64_t strings) : image_(image), strings_(strings) {}

  Result<Done> read_needs(std::uint64_t address, std::vector<VersionNeed>& needs) {
    for (std::uint32_t step = 1; step != 0; address += step) {
      if (needs.size() == most_needed_files) {
        return image_.fault(endless);
      }
      const auto bytes = image_.at_address(address, sizeof(Elf64_Verneed));
      if (!bytes) {
        return bytes.error();
      }
      const ByteView view = image_.encoding().view(*bytes);
      const std::uint32_t file = view.get<std::uint32_t>(4).value_or(0);
      const std::uint32_t first = view.get<std::uint32_t>(8).value_or(0);
      step = view.get<std::uint32_t>(12).value_or(0);
      auto name = text(file);
      if (!name) {
        return name.error();
      }
      needs.push_back({std::move(*name), {}});
      if (const auto read = read_needed(address + first, needs.back().versions); !read) {
        return read;
      }
    }
    return Done{};
  }

  Result<Done> read_definitions(std::uint64_t address, std::vector<DefinedVersion>& defined) {
    for (std::uint32_t step = 1; step != 0; address += step) {
      if (++versions_ > most_versions) {
        return image_.fault(endless);
      }
      const auto bytes = image_.at_address(address, sizeof(Elf64_Verdef));
      if (!bytes) {
        return bytes.error();
      }
      const ByteView view = image_.encoding().view(*bytes);
      const std::uint16_t flags = view.get<std::uint16_t>(2).value_or(0);
      const std::uint16_t index = view.get<std::uint16_t>(4).value_or(0);
      const std::uint32_t first = view.get<std::uint32_t>(12).value_or(0);
      step = view.get<std::uint32_t>(16).value_or(0);
      auto name = name_of_definition(address + first);
      if (!name) {
        return name.error();
      }
      defined.push_back({std::move(*name),
                         (flags & VER_FLG_BASE) != 0,
                         static_cast<std::uint16_t>(index & 0x7FFFU)});
    }
    return Done{};
  }

 private:
  Result<Done> read_needed(std::uint64_t address, std::vector<NeededVersion>& versions) {
    for (std::uint32_t step = 1; step != 0; address += step) {
      if (++versions_ > most_versions) {
        return image_.fault(endless);
      }
      const auto bytes = image_.at_address(address, sizeof(Elf64_Vernaux));
      if (!bytes) {
        return bytes.error();
      }
      const ByteView view = image_.encoding().view(*bytes);
      const std::uint16_t flags = view.get<std::uint16_t>(4).value_or(0);
      const std::uint16_t index = view.get<std::uint16_t>(6).value_or(0);
      const std::uint32_t name_at = view.get<std::uint32_t>(8).value_or(0);
      step = view.get<std::uint32_t>(12).value_or(0);
      auto name = text(name_at);
      if (!name) {
        return name.error();
      }
      versions.push_back({std::move(*name),
                          (flags & VER_FLG_WEAK) != 0,
                          static_cast<std::uint16_t>(index & 0x7FFFU)});
    }
    return Done{};
  }

  // Further names of a definition are those of the versions it continues.
  Result<std::string> name_of_definition(std::uint64_t address) {
    const auto bytes = image_.at_address(address, sizeof(Elf64_Verdaux));
    if (!bytes) {
      return bytes.error();
    }
    return text(image_.encoding().view(*bytes).get<std::uint32_t>(0).value_or(0));
  }

  Result<std::string> text(std::uint32_t offset) {
    auto text = image_.text_at(strings_ + offset);
    text_bytes_ += text ? text->size() : 0;
    return text_bytes_ > most_version_text ? Result<std::string>(image_.fault(endless)) : text;
  }

  FileImage& image_;
  std::uint64_t strings_;
  std::size_t versions_ = 0, text_bytes_ = 0;
};

}  // namespace

Result<Versions> read_versions(const File& file, std::string_view name) {
  auto image = FileImage::open(file, name);
  if (!image) {
    return image.error();
  }
  const auto entries = image->dynamic_entries();
  if (!entries) {
    return entries.error();
  }
  return read_versions(*image, *entries);
}

Result<Versions> read_versions(FileImage& image, std::span<const DynamicEntry> entries) {
  Versions versions;
  VersionReader reader(image, find_value(entries, DT_STRTAB).value_or(0));
  if (const auto needs = find_value(entries, DT_VERNEED)) {
    if (const auto read = reader.read_needs(*needs, versions.needed); !read) {
      return read.error();
    }
  }
  if (const auto definitions = find_value(entries, DT_VERDEF)) {
    if (const auto read = reader.read_definitions(*definitions, versions.defined); !read) {
      return read.error();
    }
  }
  return versions;
}

std::vector<std::string> missing_versions(const VersionNeed& need, const Versions& definer) {
  std::vector<std::string> missing;
  if (definer.defined.empty()) {
    return missing;
  }
  for (const auto& version : need.versions) {
    const bool there = std::any_of(
        definer.defined.begin(), definer.defined.end(), [&](const DefinedVersion& defined) {
          return defined.name == version.name;
        });
    if (!there && !version.weak) {
      missing.push_back(version.name);
    }
  }
  return missing;
}

}  // namespace tracso::elf
