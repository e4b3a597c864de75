#pragma once
// What differs between processors: where registers lie and what a breakpoint is. One file each.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tracso::tracee {

/// Offsets in bytes into the general registers as PTRACE_GETREGSET gives them.
struct RegisterLayout {
  std::size_t word = 8;  ///< bytes of a register: 4 for a 32-bit program
  std::size_t pc = 0, stack = 0;
  std::size_t call = 0;             ///< the number of the system call the thread is in
  std::optional<std::size_t> link;  ///< holds the return address; nullopt: it lies on the stack
  std::uint64_t exit_call = 0;      ///< exit(2), which ends one thread only
  /// The first arguments of a function; nullopt: they lie on the stack behind the return address.
  std::optional<std::array<std::size_t, 6>> arguments;
  std::optional<std::size_t> thread_pointer;  ///< nullopt: not among the general registers
  /// What a function or a system call returns; nullopt: not known here, or changing it does not
  /// make the kernel repeat a call.
  std::optional<std::size_t> result = std::nullopt;
};

/// The layout of a register set of that many bytes: the size tells 32-bit from 64-bit programs.
/// nullopt: not known here; then nothing can be told or changed about the thread.
std::optional<RegisterLayout> register_layout(std::size_t bytes);

/// The first instruction of a function, or one that leads into another library, where it is one
/// whose work can be done by changing registers and the stack: it lowers the stack pointer, may
/// store a word there, may jump.
struct EntryInstruction {
  std::size_t bytes = 0;
  std::uint64_t lowers_stack = 0;      ///< by so many bytes
  std::optional<std::size_t> pushes;   ///< stores the register at this offset on the new top
  std::optional<std::uint64_t> calls;  ///< or the address behind it, and goes on so far from there
  /// Goes on at the address that stands in the word so far behind it; with `calls` it is a call.
  std::optional<std::int64_t> through = std::nullopt;
  bool operator==(const EntryInstruction&) const = default;
};

/// nullopt: another instruction, or not on this processor. `word` as in RegisterLayout.
std::optional<EntryInstruction> entry_instruction(std::span<const std::uint8_t> code,
                                                  std::size_t word);

/// A va_list of a 64-bit program as it lies in memory; not all of it is used everywhere.
using VariableArguments = std::array<std::byte, 32>;

/// Where the next `count` arguments of a va_list lie that are words or smaller, in order; empty:
/// not known on this processor.
std::vector<std::uint64_t> places_of_arguments(const VariableArguments& list, std::size_t count);

/// For a function of a 64-bit program that does nothing but return an address at a fixed distance
/// from the thread pointer (__errno_location): that distance. nullopt: another function, or not on
/// this processor.
std::optional<std::uint64_t> returned_thread_offset(std::span<const std::uint8_t> code);

/// Does this system call of a 64-bit program fail with EINTR where a stop has interrupted it,
/// though it can be repeated without harm (signal(7), last section)? false: it is repeated by the
/// kernel itself, is not to be repeated, or is not known.
bool fails_after_a_stop(std::uint64_t call);

/// The breakpoint instruction; empty: breakpoints are not understood on this processor.
std::span<const std::uint8_t> breakpoint_code();

/// The instruction of one byte that returns from a function; nullopt: this processor has none.
std::optional<std::uint8_t> return_byte();

/// How far behind the breakpoint's address the thread stands when it reports one.
std::uint64_t breakpoint_advance();

}  // namespace tracso::tracee
