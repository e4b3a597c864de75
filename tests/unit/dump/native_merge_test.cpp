#include "dump/native_merge.hpp"

#include "support/catch.hpp"

namespace tracso::dump {
namespace {

constexpr const char* loop = "_PyEval_EvalFrameDefault";

NativeStack native(const std::vector<std::string>& symbols) {
  NativeStack stack;
  for (const auto& symbol : symbols) {
    stack.frames.emplace_back();
    stack.frames.back().symbol = symbol;
  }
  return stack;
}

PythonStack python(const std::vector<bool>& from_c) {
  PythonStack stack;
  for (const bool entered : from_c) {
    stack.frames.push_back({"f.py", "f", 1, entered});
  }
  return stack;
}

std::vector<std::size_t> counts(const NativeStack& stack) {
  std::vector<std::size_t> found;
  for (const auto& frame : stack.frames) {
    found.push_back(frame.python_frames);
  }
  return found;
}

using Counts = std::vector<std::size_t>;

TEST_CASE("native stack: each call of the loop has the frames it runs", "[dump]") {
  auto stack = native({"read", loop, "list_sort", "_PyEval_EvalFrameDefault.cold", "main"});
  REQUIRE(merge_python(python({false, true, true}), stack));
  CHECK(counts(stack) == Counts{0, 2, 0, 1, 0});
  stack = native({"read", loop});
  REQUIRE(merge_python(python({false, false, true}), stack));
  CHECK(counts(stack) == Counts{0, 3});
  stack = native({"read", "main"});
  CHECK(merge_python(python({}), stack));
}

TEST_CASE("native stack: what does not match is left apart", "[dump]") {
  auto stack = native({"read", loop, loop});
  CHECK_FALSE(merge_python(python({true}), stack));
  CHECK_FALSE(merge_python(python({true, true, true}), stack));
  CHECK_FALSE(merge_python(python({true, false, true, false}), stack));  // begins with no call
  auto torn = python({true, true});
  torn.torn = true;
  CHECK_FALSE(merge_python(torn, stack));
  auto cut = python({true, true});
  cut.whole = false;
  CHECK_FALSE(merge_python(cut, stack));
  stack.whole = false;
  CHECK_FALSE(merge_python(python({true, true}), stack));
  CHECK(counts(stack) == Counts{0, 0, 0});
  stack.whole = true;
  CHECK(merge_python(python({true, true}), stack));
}

TEST_CASE("native stack: stacks of held threads replace those read before", "[dump]") {
  python::ThreadStacks stacks;
  stacks.threads = {{1, python({true})}, {2, python({true, true})}, {0, python({true})}};
  take_over({{1, python({true, true, true})}}, stacks);
  REQUIRE(stacks.threads.size() == 3);
  CHECK(stacks.threads[0].id == 2);
  CHECK(stacks.threads[2].id == 1);
  CHECK(stacks.threads[2].stack.frames.size() == 3);
}

}  // namespace
}  // namespace tracso::dump
