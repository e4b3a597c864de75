#pragma once
// The processes and threads that the engine traces.

#include "calls/engine_memory.hpp"
#include "calls/events.hpp"
#include "tracee/moved_instruction.hpp"

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tracso::calls {

/// A call that has not returned.
struct UnderWay {
  std::uint64_t place = 0;  ///< where on the stack its return address stands
  std::uint64_t return_address = 0;
  std::uint64_t told_place =
      0;  ///< as events name it: calls at one place have numbers of their own
  std::uint32_t site = 0;
  std::uint64_t ticks = 0;
  std::array<std::uint64_t, tracso_argument_registers> words{};
};

/// An instruction that a thread carries out at another place.
struct MovedStep {
  std::uint64_t address = 0, spare = 0;
  tracee::MovedInstruction instruction;
  std::array<std::uint8_t, 16> spare_bytes{};  ///< what stood there
};

struct EngineProcess {
  pid_t pid = 0;
  std::shared_ptr<EngineMemory> memory;
  std::uint32_t program = 0;
  bool told = true;  ///< its calls are; else it only lives in a memory that is watched
};

struct EngineThread {
  pid_t number = 0;
  std::shared_ptr<EngineProcess> process;
  bool stopped = false;
  bool attached = false;        ///< it ran already, and has not stopped for us yet
  bool waits = false;           ///< in a stop of job control
  bool bears = false;           ///< asleep until its child of vfork has another memory
  std::vector<UnderWay> calls;  ///< innermost last
  std::optional<UnderWay> system_call;
  std::optional<std::uint64_t> waited_in;  ///< system call, when we came
  std::optional<MovedStep> moved;
  /// A breakpoint that it has reported already, and the stack pointer there: a signal came first.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> reported;
};

}  // namespace tracso::calls
