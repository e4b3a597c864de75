// `ldconfig -p`: a title in the user's language, then lines such as
//   "\tlibz.so.1 (libc6,x86-64, hwcap: \"x86-64-v3\") => /lib/x86_64-linux-gnu/libz.so.1"
// in the order of the cache. A name may hold blanks and brackets, so the line is taken apart from
// the marks that ldconfig itself writes.

#include "base/text.hpp"
#include "loader/ld_cache.hpp"

namespace tracso::loader {
namespace {

constexpr std::string_view arrow = ") => ";
constexpr std::string_view hwcap_mark = "hwcap: ";

void read_hwcap(CacheEntry& entry, std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    entry.hwcap = value.substr(1, value.size() - 2);
    entry.named_hwcap = true;
  } else if (value.starts_with("0x")) {
    entry.hwcap_bits = parse_unsigned(value.substr(2), 16).value_or(~std::uint64_t{0});
  }
}

// "libc6,x86-64, hwcap: ..., OS ABI: Linux 3.2.0": what follows a comma and a blank is a remark.
void read_brackets(CacheEntry& entry, std::string_view text) {
  entry.abi = text.substr(0, text.find(", "));
  const auto hwcap = text.find(hwcap_mark);
  if (hwcap != std::string_view::npos) {
    const std::string_view rest = text.substr(hwcap + hwcap_mark.size());
    read_hwcap(entry, rest.substr(0, rest.find(", ")));
  }
}

std::optional<CacheEntry> read_line(std::string_view line) {
  const auto end = line.find(arrow);
  if (!line.starts_with('\t') || end == std::string_view::npos) {
    return std::nullopt;
  }
  const auto open = line.substr(0, end).rfind(" (");
  if (open == std::string_view::npos) {
    return std::nullopt;
  }
  CacheEntry entry;
  entry.name = line.substr(1, open - 1);
  entry.path = line.substr(end + arrow.size());
  read_brackets(entry, line.substr(open + 2, end - open - 2));
  return entry;
}

}  // namespace

Result<LdCache> parse_ldconfig_text(std::string text) {
  const auto kept = std::make_shared<const std::string>(std::move(text));
  std::vector<CacheEntry> entries;
  for (const auto line : split(*kept, '\n')) {
    if (auto entry = read_line(line)) {
      entries.push_back(*entry);
    }
  }
  if (entries.empty()) {
    return Error{ErrorKind::malformed, "read", "the output of ldconfig -p", "no entry in it", ""};
  }
  return LdCache(CacheForm::text, kept, std::move(entries));
}

}  // namespace tracso::loader
