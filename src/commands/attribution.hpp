#pragma once
// --attribution of `tracso stat`: looks at what fills the memory of a process while it runs.

#include "tracso/stat.hpp"

#include "commands/attribution_depth.hpp"
#include "compare/attribution_change.hpp"
#include "launch/run.hpp"
#include "python/memory_probe.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tracso {

class LiveTarget;

class AttributionLooks {
 public:
  explicit AttributionLooks(AttributionDepth depth) : depth_(depth) {}

  /// Looks now; `thread` is one that still has the memory (else the pid). The first look and the
  /// latest are kept. Nothing is kept of a Python that is not up yet or is ending. The stopper, if
  /// any, may hold the process where objects come and go too fast. `moment`: how it was chosen.
  void look(std::int32_t thread,
            const python::Stopper& stopper,
            std::string_view moment = any_moment);
  /// The same if it is time for it: looks take a tenth of the time at most.
  void look_if_due(std::int32_t pid);

  /// The process stands still at a moment of its Python (RunOptions::on_python): the first look is
  /// that of the beginning, and nothing counts after the last whole moment.
  void look_at_python_moment(const launch::Moment& moment);

  /// Another program begins in the process.
  void begin_anew() {
    looks_ = unclear_ = {};
    complete_ = false;
  }

  /// The command is over. `untold_end` says why the last look is not that of the last whole moment,
  /// if it is not.
  void end(std::string untold_end) { untold_end_ = std::move(untold_end); }

  /// nullopt: there was no look.
  std::optional<Attribution> result() const;

 private:
  using Clock = std::chrono::steady_clock;

  static std::optional<ProbeInput> input_of(const LiveTarget& live);
  bool look_at_python(const ProbeInput& input,
                      const python::Stopper& stopper,
                      AttributionLook& into);
  void take(const LiveTarget& live, const python::Stopper& stopper, std::string_view moment);

  static constexpr std::string_view any_moment = "look";

  AttributionDepth depth_;
  Clock::time_point begin_ = Clock::now(), due_ = begin_;

  struct Looks {
    std::optional<AttributionLook> first, last;
    std::string no_objects, no_lines;  // why
  };

  bool complete_ = false;             // the last whole moment of its Python was seen
  std::chrono::nanoseconds held_{0};  // it stood still at moments of its Python
  std::string untold_end_;
  Looks looks_;
  Looks unclear_;  // its Python begins, ends, or is one that cannot be read: they count if no other
};

/// What the looks gave; where there was none a notice.
void add_attribution(const AttributionLooks& looks, Stat& into);

}  // namespace tracso
