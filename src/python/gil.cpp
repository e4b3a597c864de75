#include "python/gil.hpp"

#include "python/layouts.hpp"

#include <algorithm>
#include <array>

namespace tracso::python {
namespace {

// The lock's own fields have not moved from 3.8 to 3.14: interval, last_holder, locked, ..., two
// condition variables and mutexes.
constexpr std::uint32_t holder_at = 8, locked_at = 16, gil_bytes = 208;

// _PyRuntimeState.ceval.gil, as compilers lay it out for the headers of that version.
struct InRuntime {
  std::uint32_t minor, offset;
};

constexpr std::array in_runtime = {
    InRuntime{8, 1152}, InRuntime{9, 352}, InRuntime{10, 352}, InRuntime{11, 360}};

// PyInterpreterState.ceval.gil of 3.12, a pointer; later versions say themselves where it is.
constexpr std::uint32_t pointer_of_3_12 = 384;

// _Py_DebugOffsets.interpreter_state.ceval_gil: bytes from its start.
constexpr std::uint32_t gil_told_by_3_13 = 112, gil_told_since_3_14 = 120;

std::uint64_t address_of(Objects& objects, std::uint64_t runtime, std::uint64_t interpreter) {
  const auto minor = objects.layout().minor;
  auto& memory = objects.memory();
  const auto found = std::find_if(in_runtime.begin(), in_runtime.end(), [&](const InRuntime& row) {
    return row.minor == minor;
  });
  if (found != in_runtime.end()) {
    return runtime + found->offset;
  }
  if (minor == 12) {
    return memory.pointer(interpreter + pointer_of_3_12);
  }
  if (minor < 12 || minor > newest_minor) {
    return 0;
  }
  const auto offset =
      memory.pointer(runtime + (minor == 13 ? gil_told_by_3_13 : gil_told_since_3_14));
  return offset == 0 || offset > largest_offset ? 0 : memory.pointer(interpreter + offset);
}

}  // namespace

std::optional<Gil> read_gil(Objects& objects, std::uint64_t runtime, std::uint64_t interpreter) {
  if (objects.layout().free_threaded) {
    return std::nullopt;
  }
  const auto start = address_of(objects, runtime, interpreter);
  auto& memory = objects.memory();
  const auto locked = start == 0
                          ? std::nullopt
                          : memory.value<std::int32_t>(start + locked_at);  // -1: not made yet
  if (!locked || *locked < -1 || *locked > 1) {
    return std::nullopt;
  }
  return Gil{start, start + gil_bytes, *locked == 1 ? memory.pointer(start + holder_at) : 0};
}

}  // namespace tracso::python
