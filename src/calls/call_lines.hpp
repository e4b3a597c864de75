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
#include "calls/call_writer.hpp"
#include "calls/calls_under_way.hpp"
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
  ShownLimits limits = {};
};

/// What is known of the place that a call went through.
struct CallSite {
  std::string symbol;
  std::string caller;                    ///< base name of the library that calls; empty: not told
  bool into_c_library = false;           ///< which sets errno
  const Prototype* prototype = nullptr;  ///< nullptr: none
  std::string library = {};              ///< base name of the one that has it; empty: not told
  bool system_call = false;              ///< the result's errno is the kernel's
  std::string caller_path = {}, callee_path = {};  ///< empty: not known
};

class CallLines final : public CallWriter {
 public:
  explicit CallLines(LineOptions options) : options_(options) {}

  void set_time(const TickTime& time) override { time_ = time; }

  void begin_program(std::uint32_t, std::int32_t) override {}

  void add(std::uint32_t program,
           const CallEvent& event,
           const CallSite& site,
           std::string_view from) override;
  /// "--- SIGINT (Interrupt) ---".
  void add_signal(std::uint32_t program,
                  std::int32_t thread,
                  std::uint64_t ticks,
                  int signal) override;
  /// A line that waits for its result is ended; `last`: "+++ exited (status 0) +++".
  void end(std::string_view last) override;

  /// An open line as far as it is.
  std::string take() override;

 private:
  using Thread = ProgramThread;

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
  CallsUnderWay<CallEvent> under_way_;
  std::string done_, line_;
  std::size_t taken_ = 0;                                 // of line_
  std::optional<std::pair<Thread, std::uint64_t>> open_;  // whose call the line is, by its place
  std::optional<Thread> first_;
  bool many_ = false;
  std::optional<std::uint64_t> last_ticks_;
};

/// It ends the process or the thread, or jumps.
bool never_returns(std::string_view symbol);
/// The error number with which it failed; 0: it has not, or nobody knows why.
std::int64_t failure_number(const CallEvent& result, const CallSite& site);
/// " ENOENT (no such file or directory)"; empty: as above.
std::string failure_text(const CallEvent& result, const CallSite& site);

}  // namespace tracso::calls
