// Looking a name up in the cache, and comparing two caches. Reading them: ld_cache_file.cpp and
// ldconfig_text.cpp.

#include "loader/ld_cache.hpp"

#include "loader/cache_abi.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tracso::loader {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Wraps around as the loader's int does on a number that is too long.
std::uint32_t take_number(std::string_view& text) {
  std::uint32_t value = 0;
  while (!text.empty() && is_digit(text.front())) {
    value = value * 10U + static_cast<std::uint32_t>(text.front() - '0');
    text.remove_prefix(1);
  }
  return value;
}

bool fits(const CacheEntry& entry, const CacheAbi& wanted) {
  if (entry.flags == 0) {
    return entry.abi == wanted.text || (wanted.flags == generic_abi && entry.abi == "ELF");
  }
  // An i386 loader also takes libraries of no particular C library.
  return entry.flags == wanted.flags || (wanted.flags == generic_abi && entry.flags == elf_abi);
}

// Position of the hwcap in the list, from 1; 0: not supported.
std::size_t priority_of(std::string_view hwcap, std::span<const std::string> supported) {
  const auto found = std::find(supported.begin(), supported.end(), hwcap);
  return found == supported.end() ? 0 : static_cast<std::size_t>(found - supported.begin()) + 1;
}

using Group = std::tuple<std::string, std::string, std::string>;

std::map<Group, std::vector<std::string>> grouped(const LdCache& cache) {
  std::map<Group, std::vector<std::string>> groups;
  for (const auto& entry : cache.entries()) {
    if (entry.valid && !entry.abi.empty()) {
      groups[{std::string(entry.name), std::string(entry.abi), std::string(entry.hwcap)}]
          .emplace_back(entry.path);
    }
  }
  return groups;
}

}  // namespace

int compare_library_names(std::string_view left, std::string_view right) {
  while (!left.empty()) {
    const bool digit_left = is_digit(left.front());
    const bool digit_right = !right.empty() && is_digit(right.front());
    if (digit_left != digit_right) {
      return digit_left ? 1 : -1;
    }
    if (digit_left) {
      const auto a = static_cast<std::int32_t>(take_number(left));
      const auto b = static_cast<std::int32_t>(take_number(right));
      if (a != b) {
        return a < b ? -1 : 1;
      }
      continue;
    }
    const char other = right.empty() ? '\0' : right.front();
    if (left.front() != other || right.empty()) {
      return left.front() < other ? -1 : 1;
    }
    left.remove_prefix(1);
    right.remove_prefix(1);
  }
  return right.empty() ? 0 : -1;
}

std::optional<CacheHit> LdCache::best_of(std::size_t first, const CacheRequest& request) const {
  std::optional<CacheHit> best;
  std::size_t best_priority = 0;
  for (std::size_t i = first; i < entries_.size(); ++i) {
    const CacheEntry& entry = entries_[i];
    if (!entry.valid || (i != first && compare_library_names(request.name, entry.name) != 0)) {
      break;
    }
    if (!fits(entry, request.abi)) {
      continue;
    }
    if (!entry.named_hwcap) {
      // Named ones come first in the file: what was found of them is better than any plain one. The
      // old table has no hwcaps, and its reader goes on.
      if (best && form_ != CacheForm::old) {
        break;
      }
      if ((entry.hwcap_bits & ~request.hwcap_bits) != 0) {
        continue;
      }
      best = CacheHit{entry.path, {}};
      // Exactly this C library: nothing better can follow.
      if (entry.flags == request.abi.flags || entry.abi == request.abi.text) {
        break;
      }
      continue;
    }
    const std::size_t priority = priority_of(entry.hwcap, request.hwcaps);
    const bool usable = entry.isa_level <= request.isa_level && priority != 0;
    if (usable && (best_priority == 0 || priority < best_priority)) {
      best = CacheHit{entry.path, entry.hwcap};
      best_priority = priority;
    }
  }
  return best;
}

std::optional<CacheHit> LdCache::find(const CacheRequest& request) const {
  // The table is sorted from high to low.
  std::size_t low = 0;
  std::size_t high = entries_.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (!entries_[middle].valid) {
      return std::nullopt;
    }
    const int order = compare_library_names(request.name, entries_[middle].name);
    if (order == 0) {
      std::size_t first = middle;
      while (first > 0 && entries_[first - 1].valid &&
             compare_library_names(request.name, entries_[first - 1].name) == 0) {
        --first;
      }
      return best_of(first, request);
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::nullopt;
}

std::vector<CacheDifference> compare_caches(const LdCache& first, const LdCache& second) {
  const auto left = grouped(first);
  const auto right = grouped(second);
  std::vector<CacheDifference> differences;
  const auto note = [&](const Group& group, const auto& a, const auto& b) {
    differences.push_back({std::get<0>(group), std::get<1>(group), std::get<2>(group), a, b});
  };
  const std::vector<std::string> nothing;
  for (const auto& [group, paths] : left) {
    const auto other = right.find(group);
    const auto& others = other == right.end() ? nothing : other->second;
    if (paths != others) {
      note(group, paths, others);
    }
  }
  for (const auto& [group, paths] : right) {
    if (!left.contains(group)) {
      note(group, nothing, paths);
    }
  }
  std::sort(differences.begin(), differences.end(), [](const auto& a, const auto& b) {
    return std::tie(a.name, a.abi, a.hwcap) < std::tie(b.name, b.abi, b.hwcap);
  });
  return differences;
}

}  // namespace tracso::loader
