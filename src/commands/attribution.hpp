#pragma once
// --attribution of `tracso stat`: looks at what fills the memory of a process while it runs.

#include "tracso/stat.hpp"

#include "commands/attribution_depth.hpp"
#include "compare/attribution_change.hpp"
#include "python/memory_probe.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace tracso {

class LiveTarget;

class AttributionLooks {
 public:
  explicit AttributionLooks(AttributionDepth depth) : depth_(depth) {}

  /// Looks now; `thread` is one that still has the memory (else the pid). The first look and the
  /// latest are kept. Nothing is kept of a Python that is not up yet or is ending. The stopper, if
  /// any, may hold the process where objects come and go too fast.
  void look(std::int32_t thread, const python::Stopper& stopper);
  /// The same if it is time for it: looks take a tenth of the time at most.
  void look_if_due(std::int32_t pid);

  /// Another program begins in the process.
  void begin_anew() { looks_ = unclear_ = {}; }

  /// nullopt: there was no look.
  std::optional<Attribution> result() const;

 private:
  using Clock = std::chrono::steady_clock;

  static std::optional<ProbeInput> input_of(const LiveTarget& live);
  bool look_at_python(const ProbeInput& input,
                      const python::Stopper& stopper,
                      AttributionLook& into);
  void take(const LiveTarget& live, const python::Stopper& stopper);

  AttributionDepth depth_;
  Clock::time_point begin_ = Clock::now(), due_ = begin_;

  struct Looks {
    std::optional<AttributionLook> first, last;
    std::string no_objects, no_lines;  // why
  };

  Looks looks_;
  Looks unclear_;  // its Python begins, ends, or is one that cannot be read: they count if no other
};

/// What the looks gave; where there was none a notice.
void add_attribution(const AttributionLooks& looks, Stat& into);

}  // namespace tracso
