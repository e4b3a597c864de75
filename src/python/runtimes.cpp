#include "python/runtimes.hpp"

#include "python/layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tracso::python {
namespace {

bool is_too_old(const Interpreter& interpreter) {
  const auto old = [](const Runtime& runtime) {
    return runtime.minor != 0 && runtime.minor < oldest_minor;
  };
  return interpreter.implementation == Implementation::cpython &&
         (interpreter.runtimes.empty() ||
          std::any_of(interpreter.runtimes.begin(), interpreter.runtimes.end(), old));
}

// It has an interpreter, by what its version says, and yet no layout fits.
bool has_begun(MemoryReader& memory, const Runtime& runtime) {
  const auto* row = find_layout(runtime.minor, false);
  return row != nullptr && memory.pointer(runtime.address + row->interpreter.head) != 0;
}

}  // namespace

Result<std::vector<LivingRuntime>> find_living_runtimes(const ProbeInput& input,
                                                        MemoryReader& memory,
                                                        const std::string& action) {
  const auto refusal = [&](std::string reason) {
    return Error{ErrorKind::unsupported,
                 action,
                 fmt::format("process {}", input.target.process->pid()),
                 std::move(reason),
                 ""};
  };
  const auto interpreter = find_interpreter(input);
  if (!interpreter) {
    return interpreter.error();
  }
  if (interpreter->implementation == Implementation::pypy) {
    return refusal("it is PyPy, which moves its objects while one looks");
  }
  std::vector<LivingRuntime> living;
  bool begun = false;
  for (const auto& runtime : interpreter->runtimes) {
    memory.forget();
    if (auto located = locate(memory, runtime, Effort::scan)) {
      living.push_back({runtime, std::move(*located)});
    }
    begun = begun || has_begun(memory, runtime);
  }
  if (is_too_old(*interpreter)) {
    return refusal(fmt::format("its Python {} is older than 3.{}, the first whose memory is read",
                               interpreter->version,
                               oldest_minor));
  }
  if (living.empty() && begun) {
    return refusal("its memory is not laid out like any CPython from 3.8 to 3.15");
  }
  return living;
}

}  // namespace tracso::python
