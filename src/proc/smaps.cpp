#include "proc/smaps.hpp"

#include "base/text.hpp"
#include "proc/maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace tracso::proc {
namespace {

struct Field {
  std::string_view key;
  std::uint64_t MappingCost::*value;
};

constexpr std::array fields{Field{"Rss", &MappingCost::resident},
                            Field{"Private_Clean", &MappingCost::clean},
                            Field{"Private_Dirty", &MappingCost::dirty},
                            Field{"Anonymous", &MappingCost::anonymous},
                            Field{"Swap", &MappingCost::swapped},
                            Field{"Referenced", &MappingCost::referenced},
                            Field{"Private_Hugetlb", &MappingCost::huge},
                            Field{"Shared_Hugetlb", &MappingCost::huge}};

// "Rss:                 120 kB": the key ends at a colon that no address line has so early.
std::optional<std::string_view> key_of(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos ||
      line.substr(0, colon).find(' ') != std::string_view::npos) {
    return std::nullopt;
  }
  return line.substr(0, colon);
}

void add_value(std::string_view key, std::string_view rest, MappingCost& cost) {
  constexpr std::uint64_t kilobyte = 1024;
  constexpr std::uint64_t most = UINT64_MAX / kilobyte;
  for (const Field& field : fields) {
    if (field.key != key) {
      continue;
    }
    const std::size_t digits = rest.find_first_not_of(' ');
    std::uint64_t value = 0;
    if (digits != std::string_view::npos) {
      std::from_chars(rest.data() + digits, rest.data() + rest.size(), value);
    }
    std::uint64_t& sum = cost.*field.value;
    sum = value > most || sum > UINT64_MAX - value * kilobyte ? UINT64_MAX : sum + value * kilobyte;
    return;
  }
}

}  // namespace

Result<std::vector<MappingCost>> parse_smaps(std::string_view text) {
  std::vector<MappingCost> costs;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    ++number;
    const auto key = key_of(line);
    if (auto mapping = key ? std::nullopt : parse_maps_line(line)) {
      costs.push_back({std::move(*mapping)});
    } else if (key && !costs.empty()) {
      add_value(*key, line.substr(key->size() + 1), costs.back());
    } else {
      return Error{ErrorKind::malformed,
                   "read",
                   "memory map with sizes",
                   fmt::format("line {} is not one of smaps: '{}'", number, line.substr(0, 120)),
                   ""};
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return costs;
}

std::optional<bool> is_locked(std::string_view smaps, std::uint64_t address) {
  bool is_here = false;
  for (const std::string_view line : split(smaps, '\n')) {
    const auto key = key_of(line);
    if (const auto mapping = key ? std::nullopt : parse_maps_line(line)) {
      is_here = address >= mapping->start && address < mapping->end;
    } else if (is_here && key == "VmFlags") {
      const auto flags = split_words(line.substr(key->size() + 1), " ");
      return std::find(flags.begin(), flags.end(), "lo") != flags.end();
    }
  }
  return std::nullopt;
}

}  // namespace tracso::proc
