// Exceptions through frames of traced calls: 1000 through five, one through seven, with
// destructors, and thrown again.
#include <cstdio>
#include <stdexcept>
#include <string>

extern "C" {
void throw_below(int, int (*)(int));
int descend(int, int (*)(int));
}
void throw_with_guards(int, int*);

static int below(int depth) {
  throw_below(depth, below);
  return 0;
}

static int level(int depth) {
  if (depth == 3) {
    throw 42;
  }
  return descend(depth, level);
}

int main() {
  int sum = 0;
  int guards = 0;
  for (int i = 0; i < 1000; ++i) {
    try {
      throw_below(5, below);
    } catch (const std::exception& error) {
      sum += std::string(error.what()) == "thrown" ? 1 : 0;
    }
  }
  try {
    level(10);
  } catch (int value) {
    sum += value;
  }
  try {
    throw_with_guards(3, &guards);
  } catch (const std::string& text) {
    sum += text == "guarded" ? 100 : 0;
  }
  try {
    try {
      throw_below(0, below);
    } catch (...) {
      throw;
    }
  } catch (const std::runtime_error&) {
    sum += 1000;
  }
  std::printf("sum %d guards %d\n", sum, guards);
  return sum == 2142 && guards == 4 ? 0 : 1;
}
