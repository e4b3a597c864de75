// The strings of a dynamic section out of memory. They all lie in one table, so one batched read
// brings nearly every section in; a name longer than a piece is read again on its own.

#include "elf/dynamic_strings.hpp"
#include "elf/memory_image.hpp"

#include <fmt/format.h>

#include <elf.h>

#include <algorithm>
#include <array>

namespace tracso::elf {
namespace {

constexpr std::size_t longest_string = 4096;

/// One name of the section and the first piece of its text.
struct StringWish {
  std::int64_t tag = 0;
  std::uint64_t address = 0;
  std::size_t wanted = 0;  // bytes of `start` that lie in the string table
  std::array<char, 128> start{};
};

/// The text of a wish; a long or unreadable start is read again, piece by piece.
std::optional<std::string> text_of(const ProcessSource& process, const StringWish& wish, bool got) {
  const std::string_view start(wish.start.data(), wish.wanted);
  const std::size_t end = start.find('\0');
  if (got && end != std::string_view::npos) {
    return std::string(start.substr(0, end));
  }
  return read_text(process, wish.address, longest_string);
}

Error malformed(const ProcessSource& process, std::uint64_t address) {
  return Error{ErrorKind::malformed,
               "read dynamic section",
               fmt::format("at {:#x} of pid {}", address, process.pid()),
               "a name lies outside of its string table",
               ""};
}

}  // namespace

Result<DynamicSection> MemoryImage::dynamic_section(const ProcessSource& process) const {
  DynamicSection section;
  if (dynamic_address_ == 0) {
    return section;
  }
  section.present = true;
  section.flags = dynamic_value(DT_FLAGS).value_or(0);
  section.flags_1 = dynamic_value(DT_FLAGS_1).value_or(0);
  const std::uint64_t table = located(dynamic_value(DT_STRTAB).value_or(0));
  const std::uint64_t table_bytes = dynamic_value(DT_STRSZ).value_or(0);
  std::vector<StringWish> wishes;
  for (const auto& [tag, value] : dynamic_) {
    if (!names_string(static_cast<std::uint64_t>(tag))) {
      continue;
    }
    if (value >= table_bytes) {
      return malformed(process, dynamic_address_);
    }
    const std::uint64_t room =
        std::min<std::uint64_t>(sizeof(StringWish::start), table_bytes - value);
    wishes.push_back({tag, table + value, static_cast<std::size_t>(room), {}});
  }
  std::vector<MemoryRead> reads;
  for (auto& wish : wishes) {
    const auto into = std::as_writable_bytes(std::span(wish.start)).first(wish.wanted);
    reads.push_back({wish.address, into, false});
  }
  process.read_memory(reads);
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    auto text = text_of(process, wishes[i], reads[i].got);
    if (!text) {
      return malformed(process, wishes[i].address);
    }
    add_string(section, static_cast<std::uint64_t>(wishes[i].tag), std::move(*text));
  }
  return section;
}

}  // namespace tracso::elf
