#include "loader/link_map_walk.hpp"

#include <link.h>

#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace tracso::loader {
namespace {

constexpr std::size_t most_entries = 16384;
constexpr std::size_t most_spaces = 64;  // glibc has room for 16 (DL_NNS)

/// struct r_debug: int, pointer, pointer, int (both padded to a word), pointer; from version 2 on
/// glibc puts the r_debug of the next namespace behind it.
struct RDebug {
  std::uint64_t version = 0, first = 0, state = 0, loader_base = 0, next = 0;
};

std::optional<RDebug> read_r_debug(SteadyMemory& memory, std::uint64_t address) {
  const auto words = memory.words(address, debug_words);
  if (words.empty()) {
    return std::nullopt;
  }
  RDebug debug{words[0] & int_part, words[1], words[3] & int_part, words[4], 0};
  if (debug.version >= 2) {
    const auto next = memory.words(address + debug_words * memory.word(), 1);
    debug.next = next.empty() ? 0 : next.front();
  }
  return debug;
}

std::string_view work_of(std::uint64_t state) {
  return state == r_debug::RT_CONSISTENT ? ""
         : state == r_debug::RT_ADD      ? "the loader is adding objects"
                                         : "the loader is removing objects";
}

/// The public words of records, those that are expected read in one go.
class Records {
 public:
  Records(SteadyMemory& memory, std::span<const std::uint64_t> expected) : memory_(memory) {
    std::vector<Range> ranges;
    for (const std::uint64_t address : expected) {
      ranges.push_back({address, 8 * memory.word()});
    }
    const auto pieces = ranges.empty() ? std::vector<std::string>() : memory.bytes_of(ranges);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      known_[expected[i]] = to_words(pieces[i], memory.word());
    }
  }

  /// Empty: no memory there.
  std::vector<std::uint64_t> words(std::uint64_t address) {
    const auto known = known_.find(address);
    return known != known_.end() ? known->second : memory_.words(address, 8);
  }

 private:
  SteadyMemory& memory_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> known_;
};

/// Appends the records of one list; the problem, or empty.
std::string walk_list(Records& records,
                      std::uint64_t first,
                      std::size_t space,
                      std::unordered_set<std::uint64_t>& visited,
                      std::vector<RawEntry>& entries) {
  for (std::uint64_t at = first; at != 0;) {
    if (!visited.insert(at).second) {
      return "the list of objects goes in a circle";
    }
    if (entries.size() == most_entries) {
      return "the list of objects has no end";
    }
    const auto word = records.words(at);
    if (word.empty()) {
      return "the list of objects leads to where no memory is";
    }
    entries.push_back({at, space, word[0], word[1], word[2], word[5], word[6], word[7]});
    at = word[3];
  }
  return "";
}

}  // namespace

RawMaps walk_link_maps(SteadyMemory& memory,
                       std::span<const std::uint64_t> r_debugs,
                       std::span<const std::uint64_t> expected) {
  RawMaps maps;
  Records records(memory, expected);
  std::unordered_set<std::uint64_t> visited;
  std::size_t space = 0;
  for (std::uint64_t at : r_debugs) {
    for (; at != 0 && maps.problem.empty(); ++space) {
      const auto debug = read_r_debug(memory, at);
      if (!debug || space == most_spaces || !visited.insert(at).second) {
        maps.problem = "the list of namespaces is damaged";
        break;
      }
      maps.problem = walk_list(records, debug->first, space, visited, maps.entries);
      if (debug->state != r_debug::RT_CONSISTENT) {
        maps.problem = work_of(debug->state);
      }
      maps.loader_base = space == 0 ? debug->loader_base : maps.loader_base;
      at = debug->next;
    }
  }
  return maps;
}

std::string loader_at_work(SteadyMemory& memory, std::span<const std::uint64_t> r_debugs) {
  std::size_t space = 0;
  for (std::uint64_t at : r_debugs) {
    for (; at != 0; ++space) {
      const auto debug = read_r_debug(memory, at);
      if (!debug || space == most_spaces) {
        return "the list of namespaces is damaged";
      }
      if (debug->state != r_debug::RT_CONSISTENT) {
        return std::string(work_of(debug->state));
      }
      at = debug->next;
    }
  }
  return "";
}

}  // namespace tracso::loader
