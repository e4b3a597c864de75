#include "base/sizes.hpp"
#include "base/text.hpp"
#include "render/bindings.hpp"
#include "render/text/columns.hpp"
#include "render/text/wrap.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tracso {
namespace {

using State = LibraryUse::State;

std::vector<const LibraryUse*> of_state(const Trace& trace,
                                        const ProblemFacts& facts,
                                        State state) {
  std::vector<const LibraryUse*> found;
  for (const LibraryUse& use : facts.uses) {
    if (use.state == state) {
      found.push_back(&use);
    }
  }
  const auto bytes = [&](const LibraryUse* use) {
    return trace.graph[use->node].cost.file.value_or(0);
  };
  std::stable_sort(found.begin(), found.end(), [&](const auto* one, const auto* other) {
    return bytes(one) > bytes(other);
  });
  return found;
}

std::uint64_t total(const Trace& trace, const std::vector<const LibraryUse*>& uses) {
  std::uint64_t bytes = 0;
  for (const LibraryUse* use : uses) {
    bytes += trace.graph[use->node].cost.file.value_or(0);
  }
  return bytes;
}

}  // namespace

std::string_view word(LibraryUse::State state) {
  switch (state) {
    case State::used:
      return "used";
    case State::not_called_so_far:
      return "not called so far";
    case State::unknown:
      break;
  }
  return "unknown";
}

std::string unused_text(const RenderOptions& options,
                        const Trace& trace,
                        const Summary& summary,
                        const ProblemFacts& facts) {
  const DistinctNames names(trace, summary);
  std::string out = paint(options.color,
                          Style::bold,
                          fmt::format("{}: what has been called of {} so far",
                                      printable(trace.target),
                                      counted(facts.uses.size(), "library", "libraries"))) +
                    "\n";
  for (const State state : {State::not_called_so_far, State::unknown, State::used}) {
    const auto uses = of_state(trace, facts, state);
    out +=
        "\n" +
        paint(options.color,
              Style::bold,
              fmt::format("{}: {} ({})", word(state), uses.size(), size_text(total(trace, uses)))) +
        "\n";
    for (const LibraryUse* use : uses) {
      out += fmt::format("  {} {}  {}\n",
                         pad_right(names(use->node), 40),
                         pad_left(shown_size(trace.graph[use->node]), 9),
                         wrapped(printable(use->reason), {options.width, 2 + 40 + 1 + 9 + 2, 6}));
    }
  }
  return out;
}

}  // namespace tracso
