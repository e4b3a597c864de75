#pragma once
// Calls and returns as ltrace writes them:
//
//   getenv("HOME")                                   = "/root"
//   qsort(0x7ffe305d9d30, 2, 8, 0x55d4eb8b91e9 <unfinished ...>
//   strcmp("b", "a")                                 = 1
//   <... qsort resumed> )                            = <void>
//
// A line stays open until its call returns or somebody else has something to say.

#include "calls/argument_text.hpp"
#include "calls/events.hpp"
#include "calls/prototypes.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracso::calls {

enum class LineTime : std::uint8_t { none, relative, seconds, microseconds, epoch };

struct LineOptions {
  LineTime time = LineTime::none;
  bool took = false;         ///< <0.000015> behind the result
  bool instruction = false;  ///< [libfirst.so+0x1234] before the name
  bool demangle = false;
  bool caller = true;       ///< libfirst.so->name
  bool always_pid = false;  ///< else once there is a second thread
  std::size_t indent = 0;   ///< for each call that has not returned
  std::size_t align = 50;   ///< column of the result
  std::size_t text_bytes = 32;
};

/// What is known of the place that a call went through.
struct CallSite {
  std::string symbol;
  std::string caller;                    ///< base name of the library that calls; empty: not told
  bool into_c_library = false;           ///< which sets errno
  const Prototype* prototype = nullptr;  ///< nullptr: none
  std::string library = {};              ///< base name of the one that has it; empty: not told
  bool system_call = false;              ///< the result's errno is the kernel's
};

/// Ticks of the processor as time of day.
struct TickTime {
  std::uint64_t tick = 0;
  std::int64_t epoch_ns = 0;  ///< at that tick
  double ns_per_tick = 0;
};

class CallLines {
 public:
  explicit CallLines(LineOptions options) : options_(options) {}

  void set_time(const TickTime& time) { time_ = time; }

  /// One event, in the order of time. `program` tells traced programs apart; `from`: text for
  /// `instruction`.
  void add(std::uint32_t program,
           const CallEvent& event,
           const CallSite& site,
           std::string_view from);
  /// A signal that a thread gets, or the like: "--- SIGINT (Interrupt) ---".
  void add_remark(std::uint32_t program,
                  std::int32_t thread,
                  std::uint64_t ticks,
                  std::string_view text);
  /// Ends what is open and adds a line: "+++ exited (status 0) +++".
  void add_line(std::string_view text);
  /// Ends a line that waits for its result.
  void close_line();

  /// What has been written since the last time, an open line as far as it is.
  std::string take();

 private:
  using Thread = std::pair<std::uint32_t, std::int32_t>;
  using Calls = std::vector<CallEvent>;  // under way, innermost last

  void begin_line(const Thread& thread, const CallEvent& event, std::string_view from);
  void meet(const Thread& thread);
  void end_line(std::string_view with);
  void add_call(const Thread& thread,
                const CallEvent& event,
                const CallSite& site,
                std::string_view from);
  void add_return(const Thread& thread,
                  const CallEvent& event,
                  const CallSite& site,
                  std::string_view from);
  void add_result(const std::string& text);
  std::string name_of(const CallSite& site) const;
  std::string took_text(const CallEvent& event) const;
  std::string time_text(std::uint64_t ticks);

  LineOptions options_;
  TickTime time_;
  std::map<Thread, Calls> under_way_;
  std::string done_, line_;
  std::size_t taken_ = 0;                                 // of line_
  std::optional<std::pair<Thread, std::uint64_t>> open_;  // whose call the line is, by its place
  std::optional<Thread> first_;
  bool many_ = false;
  std::optional<std::uint64_t> last_ticks_;
};

/// " ENOENT (no such file or directory)"; empty: it has not failed, or nobody knows why.
std::string failure_text(const CallEvent& result, const CallSite& site);

}  // namespace tracso::calls
