// PyCoroObject, and what PyGen_yf (Objects/genobject.c) finds in it: a coroutine can only be
// suspended in an await, and what it awaits lies on top of its stack. A generator may also be
// suspended at a plain yield; only since 3.13 its state tells which.

#include "python/coroutines.hpp"

#include "python/layouts.hpp"

#include <algorithm>
#include <unordered_set>

namespace tracso::python {
namespace {

constexpr std::size_t most_awaiting = 256;

// Counted from the end of PyObject (a frame: from its start), by the headers of each version.
namespace suspended {
constexpr std::uint32_t frame_object = 0;                              // until 3.10
constexpr std::uint32_t state_3_11 = 59, frame_3_11 = 64;              // 3.11
constexpr std::uint32_t state = 51, frame = 56;                        // since 3.12
constexpr std::uint32_t value_stack = 64, stack_top = 72, depth = 80;  // of a frame object
constexpr std::uint32_t top = 64;  // of a frame: 3.11 a number of values, since 3.14 a pointer
}  // namespace suspended

constexpr std::uint64_t most_depth = 1U << 16U;
constexpr std::int8_t executing = 0, yields_from = -1;  // since 3.13 the latter

struct Suspended {
  CoroutineState state = CoroutineState::unreadable;
  bool awaits = false;  // it is certain that the top of its stack is what it waits for
  std::uint64_t frame = 0;
  std::uint64_t top = 0;  // address of the top of its stack
};

Suspended old_coroutine(Objects& objects, std::uint64_t object) {
  auto& memory = objects.memory();
  const auto& layout = objects.layout();
  Suspended found;
  const auto frame =
      memory.value<std::uint64_t>(object + layout.object.bytes + suspended::frame_object);
  if (!frame || *frame == 0) {
    found.state = frame ? CoroutineState::done : CoroutineState::unreadable;
    return found;
  }
  found.frame = *frame;
  const auto instruction =
      memory.value<std::int32_t>(found.frame + layout.frame.instruction).value_or(0);
  const auto depth = memory.value<std::int32_t>(found.frame + suspended::depth).value_or(-1);
  const auto bottom = memory.pointer(found.frame + suspended::value_stack);
  const auto end = layout.minor <= 9 ? memory.pointer(found.frame + suspended::stack_top)
                   : depth < 0       ? 0
                                     : bottom + 8 * static_cast<std::uint64_t>(depth);
  found.state = instruction < 0 ? CoroutineState::created
                : end == 0      ? CoroutineState::runs
                                : CoroutineState::suspended;
  found.awaits = end > bottom;
  found.top = end - 8;
  return found;
}

Suspended new_coroutine(Objects& objects, std::uint64_t object) {
  auto& memory = objects.memory();
  const auto& layout = objects.layout();
  Suspended found;
  const bool first = layout.minor == 11;
  const auto body = object + layout.object.bytes;
  const auto state =
      memory.value<std::int8_t>(body + (first ? suspended::state_3_11 : suspended::state));
  if (!state) {
    return found;
  }
  const std::int8_t created = layout.minor <= 12 ? -2 : -3;
  found.frame = body + (first ? suspended::frame_3_11 : suspended::frame);
  found.state = *state > executing    ? CoroutineState::done
                : *state == executing ? CoroutineState::runs
                : *state == created   ? CoroutineState::created
                                      : CoroutineState::suspended;
  const auto bottom = found.frame + layout.frame.locals;
  const auto end =
      layout.minor <= 13
          ? bottom + 8 * memory.value<std::uint32_t>(found.frame + suspended::top).value_or(0)
          : memory.pointer(found.frame + suspended::top);
  found.awaits = end > bottom && end < bottom + 8 * most_depth &&
                 (layout.minor <= 12 || *state == yields_from);
  found.top = end - 8;
  return found;
}

bool is_wrapper(const std::string& type) {
  return type == "coroutine_wrapper" || type == "async_generator_asend" ||
         type == "async_generator_athrow" || type == "anext_awaitable";
}

}  // namespace

AwaitChain await_chain(Objects& objects, std::uint64_t coroutine) {
  auto& memory = objects.memory();
  const auto& layout = objects.layout();
  AwaitChain chain;
  std::unordered_set<std::uint64_t> seen;
  for (auto object = coroutine; object != 0;) {
    if (!seen.insert(object).second || chain.frames.size() == most_awaiting) {
      chain.whole = false;
      break;
    }
    const auto type = objects.type_name(objects.type_of(object));
    if (is_wrapper(type)) {  // each begins with what it wraps
      object = memory.pointer(object + layout.object.bytes);
      continue;
    }
    const bool is_generator = type == "generator";
    if (type != "coroutine" && type != "async_generator" && !is_generator) {
      break;
    }
    const auto one =
        layout.minor <= 10 ? old_coroutine(objects, object) : new_coroutine(objects, object);
    const bool first = chain.state == CoroutineState::unreadable;
    chain.state = first ? one.state : chain.state;
    const auto frame = one.frame == 0 ? std::nullopt : frame_at(objects, one.frame);
    if (one.state == CoroutineState::done || !frame) {
      chain.whole = one.state == CoroutineState::done;
      break;
    }
    chain.frames.push_back(*frame);
    const bool certain = one.awaits && (!is_generator || layout.minor >= 13);
    if (one.state != CoroutineState::suspended || !certain) {
      break;
    }
    object = memory.pointer(one.top) & ~tag_bits;
  }
  std::reverse(chain.frames.begin(), chain.frames.end());
  return chain;
}

}  // namespace tracso::python
