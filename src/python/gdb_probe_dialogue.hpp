#pragma once
// Listening to gdb and deciding when it has to go. The session is the only clock.

#include "tracso/gdb_session.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace tracso::python {

struct GdbTalk {
  enum class End : std::uint8_t {
    not_attached,   ///< gdb ended before, or did not get there in time
    registers,      ///< gdb cannot write the registers of this processor; nothing was done
    broken_off,     ///< gdb ended in between; the target has ended, or gdb met an error
    no_safe_point,  ///< the main thread came to none in time
    queue_full,     ///< 32 other pending calls wait
    failed,         ///< the code could not be run
    raised,         ///< it ran and raised
    stuck,          ///< a call has not returned; gdb goes when it does
    result          ///< the answer is there
  };
  End end = End::not_attached;
  bool direct = false;                  ///< else at the next instruction of Python
  std::string last_words;               ///< gdb's last line that was no report of a stage
  std::chrono::nanoseconds stopped{0};  ///< the target stood still, all pieces together
};

/// Returns when gdb has gone, or cannot go yet (stuck). `patience` is the time for a safe point.
GdbTalk talk_to_gdb(GdbSession& session, std::chrono::milliseconds patience);

}  // namespace tracso::python
