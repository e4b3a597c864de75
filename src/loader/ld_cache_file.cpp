// /etc/ld.so.cache. Two tables have been in use. The old one: "ld.so-1.7.0", the number of entries,
// entries of flags, name and path (offsets into the strings behind the table). The current one:
// "glibc-ld.so.cache1.1", a header of 48 bytes, entries that also hold hwcaps, strings addressed
// from the start of this header, and an extension section with the names of glibc-hwcaps. A file
// may hold the old table, the current one, or the current one behind the old one.

#include "base/byte_view.hpp"
#include "loader/cache_abi.hpp"
#include "loader/ld_cache.hpp"

#include <algorithm>
#include <bit>

namespace tracso::loader {
namespace {

constexpr std::string_view old_magic = "ld.so-1.7.0";
constexpr std::string_view current_magic = "glibc-ld.so.cache1.1";
constexpr std::uint64_t old_header = 16;
constexpr std::uint64_t old_entry = 12;
constexpr std::uint64_t current_header = 48;
constexpr std::uint64_t current_entry = 24;
constexpr std::uint64_t count_at = 20;
constexpr std::uint64_t flags_at = 28;
constexpr std::uint64_t extensions_at = 32;

constexpr std::uint32_t extension_magic = 0xeaa42174;
constexpr std::uint32_t hwcaps_extension = 1;
constexpr std::uint64_t extension_bytes = 16;
constexpr std::uint64_t longest_string = 4096;

// Bits 32..61 of a named hwcap: what says that it is one, and the ISA level.
constexpr std::uint64_t named_mask = ~std::uint64_t{0x3ff};
constexpr std::uint64_t named_mark = std::uint64_t{1} << 30U;

Error malformed(std::string_view reason) {
  return Error{ErrorKind::malformed, "read", "ld.so.cache", std::string(reason), ""};
}

struct Cursor {
  ByteView bytes;
  std::uint64_t strings;  // what offsets of strings count from

  std::uint64_t number(std::uint64_t at) const { return bytes.get<std::uint32_t>(at).value_or(0); }

  // No longer than a path can be: a hostile table must not make each entry scan the file.
  std::optional<std::string_view> string(std::uint64_t offset) const {
    const std::uint64_t at = strings + offset;
    const std::uint64_t room = at < bytes.size() ? bytes.size() - at : 0;
    return ByteView(bytes.slice(at, std::min<std::uint64_t>(room, longest_string))).text(0);
  }
};

// The names that entries refer to by number.
std::vector<std::string_view> hwcap_names(const Cursor& file, std::uint64_t header) {
  std::vector<std::string_view> names;
  const std::uint64_t section = file.number(header + extensions_at);
  if (section == 0 || file.number(section) != extension_magic) {
    return names;
  }
  const std::uint64_t count = file.number(section + 4);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = section + 8 + i * extension_bytes;
    if (!file.bytes.get<std::uint32_t>(at + extension_bytes - 4)) {
      break;
    }
    if (file.number(at) != hwcaps_extension) {
      continue;
    }
    const std::uint64_t list = file.number(at + 8);
    const std::uint64_t entries = file.number(at + 12) / 4;
    for (std::uint64_t k = 0; k < entries && list + 4 * k < file.bytes.size(); ++k) {
      names.push_back(
          Cursor{file.bytes, 0}.string(file.number(list + 4 * k)).value_or(std::string_view{}));
    }
    break;
  }
  return names;
}

CacheEntry read_entry(const Cursor& file, std::uint64_t at) {
  CacheEntry entry;
  entry.flags = static_cast<std::uint32_t>(file.number(at));
  entry.abi = cache_abi_text(entry.flags);
  const auto name = file.string(file.number(at + 4));
  const auto path = file.string(file.number(at + 8));
  entry.valid = name && path;
  entry.name = name.value_or(std::string_view{});
  entry.path = path.value_or(std::string_view{});
  return entry;
}

void read_hwcap(CacheEntry& entry,
                std::uint64_t hwcap,
                const std::vector<std::string_view>& names) {
  entry.named_hwcap = ((hwcap >> 32U) & named_mask) == named_mark;
  if (!entry.named_hwcap) {
    entry.hwcap_bits = hwcap;
    return;
  }
  entry.isa_level = static_cast<std::uint32_t>((hwcap >> 32U) & ~named_mask);
  const std::uint64_t number = hwcap & 0xffffffffU;
  entry.hwcap = number < names.size() ? names[static_cast<std::size_t>(number)] : "";
}

Result<LdCache> read_old(std::shared_ptr<const std::string> text, const ByteView& bytes) {
  const std::uint64_t count = bytes.get<std::uint32_t>(12).value_or(0);
  const Cursor file{bytes, old_header + count * old_entry};
  if (count > bytes.size() / old_entry || file.strings > bytes.size()) {
    return malformed("its table is longer than the file");
  }
  std::vector<CacheEntry> entries;
  entries.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    entries.push_back(read_entry(file, old_header + i * old_entry));
  }
  return LdCache(CacheForm::old, std::move(text), std::move(entries));
}

// The header says its byte order since glibc 2.33; before, it is that of the machine.
std::endian byte_order(const ByteView& bytes, std::uint64_t header) {
  const auto mark = bytes.get<std::uint8_t>(header + flags_at).value_or(0) & 3U;
  if (mark == 2) {
    return std::endian::little;
  }
  return mark == 3 ? std::endian::big : std::endian::native;
}

Result<LdCache> read_current(std::shared_ptr<const std::string> text,
                             std::uint64_t header,
                             CacheForm form) {
  const ByteView bytes(*text, byte_order(ByteView(*text), header));
  const Cursor file{bytes, header};
  const std::uint64_t count = file.number(header + count_at);
  const std::uint64_t table = header + current_header;
  if (bytes.size() < table || count > (bytes.size() - table) / current_entry) {
    return malformed("its table is longer than the file");
  }
  const auto names = hwcap_names(file, header);
  std::vector<CacheEntry> entries;
  entries.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = table + i * current_entry;
    entries.push_back(read_entry(file, at));
    read_hwcap(entries.back(), bytes.get<std::uint64_t>(at + 16).value_or(0), names);
  }
  return LdCache(form, std::move(text), std::move(entries));
}

}  // namespace

Result<LdCache> parse_ld_cache(std::string bytes) {
  const auto text = std::make_shared<const std::string>(std::move(bytes));
  if (text->starts_with(current_magic)) {
    return read_current(text, 0, CacheForm::current);
  }
  if (!text->starts_with(old_magic)) {
    return malformed("it does not start as a cache does");
  }
  const ByteView view(*text);
  const std::uint64_t count = view.get<std::uint32_t>(12).value_or(0);
  const std::uint64_t behind = (old_header + count * old_entry + 7) & ~std::uint64_t{7};
  if (behind < text->size() &&
      std::string_view(*text).substr(static_cast<std::size_t>(behind)).starts_with(current_magic)) {
    return read_current(text, behind, CacheForm::compat);
  }
  return read_old(text, view);
}

}  // namespace tracso::loader
