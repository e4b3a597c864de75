#pragma once
// What a call passes and what it gives back, read from a stopped thread: what the agent does from
// inside (agent/capture.c), from outside.

#include "calls/events.hpp"
#include "calls/prototypes.hpp"
#include "tracee/registers.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracso::calls {

/// The smallest page there is.
constexpr std::uint64_t page_bytes = 4096;

/// Reads as much as there is: how many bytes.
std::size_t read_target(pid_t thread, std::uint64_t address, std::span<std::byte> into);

/// The thread stands at the first instruction of a function: its arguments, the return address (0:
/// the stack cannot be read) and what the prototype (may be nullptr) says that pointers lead to.
void capture_call(pid_t thread,
                  const tracee::Registers& registers,
                  const Prototype* prototype,
                  std::uint32_t text_bytes,
                  CallEvent& event);
/// The pieces alone, of words that are in the event already: of a system call.
void capture_pieces(pid_t thread,
                    const Prototype* prototype,
                    std::uint32_t text_bytes,
                    CallEvent& event);
/// The function has returned `event.result.integer`: what it has filled in. `words` are its integer
/// arguments.
void capture_results(pid_t thread,
                     std::span<const std::uint64_t, tracso_argument_registers> words,
                     const Prototype* prototype,
                     std::uint32_t text_bytes,
                     CallEvent& event);

/// errno of the thread, by what the C library's function for it does; 0: not known.
std::int64_t read_errno(pid_t thread, std::uint64_t function, const tracee::Registers& registers);

/// Whether floating-point registers belong to what is shown of it.
bool has_floating(const Prototype* prototype);

}  // namespace tracso::calls
