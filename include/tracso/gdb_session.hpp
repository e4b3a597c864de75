#pragma once
// A gdb that is talked to while it works on a process. Killing it, or interrupting it at the wrong
// moment, kills the process it works on, so the only way to end it is to ask it to leave.

#include "tracso/result.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tracso {

/// How the script, gdb and tracso understand each other. A script says where it is with lines that
/// begin with `mark`; whoever holds the session may trust these stages and no others.
namespace gdb_protocol {
constexpr std::string_view mark = "TRACSO: ";
constexpr std::string_view attached = "attached";  ///< before it: nothing was called yet
constexpr std::string_view waiting = "waiting";    ///< the target runs; a SIGWINCH to it stops it
/// Descriptors that gdb finds open: a gate (one line "go" per passage, end of file: do not pass),
/// the bytes of GdbJob::code, an empty file for the answer, GdbJob::registers.
constexpr int gate_fd = 3, code_fd = 4, answer_fd = 5, registers_fd = 6;
}  // namespace gdb_protocol

struct GdbJob {
  std::int32_t pid = 0;   ///< in our pid namespace
  std::string script;     ///< gdb commands
  std::string code;       ///< bytes the script finds in code_fd
  std::string registers;  ///< a target description (XML) in registers_fd; empty: not used
  bool stopped = false;   ///< the target was stopped by a signal before (state T)
};

struct GdbLine {
  enum class Kind : std::uint8_t {
    text,   ///< a line, without its newline
    quiet,  ///< none came until the time asked for
    ended   ///< gdb has gone
  };
  Kind kind = Kind::ended;
  std::string text;
  std::chrono::nanoseconds at{0};  ///< since the session began
};

/// The destructor leaves; it never waits and never harms the target.
class GdbSession {
 public:
  virtual ~GdbSession() = default;
  /// The next line of gdb's output and messages, waiting until that time since the beginning.
  virtual GdbLine next_line(std::chrono::nanoseconds until) = 0;
  /// Lets the script pass its next gate; without effect after leave().
  virtual void open_gate() = 0;
  /// Asks gdb to go as soon as that is safe: at once before it has attached, by an interrupt in the
  /// stage `waiting`, at the next gate, or after the call it is in has returned. gdb goes even if
  /// we end meanwhile.
  virtual void leave() = 0;
  /// The bytes the script wrote to answer_fd; failed: more than `limit`.
  virtual Result<std::string> answer(std::size_t limit) const = 0;
};

/// Errors: missing_tool, failed.
using GdbSessionStarter = std::function<Result<std::unique_ptr<GdbSession>>(const GdbJob&)>;

}  // namespace tracso
