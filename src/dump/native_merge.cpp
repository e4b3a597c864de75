#include "dump/native_merge.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace tracso::dump {
namespace {

// Compilers add suffixes to parts and clones of a function: ".cold", ".constprop.0".
bool is_loop(const NativeFrame& frame) {
  const std::string_view name = frame.symbol;
  return name.substr(0, name.find('.')) == "_PyEval_EvalFrameDefault";
}

}  // namespace

bool merge_python(const PythonStack& python, NativeStack& native) {
  const auto calls = std::count_if(python.frames.begin(),
                                   python.frames.end(),
                                   [](const StackFrame& frame) { return frame.from_c; });
  const auto loops = std::count_if(native.frames.begin(), native.frames.end(), is_loop);
  if (python.torn || !python.whole || !native.whole || calls != loops ||
      (!python.frames.empty() && !python.frames.back().from_c)) {
    return false;
  }
  auto at = python.frames.begin();
  for (auto& frame : native.frames) {
    if (!is_loop(frame)) {
      continue;
    }
    const auto last =
        std::find_if(at, python.frames.end(), [](const StackFrame& one) { return one.from_c; });
    frame.python_frames = static_cast<std::size_t>(last - at) + 1;
    at = std::next(last);
  }
  return true;
}

void take_over(std::vector<python::ThreadStack> held, python::ThreadStacks& stacks) {
  std::unordered_set<pid_t> threads;
  for (const auto& stack : held) {
    threads.insert(stack.id);
  }
  std::erase_if(stacks.threads,
                [&](const python::ThreadStack& stack) { return threads.contains(stack.id); });
  stacks.threads.insert(stacks.threads.end(),
                        std::make_move_iterator(held.begin()),
                        std::make_move_iterator(held.end()));
}

}  // namespace tracso::dump
