#pragma once
// The general registers of a stopped thread, whatever the processor and the program's width.

#include "tracee/architecture.hpp"

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tracso::tracee {

class Registers {
 public:
  /// nullopt: the thread is not stopped, or the processor is not known here.
  static std::optional<Registers> of(pid_t thread);
  /// false: the thread has died.
  bool give_to(pid_t thread) const;

  std::uint64_t pc() const { return get(layout_.pc); }

  void set_pc(std::uint64_t address) { set(layout_.pc, address); }

  std::uint64_t stack() const { return get(layout_.stack); }

  bool is_32_bit() const { return layout_.word == 4; }

  /// Where the breakpoint stands that the thread has just reported.
  std::uint64_t breakpoint_address() const { return pc() - breakpoint_advance(); }

  /// Is the thread in exit(2), which ends it and not its process?
  bool ends_only_itself() const { return get(layout_.call) == layout_.exit_call; }

  /// Does what the return instruction would do, for a thread that stands at the first instruction
  /// of a function. false: its stack cannot be read.
  bool return_to_caller(pid_t thread);

  /// For a thread at the first instruction of a function: its argument number 0, 1, ... as a word;
  /// from 6 on 0 where they come in registers. nullopt: its stack cannot be read.
  std::optional<std::uint64_t> argument(pid_t thread, std::size_t number) const;
  /// For a thread there: does what that instruction would do. false: its stack cannot be written,
  /// or the word that it jumps through not be read.
  bool perform(pid_t thread, const EntryInstruction& instruction);

  /// For a thread whose system call our stop has interrupted: where it would return EINTR for no
  /// better reason, the kernel repeats it, unless a signal handler runs first. true: changed.
  bool repeat_call();

  /// As the kernel gives them (NT_PRSTATUS).
  std::span<const std::byte> bytes() const { return std::span(bytes_).first(size_); }

  /// The register by which the thread finds its own memory (fs_base); 0: not known.
  std::uint64_t thread_pointer() const {
    return layout_.thread_pointer ? get(*layout_.thread_pointer) : 0;
  }

  /// What the function returns, for a thread that has just returned from it; nullopt: not known on
  /// this processor.
  std::optional<std::uint64_t> result() const {
    return layout_.result ? std::optional(get(*layout_.result)) : std::nullopt;
  }

  /// Bytes of a word of the program: 4 or 8.
  std::size_t word() const { return layout_.word; }

 private:
  std::uint64_t get(std::size_t offset) const;
  void set(std::size_t offset, std::uint64_t value);

  std::array<std::byte, 1024> bytes_{};
  std::size_t size_ = 0;
  RegisterLayout layout_;
};

}  // namespace tracso::tracee
