#include "elf/readelf_text.hpp"

#include "base/text.hpp"
#include "elf/dynamic_strings.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

namespace tracso::elf {
namespace {

constexpr std::string_view header_start = "File: ";
constexpr std::string_view section_start = "Dynamic section at offset 0x";
constexpr std::string_view columns = "  Tag        Type                         Name/Value";
constexpr std::string_view no_section = "There is no dynamic section in this file.";
constexpr std::string_view interpreter_mark = " program interpreter";

using Lines = std::span<const std::string_view>;

Error mismatch(std::string_view reason) {
  return {ErrorKind::malformed, "read the output of", "readelf", std::string(reason), ""};
}

bool all_empty(Lines lines) {
  return std::all_of(
      lines.begin(), lines.end(), [](std::string_view line) { return line.empty(); });
}

/// The text behind `start`; nullopt: the line does not start so.
std::optional<std::string_view> behind(std::string_view line, std::string_view start) {
  return line.starts_with(start) ? std::optional(line.substr(start.size())) : std::nullopt;
}

struct SectionLine {
  std::uint64_t offset = 0, entries = 0;
};

/// "Dynamic section at offset 0x2df8 contains 27 entries:"
std::optional<SectionLine> parse_section_line(std::string_view line) {
  const auto rest = behind(line, section_start);
  if (!rest) {
    return std::nullopt;
  }
  const auto words = split_words(*rest, " ");
  if (words.size() != 4 || words[1] != "contains" ||
      !(words[3] == "entries:" || words[3] == "entry:")) {
    return std::nullopt;
  }
  const auto offset = parse_unsigned(words[0], 16);
  const auto entries = parse_unsigned(words[2]);
  return offset && entries ? std::optional(SectionLine{*offset, *entries}) : std::nullopt;
}

struct Row {
  std::uint64_t tag = 0;
  std::string_view value;
};

/// " 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]"
std::optional<Row> parse_row(std::string_view line) {
  const auto rest = behind(line, " 0x");
  const std::size_t digits = rest ? rest->find(' ') : std::string_view::npos;
  if (digits == std::string_view::npos || rest->substr(digits, 2) != " (") {
    return std::nullopt;
  }
  const auto tag = parse_unsigned(rest->substr(0, digits), 16);
  const std::size_t close = rest->find(')', digits);
  if (!tag || close == std::string_view::npos) {
    return std::nullopt;
  }
  return Row{*tag, rest->substr(close + 1)};
}

/// What stands between the first " [" and the last "]", behind which only one remark may follow.
std::optional<std::string_view> bracketed(std::string_view value) {
  const std::size_t open = value.find(" [");
  const std::size_t close = value.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) {
    return std::nullopt;
  }
  const std::string_view after = value.substr(close + 1);
  const std::string_view text = value.substr(open + 2, close - open - 2);
  return (after.empty() || after == interpreter_mark) && is_plain(text) ? std::optional(text)
                                                                        : std::nullopt;
}

struct FlagName {
  std::string_view name;
  std::uint64_t bit;
};

constexpr std::array<FlagName, 5> flag_names{{{"ORIGIN", DF_ORIGIN},
                                              {"SYMBOLIC", DF_SYMBOLIC},
                                              {"TEXTREL", DF_TEXTREL},
                                              {"BIND_NOW", DF_BIND_NOW},
                                              {"STATIC_TLS", DF_STATIC_TLS}}};

// In the order of their bits, from 1 on.
constexpr std::array<std::string_view, 31> flag_1_names{
    "NOW",       "GLOBAL",     "GROUP",      "NODELETE",  "LOADFLTR",  "INITFIRST", "NOOPEN",
    "ORIGIN",    "DIRECT",     "TRANS",      "INTERPOSE", "NODEFLIB",  "NODUMP",    "CONFALT",
    "ENDFILTEE", "DISPRELDNE", "DISPRELPND", "NODIRECT",  "IGNMULDEF", "NOKSYMS",   "NOHDR",
    "EDITED",    "NORELOC",    "SYMINTPOSE", "GLOBAUDIT", "SINGLETON", "STUB",      "PIE",
    "KMOD",      "WEAKFILTER", "NOCOMMON"};

/// "BIND_NOW STATIC_TLS"
std::optional<std::uint64_t> parse_flags(std::string_view value) {
  std::uint64_t flags = 0;
  for (const auto word : split_words(value, " ")) {
    const auto* found = std::find_if(flag_names.begin(),
                                     flag_names.end(),
                                     [word](const FlagName& flag) { return flag.name == word; });
    if (found == flag_names.end()) {
      return std::nullopt;
    }
    flags |= found->bit;
  }
  return flags;
}

/// "Flags: NOW NODELETE 80000000": bits without a name come last, together as one number.
std::optional<std::uint64_t> parse_flags_1(std::string_view value) {
  const auto words = split_words(value, " ");
  if (words.size() < 2 || words.front() != "Flags:") {
    return std::nullopt;
  }
  std::uint64_t flags = 0;
  for (const auto word : std::span(words).subspan(1)) {
    const auto* found = std::find(flag_1_names.begin(), flag_1_names.end(), word);
    const auto rest = word == "None" ? std::optional<std::uint64_t>(0) : parse_unsigned(word, 16);
    if (found != flag_1_names.end()) {
      flags |= std::uint64_t{1} << static_cast<unsigned>(found - flag_1_names.begin());
    } else if (rest) {
      flags |= *rest;
    } else {
      return std::nullopt;
    }
  }
  return flags;
}

bool add_row(DynamicSection& section, const Row& row) {
  if (names_string(row.tag)) {
    const auto text = bracketed(row.value);
    if (text) {
      add_string(section, row.tag, std::string(*text));
    }
    return text.has_value();
  }
  if (row.tag != DT_FLAGS && row.tag != DT_FLAGS_1) {
    return true;
  }
  const auto flags = row.tag == DT_FLAGS ? parse_flags(row.value) : parse_flags_1(row.value);
  (row.tag == DT_FLAGS ? section.flags : section.flags_1) = flags.value_or(0);
  return flags.has_value();
}

Result<ReadelfFacts> parse_file(Lines lines) {
  while (!lines.empty() && lines.front().empty()) {
    lines = lines.subspan(1);
  }
  if (lines.empty()) {
    return mismatch("it says nothing of the file");
  }
  if (lines.front() == no_section) {
    return all_empty(lines.subspan(1)) ? Result<ReadelfFacts>(ReadelfFacts{})
                                       : mismatch("unexpected line");
  }
  const auto section = parse_section_line(lines.front());
  if (!section || lines.size() < 2 || lines[1] != columns) {
    return mismatch("unexpected line");
  }
  lines = lines.subspan(2);
  if (section->entries > lines.size() ||
      !all_empty(lines.subspan(static_cast<std::size_t>(section->entries)))) {
    return mismatch("not as many rows as it says");
  }
  ReadelfFacts facts{section->offset, {}};
  facts.dynamic.present = true;
  for (const auto line : lines.first(static_cast<std::size_t>(section->entries))) {
    const auto row = parse_row(line);
    if (!row || !add_row(facts.dynamic, *row)) {
      return mismatch("unexpected row");
    }
  }
  return facts;
}

/// The line number of each file's header; empty: one is not there, there twice, or out of order, so
/// none can be believed.
std::vector<std::size_t> find_headers(Lines lines, std::span<const std::string> paths) {
  std::unordered_map<std::string_view, std::size_t> positions;
  for (const auto& path : paths) {
    positions.emplace(path, positions.size());
  }
  std::vector<std::size_t> headers;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto path = behind(lines[i], header_start);
    const auto known = path ? positions.find(*path) : positions.end();
    if (known == positions.end()) {
      continue;
    }
    if (known->second != headers.size()) {
      return {};
    }
    headers.push_back(i);
  }
  const bool complete = headers.size() == paths.size() && !headers.empty();
  return complete && all_empty(lines.first(headers.front())) ? headers : std::vector<std::size_t>();
}

}  // namespace

bool is_plain(std::string_view text) {
  return std::all_of(
      text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '^'; });
}

std::vector<Result<ReadelfFacts>> parse_readelf(std::string_view text,
                                                std::span<const std::string> paths) {
  const auto pieces = split(text, '\n');
  const Lines lines(pieces);
  if (paths.size() == 1) {
    return {parse_file(lines)};
  }
  const auto headers = find_headers(lines, paths);
  if (headers.empty()) {
    return std::vector<Result<ReadelfFacts>>(paths.size(),
                                             mismatch("its headers are not the files asked for"));
  }
  std::vector<Result<ReadelfFacts>> files;
  files.reserve(paths.size());
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const std::size_t start = headers[i] + 1;
    const std::size_t end = i + 1 < headers.size() ? headers[i + 1] : lines.size();
    files.push_back(parse_file(lines.subspan(start, end - start)));
  }
  return files;
}

}  // namespace tracso::elf
