#pragma once
// Where a thread of a process may be borrowed (tracee/borrowed_thread.hpp) to call dlopen: where it
// holds no lock of malloc or of the loader, and is in the middle of no work of theirs.
//
//   waiting    in a system call that a program makes in order to wait, made by no code of the
//   loader running    code that belongs neither to the C library, nor the loader, nor an allocator
//
// A signal handler may have interrupted anything. So the stack is searched for what the kernel puts
// there for a handler, and what it interrupted must be such a place, too. What is left of a handler
// that has returned makes a moment look unsafe that is not: then the next one is tried.

#include "tracso/mapping.hpp"
#include "tracso/target.hpp"

#include "tracee/borrowed_thread.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tracso::calls {

class SafePlaces {
 public:
  /// As the process is now: its mappings, and which of its libraries define malloc.
  static Result<SafePlaces> of(const Target& target);

  /// Why a thread may not be borrowed there; empty: it may.
  std::string objection(const tracee::BorrowedThread& thread) const;

  /// "syscall; ret" in the C library; 0: none found.
  std::uint64_t system_call_instruction() const { return system_call_; }

  /// Code there that calls rt_sigreturn(2); 0: none found.
  std::uint64_t restorer() const { return restorers_.empty() ? 0 : restorers_.front(); }

  /// Where so much address space is free.
  std::uint64_t free_place(std::uint64_t bytes) const;

  const std::vector<Mapping>& mappings() const { return mappings_; }

 private:
  std::string objection_at(std::uint64_t pc, bool waits) const;
  const Mapping* mapping_at(std::uint64_t address) const;
  void look_for_instructions(const ProcessSource& process, const Mapping& code);

  std::vector<Mapping> mappings_;
  std::vector<std::string> careful_;      // names of files in whose code nobody may be borrowed
  std::vector<std::uint64_t> restorers_;  // to which signal handlers return
  std::uint64_t system_call_ = 0;
};

/// A thread of the process at a safe point, stopped. unsupported: none came to one within the limit
/// (the reason says what was in the way); interrupted: the process ended; denied: not permitted.
Result<tracee::BorrowedThread> stop_at_safe_point(const ProcessSource& process,
                                                  const SafePlaces& places,
                                                  std::chrono::milliseconds limit);

}  // namespace tracso::calls
