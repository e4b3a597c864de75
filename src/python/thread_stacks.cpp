#include "python/thread_stacks.hpp"

#include "python/interpreter.hpp"
#include "python/memory_locate.hpp"
#include "python/runtime_stacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace tracso::python {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20U;
constexpr std::size_t most_lines = std::size_t{1} << 16U;
constexpr std::uint32_t oldest_minor = 8;

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
      runtime.read_asyncio(stacks);
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
    limits.bytes = most_bytes;
    limits.lines = most_lines;
    limits.deadline = std::chrono::steady_clock::now() + input_.timeout;
    return limits;
  }

  Error refusal(std::string reason) const {
    return {ErrorKind::unsupported,
            "read the Python stacks of",
            fmt::format("process {}", input_.target.process->pid()),
            std::move(reason),
            ""};
  }

  std::optional<Error> find();

  const ProbeInput& input_;
  MemoryReader memory_;
  std::vector<RuntimeReader> runtimes_;
  std::string version_;
};

std::optional<Error> ThreadStackReader::Reading::find() {
  const auto interpreter = find_interpreter(input_);
  if (!interpreter) {
    return interpreter.error();
  }
  if (interpreter->implementation == Implementation::pypy) {
    return refusal("it is PyPy, which moves its objects while one looks");
  }
  bool begun = false;
  for (const auto& runtime : interpreter->runtimes) {
    memory_.forget();
    if (auto located = locate(memory_, runtime, Effort::scan)) {
      version_ = version_.empty() ? version_text(located->version) : version_;
      runtimes_.emplace_back(memory_, runtime.address, located->layout);
    }
    const auto* row = find_layout(runtime.minor, false);
    begun =
        begun || (row != nullptr && memory_.pointer(runtime.address + row->interpreter.head) != 0);
  }
  const bool too_old = std::any_of(
      interpreter->runtimes.begin(), interpreter->runtimes.end(), [](const Runtime& runtime) {
        return runtime.minor != 0 && runtime.minor < oldest_minor;
      });
  const bool older = interpreter->implementation == Implementation::cpython &&
                     (interpreter->runtimes.empty() || too_old);
  if (older) {
    return refusal(fmt::format("its Python {} is older than 3.{}, the first whose memory is read",
                               interpreter->version,
                               oldest_minor));
  }
  if (runtimes_.empty() && begun) {
    return refusal("its memory is not laid out like any CPython from 3.8 to 3.15");
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
