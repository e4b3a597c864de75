#pragma once
// Who is told of the calls that the engine sees: lines as they come, or a table at the end.

#include "calls/engine_sites.hpp"
#include "calls/events.hpp"

#include <cstdint>
#include <string_view>

namespace tracso::calls {

class CallSink {
 public:
  virtual ~CallSink() = default;
  /// A traced program's process; before its first event.
  virtual void begin_program(std::uint32_t program, std::int32_t pid) = 0;
  /// In the order of time. `program` tells traced programs apart; `from`: where it was called.
  virtual void add(std::uint32_t program,
                   const CallEvent& event,
                   const EngineSite& site,
                   std::string_view from) = 0;
  /// A thread gets a signal.
  virtual void add_signal(std::uint32_t program,
                          std::int32_t thread,
                          std::uint64_t ticks,
                          int signal) = 0;
};

}  // namespace tracso::calls
