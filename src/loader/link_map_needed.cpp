// Which object satisfies which needed name. ld.so writes every name an object is asked for by into
// l_libname, so the live process has the answer and nothing is searched. Where those lists cannot
// be read, l_name and SONAME still tell most.

#include "base/text.hpp"
#include "loader/link_map.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

namespace tracso::loader {
namespace {

using Reason = NeededMatch::Reason;

/// $NAME or ${NAME} at `at`, the longest identifier as ld.so takes it; its length, 0: none.
std::size_t token_length(std::string_view text, std::size_t at, std::string_view name) {
  const bool braces = at + 1 < text.size() && text[at + 1] == '{';
  const std::size_t start = at + (braces ? 2 : 1);
  if (text.substr(std::min(start, text.size()), name.size()) != name) {
    return 0;
  }
  const std::size_t end = start + name.size();
  if (braces) {
    return end < text.size() && text[end] == '}' ? end + 1 - at : 0;
  }
  const auto continues = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_';
  };
  return end < text.size() && continues(text[end]) ? 0 : end - at;
}

/// A needed name with its tokens: literal pieces with anything between them. Only $ORIGIN has a
/// value here; $LIB and $PLATFORM are the loader's secret.
std::vector<std::string> pieces_of(std::string_view name, std::string_view origin) {
  std::vector<std::string> pieces(1);
  for (std::size_t at = 0; at < name.size();) {
    std::size_t length = 0;
    if (name[at] == '$') {
      length = token_length(name, at, "ORIGIN");
      if (length != 0 && !origin.empty()) {
        pieces.back() += origin;
      } else {
        length =
            std::max({length, token_length(name, at, "LIB"), token_length(name, at, "PLATFORM")});
        if (length != 0) {
          pieces.emplace_back();
        }
      }
    }
    if (length == 0) {
      pieces.back() += name[at];
    }
    at += std::max<std::size_t>(length, 1);
  }
  return pieces;
}

bool fits(std::span<const std::string> pieces, std::string_view text) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool last = i + 1 == pieces.size();
    const std::size_t found = last && i > 0 && text.size() >= at + pieces[i].size()
                                  ? text.size() - pieces[i].size()
                                  : text.find(pieces[i], at);
    const bool wrong_start = i == 0 && found != 0;
    if (found == std::string_view::npos || wrong_start ||
        text.substr(found, pieces[i].size()) != pieces[i]) {
      return false;
    }
    at = found + pieces[i].size();
  }
  return at == text.size();
}

/// What answers to a name in one namespace. A SONAME counts only where no object was asked for by
/// that name: had the loader ever matched it, it would have added it to the names.
class Names {
 public:
  struct Answer {
    std::size_t entry = 0;
    Reason reason = Reason::none;
  };

  void add(std::size_t entry, const LinkMapEntry& record, const DynamicSection* section) {
    entries_.push_back(entry);
    for (const auto& name : record.requested) {
      by_name_.try_emplace(name, Answer{entry, Reason::name});
    }
    by_name_.try_emplace(record.name, Answer{entry, Reason::path});
    if (section != nullptr && section->soname) {
      by_soname_.try_emplace(*section->soname, Answer{entry, Reason::soname});
    }
    if (record.requested.empty()) {
      by_file_name_.try_emplace(std::string(base_name(record.name)), Answer{entry, Reason::path});
    }
  }

  std::optional<Answer> find(const std::string& name) const {
    for (const auto* answers : {&by_name_, &by_soname_, &by_file_name_}) {
      if (const auto found = answers->find(name); found != answers->end()) {
        return found->second;
      }
    }
    return std::nullopt;
  }

  std::optional<Answer> find(std::span<const std::string> pieces, const LinkMaps& maps) const {
    for (const std::size_t entry : entries_) {
      const auto& record = maps.entries[entry];
      if (fits(pieces, record.name)) {
        return Answer{entry, Reason::path};
      }
      for (const auto& name : record.requested) {
        if (fits(pieces, name)) {
          return Answer{entry, Reason::name};
        }
      }
    }
    return std::nullopt;
  }

 private:
  using Answers = std::unordered_map<std::string, Answer>;
  std::vector<std::size_t> entries_;
  Answers by_name_, by_soname_;
  Answers by_file_name_;  // of objects whose names could not be read: musl goes by the file name
};

/// Names that stand for musl's loader itself, whatever follows the dot (ldso/dynlink.c,
/// load_library).
bool is_reserved_by_musl(std::string_view name) {
  constexpr std::string_view reserved[] = {
      "libc.", "libpthread.", "librt.", "libm.", "libdl.", "libutil.", "libxnet."};
  return std::any_of(std::begin(reserved), std::end(reserved), [&](std::string_view start) {
    return name.substr(0, start.size()) == start;
  });
}

class Matcher {
 public:
  Matcher(const LinkMaps& maps,
          std::span<const std::optional<DynamicSection>> sections,
          std::string_view program)
      : maps_(maps), program_(program) {
    for (std::size_t i = 0; i < maps.entries.size(); ++i) {
      const bool known = i < sections.size() && sections[i];
      spaces_[maps.entries[i].space].add(i, maps.entries[i], known ? &*sections[i] : nullptr);
    }
    if (maps.loader && *maps.loader < maps.entries.size()) {
      const bool known = *maps.loader < sections.size() && sections[*maps.loader];
      shared_.add(
          *maps.loader, maps.entries[*maps.loader], known ? &*sections[*maps.loader] : nullptr);
    }
  }

  NeededMatch match(std::size_t requester, std::size_t needed, const std::string& name) const {
    const auto& record = maps_.entries[requester];
    NeededMatch match;
    match.requester = requester;
    match.needed = needed;
    auto answer = find(record, spaces_.at(record.space), name);
    if (!answer) {
      answer = find(record, shared_, name);
    }
    if (!answer && !maps_.private_fields && maps_.loader && is_reserved_by_musl(name)) {
      answer = Names::Answer{*maps_.loader, Reason::name};
    }
    if (answer) {
      match.target = answer->entry;
      match.reason = answer->reason;
    }
    return match;
  }

 private:
  std::optional<Names::Answer> find(const LinkMapEntry& record,
                                    const Names& names,
                                    const std::string& name) const {
    if (name.find('$') == std::string::npos) {
      return names.find(name);
    }
    const bool is_program = record.position == 0 && record.space == 0;
    const std::string_view file = is_program ? program_ : std::string_view(record.name);
    const std::string_view directory = directory_of(file);
    // A relative name was relative to a directory that may no longer be the current one.
    const bool absolute = !directory.empty() && directory.front() == '/';
    const auto pieces = pieces_of(name, absolute ? directory : std::string_view());
    return pieces.size() == 1 ? names.find(pieces.front()) : names.find(pieces, maps_);
  }

  const LinkMaps& maps_;
  std::string_view program_;
  std::map<std::size_t, Names> spaces_;
  Names shared_;
};

}  // namespace

std::vector<NeededMatch> match_needed(const LinkMaps& maps,
                                      std::span<const std::optional<DynamicSection>> sections,
                                      std::string_view program) {
  const Matcher matcher(maps, sections, program);
  std::vector<NeededMatch> matches;
  for (std::size_t i = 0; i < maps.entries.size() && i < sections.size(); ++i) {
    const std::size_t count = sections[i] ? sections[i]->needed.size() : 0;
    for (std::size_t k = 0; k < count; ++k) {
      matches.push_back(matcher.match(i, k, sections[i]->needed[k].name));
    }
  }
  return matches;
}

}  // namespace tracso::loader
