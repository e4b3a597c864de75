#pragma once
// glibc calls the hook for debuggers twice for each dlopen: before it maps and when all is mapped,
// so a thread would stop twice. What the first stop is good for is to know when it was. So a gate
// (tracee/gate.hpp) lets the thread through then, and notes the time in a gap of struct r_debug.
// It still stops where something is about to be unloaded, or where the lists are those of another
// namespace.

#include "tracso/target.hpp"

#include "elf/memory_image.hpp"
#include "launch/program_start.hpp"
#include "tracee/breakpoints.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tracso::launch {

/// For a program that has just been exec'ed. Sets hook.stop and hook.gated where a gate could be
/// made; else everything stays as it was, and threads stop twice.
void make_loader_gate(tracee::Breakpoints& breakpoints,
                      const ProcessSource& process,
                      pid_t stopped,
                      const elf::MemoryImage& loader,
                      LoaderHook& hook);

/// Is the clock of gates one by which the kernel measures time, on all processors alike? `source`
/// is what current_clocksource of /sys/devices/system/clocksource says.
bool is_steady_clock(std::string_view source);

/// Says when a stamp of a gate was made: within the last half hour.
class StampClock {
 public:
  using Clock = std::chrono::steady_clock;

  StampClock();
  /// nullopt: it cannot be told.
  std::optional<Clock::time_point> time_of(std::uint32_t stamp) const;

 private:
  struct Reading {
    Clock::time_point time;
    std::uint64_t stamp = 0;
  };

  static Reading read();

  Reading first_;
};

}  // namespace tracso::launch
