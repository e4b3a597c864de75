#pragma once
// Coroutines that no thread runs: what they await, from one to the next (cr_await).

#include "python/memory_frames.hpp"
#include "python/memory_objects.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tracso::python {

enum class CoroutineState : std::uint8_t { created, suspended, runs, done, unreadable };

struct AwaitChain {
  CoroutineState state = CoroutineState::unreadable;  ///< of the first
  std::vector<Frame> frames;                          ///< innermost first
  bool whole = true;  ///< false: it goes on, where it cannot be read
};

/// The coroutines that wait for each other, from `coroutine` on. Where one runs, or begins with
/// what only its byte code could tell (a generator before 3.13), the chain ends.
AwaitChain await_chain(Objects& objects, std::uint64_t coroutine);

}  // namespace tracso::python
