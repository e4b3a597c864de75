#pragma once
// One search on its way; only search.cpp and search_cache.cpp include this.

#include "loader/search.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::loader {

/// How a look at a file is written down.
SearchStep::Outcome outcome_of(const FileProbe& probe);

/// What a search has come to so far.
struct Searcher::Run {
  const Requester& requester;
  std::string_view name;
  NameId id;
  Purpose purpose;
  Evidence evidence;
  Found found{};
  bool done = false;  // there is an answer: from here on only losers are looked for
  std::vector<std::uint32_t> visited{};  // identities of the directories looked into
  std::vector<FileStatus> seen{};        // the winner and the losers so far
  std::string other_class{};             // words about a file of the wrong class

  bool writes() const { return evidence == Evidence::steps; }

  // Losers are looked for only where there is a winner.
  bool wants_more() const { return !done || (writes() && found.verdict == Found::Verdict::found); }

  void win(const FileProbe& probe, Rule rule, std::string l_name) {
    done = true;
    found.verdict = Found::Verdict::found;
    found.rule = rule;
    found.l_name = std::move(l_name);
    found.path = probe.path;
    found.status = probe.status;
    seen.push_back(probe.status);
  }

  void fail(const FileProbe& probe, Rule rule, std::string_view words) {
    done = true;
    found.verdict = Found::Verdict::fatal;
    found.rule = rule;
    found.path = probe.path;
    found.status = probe.status;
    found.fatal = words;
  }

  // True once for each file.
  bool is_new_file(const FileStatus& status) {
    for (const auto& known : seen) {
      if (is_same_file(known, status)) {
        return false;
      }
    }
    seen.push_back(status);
    return true;
  }

  // True once for each directory.
  bool is_new_directory(std::uint32_t identity) {
    if (std::find(visited.begin(), visited.end(), identity) != visited.end()) {
      return false;
    }
    visited.push_back(identity);
    return true;
  }
};

}  // namespace tracso::loader
