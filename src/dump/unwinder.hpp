#pragma once
// From the registers and the stack of a thread to the functions that called each other: with
// libunwind, by the tables in .eh_frame, from copies made while the thread stood still. A build
// may be without it.

#include "tracso/mapping.hpp"
#include "tracso/target.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tracso::dump {

/// What a held thread left us.
struct ThreadCopy {
  std::vector<std::byte> registers;  ///< NT_PRSTATUS
  std::uint64_t stack_start = 0;     ///< address of the first byte of `stack`
  std::vector<std::byte> stack;
};

struct UnwoundFrame {
  std::uint64_t address = 0;  ///< where it goes on
  /// Nothing was called from here: the innermost frame, or one that a signal has interrupted. Else
  /// the call stands right before `address`.
  bool interrupted = false;
  bool guessed = false;  ///< by frame pointers, for there was no table: perhaps none of its callers
};

struct UnwoundStack {
  std::vector<UnwoundFrame> frames;  ///< innermost first
  bool whole = true;                 ///< it came to an end that the tables say is one
};

class Unwinder {
 public:
  /// `process` must outlive it.
  explicit Unwinder(const ProcessSource& process);
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  /// Whether this build can.
  static bool is_available();

  /// Libraries may have come and gone: what was learnt of them is forgotten. `mappings` are sorted
  /// and must stay until the next call.
  void restart(const std::vector<Mapping>& mappings);
  /// At most 2,000 frames, at most until `deadline`. Empty: registers of another width.
  UnwoundStack unwind(const ThreadCopy& thread, std::chrono::steady_clock::time_point deadline);

 private:
  class Space;
  std::unique_ptr<Space> space_;
};

}  // namespace tracso::dump
