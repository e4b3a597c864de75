#pragma once
// Who writes calls down as they come: lines for people (call_lines.hpp), or one object for each.

#include "calls/events.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tracso::calls {

struct CallSite;

/// Ticks of the processor as time of day.
struct TickTime {
  std::uint64_t tick = 0;
  std::int64_t epoch_ns = 0;  ///< at that tick
  double ns_per_tick = 0;
};

class CallWriter {
 public:
  virtual ~CallWriter() = default;
  virtual void set_time(const TickTime& time) = 0;
  /// A traced program's process; before its first event.
  virtual void begin_program(std::uint32_t program, std::int32_t pid) = 0;
  /// One event, in the order of time. `program` tells traced programs apart; `from`: where it was
  /// called, empty: not asked.
  virtual void add(std::uint32_t program,
                   const CallEvent& event,
                   const CallSite& site,
                   std::string_view from) = 0;
  /// A thread gets a signal.
  virtual void add_signal(std::uint32_t program,
                          std::int32_t thread,
                          std::uint64_t ticks,
                          int signal) = 0;
  /// Nothing more comes. `last`: a line about the end, empty: none.
  virtual void end(std::string_view last) = 0;
  /// What has been written since the last time.
  virtual std::string take() = 0;
};

}  // namespace tracso::calls
