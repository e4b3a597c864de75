#pragma once
// Calls that the engine sees, summed as rows of a report.

#include "tracso/calls.hpp"

#include "calls/call_sink.hpp"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace tracso::calls {

class EngineTable final : public CallSink {
 public:
  void add(std::uint32_t program,
           const CallEvent& event,
           const EngineSite& site,
           std::string_view from) override;

  void begin_program(std::uint32_t, std::int32_t) override {}

  void add_signal(std::uint32_t, std::int32_t, std::uint64_t, int) override {}

  /// The rows so far, ungrouped. `programs`: by their numbers.
  std::vector<CallRow> rows(double ns_per_tick, const std::vector<TracedProgram>& programs) const;

 private:
  struct Open {
    std::uint64_t place = 0;
    std::uint32_t slot = 0;
    std::uint64_t inside = 0;  // ticks in calls inside of it
  };

  // Times are in ticks.
  struct Sum {
    CallRow row;
    std::uint64_t total = 0, self = 0, longest = 0;
  };

  using Thread = std::pair<std::uint32_t, std::int32_t>;

  Sum& sum(std::uint32_t program, const CallEvent& event, const EngineSite& site);

  std::map<Thread, std::vector<Open>> open_;
  std::map<std::tuple<std::uint32_t, std::int32_t, std::uint32_t>, Sum> sums_;
};

}  // namespace tracso::calls
