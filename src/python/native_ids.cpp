#include "python/native_ids.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace tracso::python {
namespace {

constexpr std::size_t searched_bytes = 2048;  // of a descriptor

using Descriptor = std::array<pid_t, searched_bytes / sizeof(pid_t)>;

std::vector<pid_t> ids_at(const std::vector<Descriptor>& descriptors,
                          std::size_t word,
                          const std::unordered_set<pid_t>& known) {
  std::vector<pid_t> found;
  std::unordered_set<pid_t> taken;
  for (const auto& descriptor : descriptors) {
    const pid_t id = descriptor[word];
    const bool good = id != 0 && known.contains(id) && taken.insert(id).second;
    found.push_back(good ? id : 0);
  }
  return found;
}

}  // namespace

std::vector<pid_t> native_ids(MemoryReader& memory,
                              std::span<const std::uint64_t> pthreads,
                              std::span<const pid_t> ids) {
  std::vector<Descriptor> descriptors;
  for (const auto pthread : pthreads) {
    memory.plan(pthread, searched_bytes);
  }
  memory.fetch();
  for (const auto pthread : pthreads) {
    // A descriptor may end before: what is unreadable stays 0.
    auto& descriptor = descriptors.emplace_back();
    for (std::size_t i = 0; i < descriptor.size() && pthread != 0; ++i) {
      descriptor[i] = memory.value<pid_t>(pthread + i * sizeof(pid_t)).value_or(0);
    }
  }
  const std::unordered_set<pid_t> known(ids.begin(), ids.end());
  std::vector<pid_t> best(pthreads.size(), 0);
  std::ptrdiff_t most = 0;
  for (std::size_t word = 0; word < searched_bytes / sizeof(pid_t); ++word) {
    auto found = ids_at(descriptors, word, known);
    const auto count = std::ssize(found) - std::count(found.begin(), found.end(), 0);
    if (count > most) {
      most = count;
      best = std::move(found);
    }
  }
  return best;
}

}  // namespace tracso::python
