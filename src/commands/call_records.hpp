#pragma once
// Calls as JSON Lines (docs/json.md, "tracso calls"): a line for each call, written when it has
// returned or when it is clear that it never will.

#include "tracso/calls.hpp"

#include "calls/call_lines.hpp"
#include "calls/call_writer.hpp"
#include "calls/calls_under_way.hpp"
#include "commands/calls_command.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tracso {

class CallRecords final : public calls::CallWriter {
 public:
  explicit CallRecords(const calls::ShownLimits& limits) : limits_(limits) {}

  void set_time(const calls::TickTime& time) override { time_ = time; }

  void begin_program(std::uint32_t program, std::int32_t pid) override { pids_[program] = pid; }

  void add(std::uint32_t program,
           const calls::CallEvent& event,
           const calls::CallSite& site,
           std::string_view from) override;
  void add_signal(std::uint32_t program,
                  std::int32_t thread,
                  std::uint64_t ticks,
                  int signal) override;
  /// Calls that have not returned are told; `last` is not, for last_record() says how all ended.
  void end(std::string_view last) override;
  std::string take() override;

 private:
  struct Call {
    std::uint64_t place = 0;
    std::uint32_t slot = 0;
    std::size_t depth = 0;
    calls::CallEvent event;
    calls::CallSite site;
    std::string from;
  };

  /// How a call ended: "returned", "left", "not seen" or "no return". `result`: nullptr unless the
  /// first.
  void write(const calls::ProgramThread& thread,
             const Call& call,
             const calls::CallEvent* result,
             std::string_view end);
  std::int64_t epoch_ns(std::uint64_t ticks) const;

  calls::ShownLimits limits_;
  calls::TickTime time_;
  std::map<std::uint32_t, std::int32_t> pids_;
  calls::CallsUnderWay<Call> under_way_;
  std::string done_;
};

/// The line before all others: what is traced.
std::string first_record(const CallsRequest& request);
/// The line behind all others: how it ended, what is missing. `lost`: events.
std::string last_record(const CallsReport& report, std::uint64_t lost);

}  // namespace tracso
