#include "dump/waits.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <array>

namespace tracso::dump {
namespace {

constexpr std::uint64_t most_descriptors = 64;  // named of one poll

// futex(2): operations without their flags (private, clock).
constexpr std::uint64_t operation_bits = 127, wait_operation = 0, lock_pi = 6, lock_pi2 = 13;
constexpr std::uint32_t thread_bits = 0x3fffffff;  // FUTEX_TID_MASK

// The beginning of glibc's struct __pthread_mutex_s. musl has no owner there.
struct Mutex {
  std::uint32_t lock = 0, count = 0, owner = 0, users = 0, kind = 0;
};

constexpr std::uint32_t locked_with_waiters = 2, kind_bits = 0x1ff;

template <class T>
bool read_value(const ProcessSource& process, std::uint64_t address, T& value) {
  return static_cast<bool>(
      process.read_memory(address, std::as_writable_bytes(std::span(&value, 1))));
}

std::string seconds(const timespec& time) {
  return fmt::format("{}.{:03} s", time.tv_sec, time.tv_nsec / 1'000'000);
}

}  // namespace

std::int32_t WaitReader::seen(std::uint32_t own) const {
  const auto found = std::find_if(threads_.begin(), threads_.end(), [&](const auto& thread) {
    return static_cast<std::uint32_t>(thread.own) == own;
  });
  return found == threads_.end() ? 0 : found->seen;
}

// Only a word that looks like a mutex in every field is one; a semaphore's word is its value.
std::optional<std::int32_t> WaitReader::owner_of_mutex(std::uint64_t address,
                                                       bool priority_inherits) const {
  Mutex mutex;
  if (!read_value(process_, address, mutex)) {
    return std::nullopt;
  }
  if (priority_inherits) {
    const auto owner = seen(mutex.lock & thread_bits);
    return owner == 0 ? std::nullopt : std::optional(owner);
  }
  if (mutex.lock != locked_with_waiters || mutex.kind > kind_bits || mutex.users == 0) {
    return std::nullopt;
  }
  const auto owner = seen(mutex.owner);
  return owner == 0 ? std::nullopt : std::optional(owner);
}

WaitTarget WaitReader::futex(const proc::ThreadCall& call) {
  WaitTarget target;
  target.kind = WaitTarget::Kind::futex;
  target.address = call.arguments[0];
  for (const auto& gil : gils_) {
    if (gil.start <= target.address && target.address < gil.end) {
      target.kind = WaitTarget::Kind::gil;
      target.owner = gil.holder;
      target.text = "the GIL";
      return target;
    }
  }
  for (const auto& lock : locks_) {
    if (lock.word == target.address) {
      target.kind = lock.reentrant ? WaitTarget::Kind::rlock : WaitTarget::Kind::lock;
      target.owner = lock.owner;
      target.text = fmt::format(
          "{} {:#x}", lock.reentrant ? "threading.RLock" : "threading.Lock", target.address);
      return target;
    }
  }
  const auto operation = call.arguments[1] & operation_bits;
  const bool inherits = operation == lock_pi || operation == lock_pi2;
  if (inherits || operation == wait_operation) {
    if (const auto owner = owner_of_mutex(target.address, inherits)) {
      target.kind = WaitTarget::Kind::mutex;
      target.owner = *owner;
      target.text = fmt::format("mutex {:#x}", target.address);
      return target;
    }
  }
  target.text = fmt::format("futex {:#x}", target.address);
  return target;
}

std::string WaitReader::target_of(std::uint64_t number) {
  const auto known = targets_.find(number);
  if (known != targets_.end()) {
    return known->second;
  }
  const auto link = process_.read_link(fmt::format("fd/{}", number));
  std::string text = link ? *link : "";
  constexpr std::string_view socket = "socket:[";
  if (text.starts_with(socket) && text.ends_with("]")) {
    const auto inode = parse_unsigned(
        std::string_view(text).substr(socket.size(), text.size() - socket.size() - 1));
    auto name = inode ? sockets_.of(static_cast<std::int32_t>(number), *inode) : "";
    text = name.empty() ? text : std::move(name);
  }
  targets_.emplace(number, text);
  return text;
}

WaitTarget WaitReader::descriptor(std::uint64_t number) {
  WaitTarget target;
  target.kind = WaitTarget::Kind::descriptor;
  target.descriptor = static_cast<std::int32_t>(number & 0x7fffffffU);
  target.target = target_of(number & 0x7fffffffU);
  target.text = fmt::format("fd {}", target.descriptor) +
                (target.target.empty() ? "" : " -> " + target.target);
  return target;
}

std::vector<std::uint64_t> WaitReader::polled(std::uint64_t address, std::uint64_t count) const {
  std::vector<pollfd> entries(std::min(count, most_descriptors));
  std::vector<std::uint64_t> numbers;
  if (entries.empty() ||
      !process_.read_memory(address, std::as_writable_bytes(std::span(entries)))) {
    return numbers;
  }
  for (const auto& entry : entries) {
    if (entry.fd >= 0) {
      numbers.push_back(static_cast<std::uint64_t>(entry.fd));
    }
  }
  return numbers;
}

std::vector<std::uint64_t> WaitReader::selected(const proc::ThreadCall& call) const {
  constexpr std::uint64_t most_bits = 1024;
  std::vector<std::uint64_t> numbers;
  const auto bits = std::min(call.arguments[0], most_bits);
  for (std::uint64_t number = 0; number < bits; ++number) {
    numbers.push_back(number);
  }
  std::array<std::array<std::uint8_t, most_bits / 8>, 3> sets{};
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto address = call.arguments[i + 1];
    if (address != 0) {
      const auto bytes = std::span(sets[i]).first((bits + 7) / 8);
      static_cast<void>(process_.read_memory(address, std::as_writable_bytes(bytes)));
    }
  }
  std::erase_if(numbers, [&](std::uint64_t number) {
    return std::none_of(sets.begin(), sets.end(), [&](const auto& set) {
      return (set[number / 8] >> (number % 8) & 1U) != 0;
    });
  });
  return numbers;
}

WaitTarget WaitReader::several(const proc::ThreadCall& call, const std::string& name) {
  const auto numbers = name.find("poll") != std::string::npos
                           ? polled(call.arguments[0], call.arguments[1])
                           : selected(call);
  if (numbers.size() == 1) {
    return descriptor(numbers[0]);
  }
  WaitTarget target;
  target.kind = numbers.empty() ? WaitTarget::Kind::time : WaitTarget::Kind::descriptors;
  std::vector<std::string> words;
  for (const auto number : numbers) {
    words.push_back(descriptor(number).text);
  }
  target.text = numbers.empty() ? "a sleep" : join(words, ", ");
  return target;
}

WaitTarget WaitReader::of(const proc::ThreadCall& call) {
  if (call.running || call.number < 0) {
    return {};
  }
  const auto kind = proc::call_kind(call.number);
  WaitTarget target;
  switch (kind.role) {
    case proc::CallRole::futex:
      return futex(call);
    case proc::CallRole::descriptor:
      return descriptor(call.arguments[0]);
    case proc::CallRole::descriptors:
      return several(call, kind.name);
    case proc::CallRole::time: {
      timespec time{};
      target.kind = WaitTarget::Kind::time;
      const bool relative = kind.name == "nanosleep" || (call.arguments[1] & TIMER_ABSTIME) == 0;
      const auto address = call.arguments[kind.name == "nanosleep" ? 0 : 2];
      if (relative && read_value(process_, address, time) && time.tv_nsec >= 0 &&
          time.tv_nsec < 1'000'000'000 && time.tv_sec >= 0) {
        target.text = "a sleep of " + seconds(time);
      }
      return target;
    }
    case proc::CallRole::child:
      target.kind = WaitTarget::Kind::other;
      target.text = kind.name == "wait4" && static_cast<std::int32_t>(call.arguments[0]) > 0
                        ? fmt::format("process {}", static_cast<std::int32_t>(call.arguments[0]))
                        : "a child process";
      return target;
    case proc::CallRole::other:
      break;
  }
  return target;
}

std::vector<std::vector<std::int32_t>> find_deadlocks(const std::vector<ThreadDump>& threads) {
  std::unordered_map<std::int32_t, std::int32_t> waits;
  for (const auto& thread : threads) {
    if (thread.waits_for.owner != 0 && thread.waits_for.owner != thread.id) {
      waits.emplace(thread.id, thread.waits_for.owner);
    }
  }
  std::vector<std::vector<std::int32_t>> circles;
  std::unordered_map<std::int32_t, std::int32_t> visited;  // thread -> the walk that met it first
  for (const auto& thread : threads) {
    std::vector<std::int32_t> walk;
    auto at = thread.id;
    while (waits.contains(at) && visited.emplace(at, thread.id).second) {
      walk.push_back(at);
      at = waits.at(at);
    }
    const auto start = std::find(walk.begin(), walk.end(), at);
    if (start != walk.end()) {
      circles.emplace_back(start, walk.end());
    }
  }
  return circles;
}

}  // namespace tracso::dump
