#include "elf/file_image.hpp"

#include <elf.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace tracso::elf {
namespace {

constexpr std::uint64_t most_dynamic_entries = 16384;
constexpr std::string_view cut_short = "cannot read file data";

}  // namespace

std::span<const std::byte> FileImage::Window::from(std::uint64_t offset) const {
  if (offset < start || offset - start >= bytes) {
    return {};
  }
  return std::span(content).first(bytes).subspan(static_cast<std::size_t>(offset - start));
}

Result<FileImage> FileImage::open(const File& file, std::string_view name) {
  FileImage image(file, name);
  if (const auto filled = image.fill(image.start_, 0); !filled) {
    return filled.error();
  }
  auto header = parse_file_header(image.start_.from(0), name);
  if (!header) {
    return header.error();
  }
  image.header_ = *header;
  if (const auto read = image.read_program_headers(); !read) {
    return read.error();
  }
  return image;
}

Result<Done> FileImage::fill(Window& window, std::uint64_t offset) {
  window.start = offset;
  window.bytes = 0;
  if (offset > std::uint64_t{std::numeric_limits<std::int64_t>::max()} - window_bytes) {
    return Done{};  // pread(2) would call it an invalid argument; it is behind the end of every
                    // file
  }
  const auto got = file_->read_at(offset, window.content);
  if (!got) {
    return got.error();
  }
  window.bytes = std::min(*got, window.content.size());
  return Done{};
}

Result<Done> FileImage::read_program_headers() {
  if (header_.program_header_count > most_program_headers) {
    return fault("more program headers than the kernel takes");
  }
  const std::uint64_t each = program_header_bytes(encoding());
  segments_.reserve(header_.program_header_count);
  for (std::uint64_t i = 0; i < header_.program_header_count; ++i) {
    const auto bytes = at(header_.program_headers + i * each, static_cast<std::size_t>(each));
    if (!bytes) {
      return bytes.error();
    }
    segments_.push_back(parse_program_header(*bytes, encoding()));
  }
  return Done{};
}

const ProgramHeader* FileImage::segment(std::uint32_t type) const {
  const auto found =
      std::find_if(segments_.begin(), segments_.end(), [type](const ProgramHeader& header) {
        return header.type == type;
      });
  return found == segments_.end() ? nullptr : &*found;
}

const ProgramHeader* FileImage::dynamic_segment() const {
  const auto last =
      std::find_if(segments_.rbegin(), segments_.rend(), [](const ProgramHeader& header) {
        return header.type == PT_DYNAMIC && header.file_bytes != 0;
      });
  return last == segments_.rend() ? nullptr : &*last;
}

Result<std::vector<DynamicEntry>> FileImage::dynamic_entries() {
  std::vector<DynamicEntry> entries;
  const ProgramHeader* segment = dynamic_segment();
  if (segment == nullptr) {
    return entries;
  }
  const auto place = locate(segment->address);
  if (!place) {
    // In memory but not in the file (a file of debug symbols): zeros, which is DT_NULL at once.
    return entries;
  }
  const std::uint64_t each = 2 * encoding().word();
  const std::uint64_t count = std::min(segment->memory_bytes, place->room) / each;
  entries.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(count, 64)));
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i == most_dynamic_entries) {
      return fault("more entries in the dynamic section than any linker writes");
    }
    const auto bytes = at(place->offset + i * each, static_cast<std::size_t>(each));
    if (!bytes) {
      return bytes.error();
    }
    const ByteView view = encoding().view(*bytes);
    const DynamicEntry entry{encoding().address(view, 0),
                             encoding().address(view, encoding().word())};
    if (entry.tag == DT_NULL) {
      break;
    }
    entries.push_back(entry);
  }
  return entries;
}

std::optional<FileImage::Place> FileImage::locate(std::uint64_t address) const {
  for (const auto& segment : segments_) {
    if (segment.type == PT_LOAD && address >= segment.address &&
        address - segment.address < segment.file_bytes) {
      const std::uint64_t into = address - segment.address;
      return Place{segment.offset + into, segment.file_bytes - into};
    }
  }
  return std::nullopt;
}

// At least one byte, unless the file ends before.
// What an earlier read brought of that place, if it is at least `count` bytes.
std::span<const std::byte> FileImage::seen_at(std::uint64_t offset, std::size_t count) const {
  if (const auto bytes = start_.from(offset); bytes.size() >= count) {
    return bytes;
  }
  for (const Window& window : windows_) {
    if (const auto bytes = window.from(offset); bytes.size() >= count) {
      return bytes;
    }
  }
  return {};
}

Result<std::span<const std::byte>> FileImage::fill_oldest(std::uint64_t offset) {
  Window& window = windows_[oldest_];
  oldest_ = (oldest_ + 1) % windows_.size();
  if (const auto filled = fill(window, offset); !filled) {
    return filled.error();
  }
  return window.from(offset);
}

Result<std::span<const std::byte>> FileImage::some_at(std::uint64_t offset) {
  const auto bytes = seen_at(offset, 1);
  return bytes.empty() ? fill_oldest(offset) : bytes;
}

Result<std::span<const std::byte>> FileImage::at(std::uint64_t offset, std::size_t count) {
  if (const auto seen = seen_at(offset, std::max<std::size_t>(count, 1)); !seen.empty()) {
    return seen.first(count);
  }
  const auto filled = fill_oldest(offset);
  if (!filled) {
    return filled.error();
  }
  const auto bytes = *filled;
  if (bytes.size() < count) {
    return fault(cut_short);
  }
  return bytes.first(count);
}

Result<std::span<const std::byte>> FileImage::at_address(std::uint64_t address, std::size_t count) {
  const auto place = locate(address);
  if (!place || place->room < count) {
    return fault(cut_short);
  }
  return at(place->offset, count);
}

Result<std::string> FileImage::text_at(std::uint64_t address) {
  const auto place = locate(address);
  if (!place) {
    return fault("a name lies outside the file");
  }
  const std::uint64_t room = std::min<std::uint64_t>(place->room, longest_text);
  std::string text;
  while (text.size() < room) {
    const auto some = some_at(place->offset + text.size());
    if (!some) {
      return some.error();
    }
    if (some->empty()) {
      return fault(cut_short);
    }
    const auto* start = reinterpret_cast<const char*>(some->data());
    const auto usable =
        static_cast<std::size_t>(std::min<std::uint64_t>(some->size(), room - text.size()));
    const std::string_view piece(start, usable);
    const std::size_t end = piece.find('\0');
    text += piece.substr(0, end);
    if (end != std::string_view::npos) {
      return text;
    }
  }
  return fault(room < longest_text ? "a name does not end" : "a name is longer than 64 KB");
}

Result<std::vector<std::string>> FileImage::texts_at(std::uint64_t table,
                                                     std::span<const std::uint64_t> offsets,
                                                     std::size_t most_bytes) {
  std::vector<std::size_t> order(offsets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return offsets[a] < offsets[b];
  });
  std::vector<std::string> texts(offsets.size());
  std::size_t total = 0;
  for (const std::size_t i : order) {
    auto text = text_at(table + offsets[i]);
    if (!text) {
      return text.error();
    }
    total += text->size();
    if (total > most_bytes) {
      return fault("more text than any linker writes");
    }
    texts[i] = std::move(*text);
  }
  return texts;
}

std::optional<std::uint64_t> bytes_in_memory(std::span<const std::byte> start) {
  constexpr std::uint64_t page = 4096;
  const auto header = parse_file_header(start, "");
  const std::uint64_t each = header ? program_header_bytes(header->encoding) : 0;
  if (!header || header->program_headers > start.size() ||
      header->program_header_count > (start.size() - header->program_headers) / each) {
    return std::nullopt;
  }
  std::optional<std::uint64_t> first;
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < header->program_header_count; ++i) {
    const auto segment = parse_program_header(
        start.subspan(static_cast<std::size_t>(header->program_headers + i * each)),
        header->encoding);
    if (segment.type == PT_LOAD) {
      if (segment.memory_bytes > UINT64_MAX - segment.address) {
        return std::nullopt;
      }
      first = !first && segment.offset < page ? segment.address - segment.offset : first;
      end = std::max(end, segment.address + segment.memory_bytes);
    }
  }
  return first && end >= *first ? std::optional(end - *first) : std::nullopt;
}

std::optional<std::uint64_t> find_value(std::span<const DynamicEntry> entries, std::uint64_t tag) {
  const auto found = std::find_if(entries.rbegin(),
                                  entries.rend(),
                                  [tag](const DynamicEntry& entry) { return entry.tag == tag; });
  return found == entries.rend() ? std::nullopt : std::optional(found->value);
}

}  // namespace tracso::elf
