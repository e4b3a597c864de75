#include "python/thread_stacks.hpp"

#include "python/runtime_stacks.hpp"
#include "python/runtimes.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace tracso::python {
namespace {

constexpr std::uint64_t most_stack_bytes = std::uint64_t{256} << 20U;
constexpr std::size_t most_stack_lines = std::size_t{1} << 16U;

}  // namespace

class ThreadStackReader::Reading {
 public:
  explicit Reading(const ProbeInput& input)
      : input_(input), memory_(*input.target.process, limits()) {}

  Result<ThreadStacks> read(const std::vector<KernelThread>& threads) {
    memory_.restart(limits());
    if (runtimes_.empty()) {
      if (auto error = find()) {
        return *error;
      }
    }
    ThreadStacks stacks;
    stacks.version = version_;
    for (auto& runtime : runtimes_) {
      runtime.read(threads, stacks);
      runtime.read_names(stacks);
      runtime.read_asyncio(input_, stacks);
    }
    stacks.cut = memory_.exhausted();
    return stacks;
  }

  std::vector<PythonLock> locks(const std::vector<WordWait>& waits) {
    std::vector<PythonLock> found;
    for (auto& runtime : runtimes_) {
      runtime.find_locks(waits, found);
    }
    return found;
  }

  void take_held(pid_t thread, std::chrono::milliseconds limit) {
    auto short_time = limits();
    short_time.deadline = std::chrono::steady_clock::now() + limit;
    memory_.restart(short_time);
    for (auto& runtime : runtimes_) {
      runtime.take_held(thread);
    }
  }

  std::vector<ThreadStack> held_stacks() {
    memory_.restart(limits());
    std::vector<ThreadStack> stacks;
    for (auto& runtime : runtimes_) {
      runtime.describe_held(stacks);
    }
    return stacks;
  }

 private:
  ReadLimits limits() const {
    ReadLimits limits;
    limits.bytes = most_stack_bytes;
    limits.lines = most_stack_lines;
    limits.deadline = std::chrono::steady_clock::now() + input_.timeout;
    return limits;
  }

  std::optional<Error> find();

  const ProbeInput& input_;
  MemoryReader memory_;
  std::vector<RuntimeReader> runtimes_;
  std::string version_;
};

std::optional<Error> ThreadStackReader::Reading::find() {
  const auto living = find_living_runtimes(input_, memory_, "read the Python stacks of");
  if (!living) {
    return living.error();
  }
  for (const auto& one : *living) {
    version_ = version_.empty() ? version_text(one.located.version) : version_;
    runtimes_.emplace_back(memory_, one.runtime, one.located.layout);
  }
  return std::nullopt;
}

ThreadStackReader::ThreadStackReader(const ProbeInput& input)
    : reading_(std::make_unique<Reading>(input)) {}

ThreadStackReader::~ThreadStackReader() = default;
ThreadStackReader::ThreadStackReader(ThreadStackReader&&) noexcept = default;
ThreadStackReader& ThreadStackReader::operator=(ThreadStackReader&&) noexcept = default;

Result<ThreadStacks> ThreadStackReader::read(const std::vector<KernelThread>& threads) {
  return reading_->read(threads);
}

std::vector<PythonLock> ThreadStackReader::locks(const std::vector<WordWait>& waits) {
  return reading_->locks(waits);
}

void ThreadStackReader::take_held(pid_t thread, std::chrono::milliseconds limit) {
  reading_->take_held(thread, limit);
}

std::vector<ThreadStack> ThreadStackReader::held_stacks() {
  return reading_->held_stacks();
}

}  // namespace tracso::python
