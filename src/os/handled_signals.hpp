#pragma once
// Signals that a process has handlers for: the only ones it may be sent without ending it.

#include "tracso/result.hpp"

#include "base/unique_fd.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tracso::os {

/// "USR1", "SIGUSR1" or "10" -> 10. 0: no signal of that name.
int signal_number(std::string_view name);

/// "SIGUSR1"; of real-time signals "signal 34".
std::string signal_name(int number);

/// One process, whatever becomes of its number.
class SignalledProcess {
 public:
  /// not_found, failed.
  static Result<SignalledProcess> open(std::int32_t pid);

  /// Whether it may be sent; `status` is what /proc/PID/status says now. denied: there is no
  /// handler, so that the signal would end, stop or not reach it, or it is one whose handlers end a
  /// process as a rule (SIGSEGV, SIGABRT, ...); the hint names the signals that may be sent.
  Result<Done> may_take(int number, std::string_view status) const;
  /// Errors as before; interrupted: it has ended.
  Result<Done> send(int number, std::string_view status) const;

 private:
  SignalledProcess(std::int32_t pid, UniqueFd fd) : pid_(pid), fd_(std::move(fd)) {}

  std::int32_t pid_;
  UniqueFd fd_;
};

}  // namespace tracso::os
