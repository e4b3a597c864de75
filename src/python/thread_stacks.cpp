// Nothing holds a thread still, so one reading of its stack proves nothing: while we go from frame
// to frame it may return and call, and the frames of two moments come out as one stack that never
// was. A stack is taken when two readings in a row agree in every frame; in the innermost the
// instruction may move on, for that function is the one that runs. A stack that never agrees is
// given as last read, and marked.

#include "python/thread_stacks.hpp"

#include "python/gil.hpp"
#include "python/memory_frames.hpp"
#include "python/native_ids.hpp"
#include "python/runtimes.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tracso::python {
namespace {

constexpr int readings = 4;  // at most, of each stack
constexpr std::size_t most_frames = 10000;
constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20U;
constexpr std::size_t most_lines = std::size_t{1} << 16U;
constexpr std::uint64_t code_bytes = 240, text_bytes = 128, table_bytes = 256;

// The same stack: the same functions called at the same places.
bool agree(const Stack& one, const Stack& other) {
  if (one.whole != other.whole || one.frames.size() != other.frames.size()) {
    return false;
  }
  for (std::size_t i = 0; i < one.frames.size(); ++i) {
    const Frame& a = one.frames[i];
    const Frame& b = other.frames[i];
    if (a.address != b.address || a.code != b.code || (i != 0 && a.instruction != b.instruction)) {
      return false;
    }
  }
  return true;
}

// One runtime (a process may have several, rarely).
class RuntimeReader {
 public:
  RuntimeReader(MemoryReader& memory, std::uint64_t runtime, const Layout& layout)
      : memory_(memory), objects_(memory, layout), runtime_(runtime) {}

  void read(const std::vector<KernelThread>& threads, ThreadStacks& into);

 private:
  struct Taken {
    Stack stack;
    bool torn = true;
  };

  std::vector<Taken> take_stacks(const std::vector<ThreadState>& states);
  std::vector<pid_t> ids_of(const std::vector<ThreadState>& states,
                            const std::vector<KernelThread>& threads);
  void fetch_codes(const std::vector<Taken>& taken);
  PythonStack described(const Taken& taken);
  StackFrame described(const Frame& frame);
  bool is_code(std::uint64_t object);
  std::uint64_t name_of(std::uint64_t code);

  MemoryReader& memory_;
  Objects objects_;
  std::uint64_t runtime_;
  std::uint64_t code_type_ = 0;
};

std::vector<RuntimeReader::Taken> RuntimeReader::take_stacks(
    const std::vector<ThreadState>& states) {
  std::vector<Taken> taken(states.size());
  bool any_torn = true;
  for (int round = 0; round < readings && any_torn; ++round) {
    any_torn = false;
    objects_.forget_objects();
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (!taken[i].torn) {
        continue;
      }
      auto stack = read_stack(objects_, states[i].address, most_frames);
      taken[i].torn = round == 0 || !agree(stack, taken[i].stack);
      taken[i].stack = std::move(stack);
      any_torn = any_torn || taken[i].torn;
    }
  }
  return taken;
}

std::vector<pid_t> RuntimeReader::ids_of(const std::vector<ThreadState>& states,
                                         const std::vector<KernelThread>& threads) {
  std::vector<pid_t> own;
  if (objects_.layout().thread.native_id != 0) {
    for (const auto& state : states) {
      own.push_back(static_cast<pid_t>(state.native_id));
    }
  } else {
    std::vector<std::uint64_t> pthreads;
    std::vector<pid_t> known;
    for (const auto& state : states) {
      pthreads.push_back(state.thread_id);
    }
    for (const auto& thread : threads) {
      known.push_back(thread.own);
    }
    own = native_ids(memory_, pthreads, known);
  }
  std::unordered_map<pid_t, pid_t> seen;
  for (const auto& thread : threads) {
    seen.emplace(thread.own, thread.seen);
  }
  for (auto& id : own) {
    const auto found = seen.find(id);
    id = found == seen.end() ? 0 : found->second;
  }
  return own;
}

std::uint64_t RuntimeReader::name_of(std::uint64_t code) {
  const auto& layout = objects_.layout().code;
  return memory_.pointer(code + (layout.qualified_name != 0 ? layout.qualified_name : layout.name));
}

// Three rounds, for each needs the one before.
void RuntimeReader::fetch_codes(const std::vector<Taken>& taken) {
  const auto& layout = objects_.layout().code;
  std::unordered_set<std::uint64_t> codes;
  for (const auto& one : taken) {
    for (const auto& frame : one.stack.frames) {
      if (codes.insert(frame.code).second) {
        memory_.plan(frame.code, code_bytes);
      }
    }
  }
  memory_.fetch();
  for (const auto code : codes) {
    memory_.plan(memory_.pointer(code + layout.filename), text_bytes);
    memory_.plan(name_of(code), text_bytes);
    memory_.plan(memory_.pointer(code + layout.line_table), table_bytes);
  }
  memory_.fetch();
}

bool RuntimeReader::is_code(std::uint64_t object) {
  const auto type = objects_.type_of(object);
  if (code_type_ == 0 && type != 0 && objects_.type_name(type) == "code") {
    code_type_ = type;
  }
  return type != 0 && type == code_type_;
}

StackFrame RuntimeReader::described(const Frame& frame) {
  if (!is_code(frame.code)) {
    return {};
  }
  const auto file = objects_.text(memory_.pointer(frame.code + objects_.layout().code.filename));
  const auto function = objects_.text(name_of(frame.code));
  return {file.value_or(""), function.value_or(""), current_line(objects_, frame)};
}

PythonStack RuntimeReader::described(const Taken& taken) {
  PythonStack stack;
  stack.torn = taken.torn;
  stack.whole = taken.stack.whole;
  for (const auto& frame : taken.stack.frames) {
    stack.frames.push_back(described(frame));
    stack.whole = stack.whole && !stack.frames.back().function.empty();
  }
  return stack;
}

void RuntimeReader::read(const std::vector<KernelThread>& threads, ThreadStacks& into) {
  objects_.forget_objects();
  const auto states = all_thread_states(objects_, runtime_);
  const auto ids = ids_of(states, threads);
  std::unordered_map<std::uint64_t, pid_t> owner;  // of thread states
  std::unordered_map<std::uint64_t, Gil> gils;     // by address: interpreters may share one
  for (std::size_t i = 0; i < states.size(); ++i) {
    owner.emplace(states[i].address, ids[i]);
    if (const auto gil = read_gil(objects_, runtime_, states[i].interpreter)) {
      gils.emplace(gil->start, *gil);
    }
  }
  std::unordered_set<std::uint64_t> holders;
  for (const auto& [start, gil] : gils) {
    const auto holder = owner.find(gil.holder);
    into.gils.push_back({start, gil.end, holder == owner.end() ? 0 : holder->second});
    holders.insert(gil.holder);
  }
  const auto taken = take_stacks(states);
  fetch_codes(taken);
  for (std::size_t i = 0; i < states.size(); ++i) {
    auto stack = described(taken[i]);
    stack.has_gil = holders.contains(states[i].address);
    into.threads.push_back({ids[i], std::move(stack)});
  }
}

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
    }
    stacks.cut = memory_.exhausted();
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
    runtimes_.emplace_back(memory_, one.runtime.address, one.located.layout);
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

}  // namespace tracso::python
