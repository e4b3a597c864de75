#include "collect/thread_pools.hpp"

#include "base/c_library.hpp"
#include "base/text.hpp"
#include "proc/loader_command.hpp"
#include "proc/status.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>

namespace tracso {
namespace {

constexpr std::uint64_t top_bytes = 4096;  // struct pthread of glibc has some 2400
constexpr std::size_t most_threads = 4096;

struct Thread {
  std::string name;  // of its folder in task
  bool idle = false;
};

// Threads but the first one, by the number that they have for themselves: the last of NSpid.
std::map<std::uint32_t, Thread> threads_of(const ProcessSource& process) {
  std::map<std::uint32_t, Thread> found;
  const auto names = process.list("task");
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    if (name == std::to_string(process.pid()) || found.size() >= most_threads) {
      continue;
    }
    const auto status = process.read("task/" + name + "/status");
    const auto state = status ? proc::status_value(*status, "State").value_or("") : "";
    const auto line = status ? proc::status_value(*status, "NSpid") : std::nullopt;
    const auto numbers = split_words(line ? *line : std::string_view(name), "\t ");
    const auto own = numbers.empty() ? std::nullopt : parse_unsigned(numbers.back());
    if (own && *own <= UINT32_MAX) {
      found.emplace(static_cast<std::uint32_t>(*own),
                    Thread{name, state.starts_with('S') || state.starts_with('I')});
    }
  }
  return found;
}

bool is_stack(const std::vector<Mapping>& mappings, std::size_t at) {
  const Mapping& mapping = mappings[at];
  if (mapping.has_file() || !mapping.readable || !mapping.writable || mapping.shared ||
      mapping.end - mapping.start < top_bytes || at == 0) {
    return false;
  }
  const Mapping& guard = mappings[at - 1];
  return guard.end == mapping.start && !guard.has_file() && !guard.readable && !guard.writable &&
         guard.end - guard.start <= largest_guard;
}

class PoolFinder {
 public:
  explicit PoolFinder(const Workspace& work)
      : work_(work), threads_(threads_of(*work.target.process)) {
    word_ = work.facts.auxv && work.facts.auxv->elf_class == ElfClass::elf32 ? 4 : 8;
  }

  std::vector<ThreadPool> find() {
    std::vector<std::uint64_t> tops;
    for (std::size_t i = 0; i < work_.facts.mappings.size() && tops.size() < 2 * most_threads;
         ++i) {
      if (is_stack(work_.facts.mappings, i)) {
        tops.push_back(work_.facts.mappings[i].end - top_bytes);
      }
    }
    std::vector<std::byte> bytes(tops.size() * top_bytes);
    std::vector<MemoryRead> pieces;
    for (std::size_t i = 0; i < tops.size(); ++i) {
      pieces.push_back({tops[i], std::span(bytes).subspan(i * top_bytes, top_bytes), false});
    }
    work_.target.process->read_memory(pieces);
    for (const MemoryRead& piece : pieces) {
      if (piece.got) {
        note(piece.into);
      }
    }
    return pools();
  }

 private:
  std::uint64_t word(std::span<const std::byte> bytes, std::size_t at, std::size_t size) const {
    std::uint64_t value = 0;  // in the byte order of this machine, whose processes these are
    std::uint32_t half = 0;
    if (size == sizeof value) {
      std::memcpy(&value, bytes.data() + at, sizeof value);
      return value;
    }
    std::memcpy(&half, bytes.data() + at, sizeof half);
    return half;
  }

  // Stacks of threads that have ended are kept for the next one: they have no living number.
  std::optional<std::uint32_t> thread_in(std::span<const std::byte> top) const {
    for (std::size_t at = top.size(); at >= 4; at -= 4) {
      const auto number = static_cast<std::uint32_t>(word(top, at - 4, 4));
      if (number > 1 && threads_.count(number) != 0 && told_.count(number) == 0) {
        return number;
      }
    }
    return std::nullopt;
  }

  // The function a thread was started with lies above all return addresses. Those of the C library
  // are callbacks of its own.
  std::optional<std::size_t> began_in(std::span<const std::byte> top) const {
    for (std::size_t at = top.size(); at >= word_; at -= word_) {
      const auto object = object_of_code(word(top, at - word_, word_));
      if (object && !is_c_library(*object)) {
        return object;
      }
    }
    return std::nullopt;
  }

  std::optional<std::size_t> object_of_code(std::uint64_t address) const {
    const auto& mappings = work_.facts.mappings;
    const auto next = std::upper_bound(
        mappings.begin(), mappings.end(), address, [](std::uint64_t at, const Mapping& mapping) {
          return at < mapping.start;
        });
    if (next == mappings.begin() || std::prev(next)->end <= address ||
        !std::prev(next)->executable) {
      return std::nullopt;
    }
    return work_.mapped.of_mapping[static_cast<std::size_t>(std::prev(next) - mappings.begin())];
  }

  bool is_c_library(std::size_t object) const {
    const std::string_view name = base_name(work_.mapped.objects[object].path.text);
    return is_c_library_name(name) || proc::is_loader_name(name);
  }

  void note(std::span<const std::byte> top) {
    const auto thread = thread_in(top);
    const auto object = thread ? began_in(top) : std::nullopt;
    if (object) {
      told_.insert(*thread);
      ThreadPool& pool = pools_[*object];
      pool.object = work_.node_of_object[*object];
      ++pool.threads;
      pool.idle += threads_.at(*thread).idle ? 1 : 0;
    }
  }

  std::vector<ThreadPool> pools() const {
    std::vector<ThreadPool> found;
    for (const auto& [object, pool] : pools_) {
      if (pool.threads > 1) {
        found.push_back(pool);
      }
    }
    return found;
  }

  const Workspace& work_;
  std::map<std::uint32_t, Thread> threads_;
  std::size_t word_ = 8;
  std::set<std::uint32_t> told_;
  std::map<std::size_t, ThreadPool> pools_;
};

}  // namespace

std::size_t count_threads(const ProcessSource& process) {
  const auto status = process.read("status");
  const auto count = status ? proc::status_value(*status, "Threads") : std::nullopt;
  return count ? static_cast<std::size_t>(parse_unsigned(*count).value_or(0)) : 0;
}

std::vector<ThreadPool> find_thread_pools(const Workspace& work) {
  return PoolFinder(work).find();
}

}  // namespace tracso
