// Nothing holds a thread still, so one reading of its stack proves nothing: while we go from frame
// to frame it may return and call, and the frames of two moments come out as one stack that never
// was. A stack is taken when two readings in a row agree in every frame; in the innermost the
// instruction may move on, for that function is the one that runs. A stack that never agrees is
// given as last read, and marked.

#include "python/runtime_stacks.hpp"

#include "python/gil.hpp"
#include "python/native_ids.hpp"

#include <unordered_map>
#include <utility>

namespace tracso::python {
namespace {

constexpr std::size_t most_stack_frames = 10000;
constexpr std::uint64_t planned_code = 240, planned_text = 128, planned_table = 256;

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

}  // namespace

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
      auto stack = read_stack(objects_, states[i].address, most_stack_frames);
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
        memory_.plan(frame.code, planned_code);
      }
    }
  }
  memory_.fetch();
  for (const auto code : codes) {
    memory_.plan(memory_.pointer(code + layout.filename), planned_text);
    memory_.plan(name_of(code), planned_text);
    memory_.plan(memory_.pointer(code + layout.line_table), planned_table);
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
    return {"", "", 0, frame.from_c};
  }
  const auto file = objects_.text(memory_.pointer(frame.code + objects_.layout().code.filename));
  const auto function = objects_.text(name_of(frame.code));
  return {file.value_or(""), function.value_or(""), current_line(objects_, frame), frame.from_c};
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
  held_.clear();
  states_ = all_thread_states(objects_, runtime_);
  ids_ = ids_of(states_, threads);
  std::unordered_map<std::uint64_t, pid_t> owner;  // of thread states
  std::unordered_map<std::uint64_t, Gil> gils;     // by address: interpreters may share one
  for (std::size_t i = 0; i < states_.size(); ++i) {
    owner.emplace(states_[i].address, ids_[i]);
    if (const auto gil = read_gil(objects_, runtime_, states_[i].interpreter)) {
      gils.emplace(gil->start, *gil);
    }
  }
  holders_.clear();
  for (const auto& [start, gil] : gils) {
    const auto holder = owner.find(gil.holder);
    into.gils.push_back({start, gil.end, holder == owner.end() ? 0 : holder->second});
    holders_.insert(gil.holder);
  }
  const auto taken = take_stacks(states_);
  fetch_codes(taken);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    auto stack = described(taken[i]);
    stack.has_gil = holders_.contains(states_[i].address);
    into.threads.push_back({ids_[i], std::move(stack)});
  }
}

pid_t RuntimeReader::thread_of(std::uint64_t pthread) const {
  for (std::size_t i = 0; i < states_.size() && pthread != 0; ++i) {
    if (states_[i].thread_id == pthread) {
      return ids_[i];
    }
  }
  return 0;
}

void RuntimeReader::take_held(pid_t thread) {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (ids_[i] == thread) {
      objects_.forget_objects();
      held_.push_back({i, {read_stack(objects_, states_[i].address, most_stack_frames), false}});
    }
  }
}

void RuntimeReader::describe_held(std::vector<ThreadStack>& into) {
  std::vector<Taken> taken;
  for (auto& held : held_) {
    taken.push_back(std::move(held.taken));
  }
  fetch_codes(taken);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const auto state = held_[i].state;
    auto stack = described(taken[i]);
    stack.has_gil = holders_.contains(states_[state].address);
    into.push_back({ids_[state], std::move(stack)});
  }
  held_.clear();
}

}  // namespace tracso::python
