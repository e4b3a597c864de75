#pragma once
// What `tracso stat`, `fds`, `diff` and `watch` were asked for, as plain data.

#include "tracso/renderer.hpp"

#include "commands/attribution_depth.hpp"
#include "commands/gates.hpp"
#include "compare/budgets.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tracso {

/// Where the answer goes and what it looks like.
struct AnswerOutput {
  bool json = false;
  std::optional<std::string> file;  ///< nullopt or "-": stdout
  RenderOptions render;
};

struct StatRequest {
  std::vector<std::string> argv;  ///< empty: `pid`
  std::string stray;  ///< an option of stat that stands among the command's own words; empty: none
  std::int32_t pid = 0;
  Limits limits;
  std::size_t runs = 1, warmups = 0;
  std::optional<std::string> save_baseline, baseline, junit, stream;
  Tolerances tolerances;
  std::optional<std::chrono::milliseconds> baseline_after;  ///< descriptors are compared from then
  std::optional<std::chrono::milliseconds> watch_for;       ///< stat -p: two looks, that far apart
  bool reset_peak = false;
  bool used = false;  ///< with watch_for: what is touched in that time
  bool trace = true;  ///< false: --no-ptrace
  bool children = false;
  std::optional<AttributionDepth> attribution;
  std::optional<std::chrono::nanoseconds> sample;  ///< the distance of samples of memory
  AnswerOutput output;
  bool verbose = false;
};

/// tracso diff. A side of digits only is a process.
struct DiffRequest {
  std::string before, after;
  std::vector<Gate> gates;  ///< --fail-on: what is new is held against them
  AnswerOutput output;
  bool verbose = false;
};

/// What --stream of watch writes: JSON Lines, one JSON array, lines for people.
enum class StreamFormat : std::uint8_t { jsonl, json, text };

/// tracso watch.
struct WatchRequest {
  std::int32_t pid = 0;
  std::chrono::milliseconds interval{1000};
  std::optional<std::chrono::milliseconds> watch_for;
  bool children = false;
  bool lines = false;  ///< JSON Lines even on a terminal
  bool verbose = false;
  std::optional<std::string> stream;
  StreamFormat stream_format = StreamFormat::jsonl;
  AnswerOutput output;
};

struct FdsRequest {
  std::int32_t pid = 0;
  bool queues = false;
  std::optional<std::chrono::milliseconds> rate_over;  ///< --rate
  bool csv = false;
  bool verbose = false;
  AnswerOutput output;
};

using CostRequest = std::variant<StatRequest, FdsRequest, DiffRequest, WatchRequest>;

/// Does what was asked; the exit status, as docs/exit-status.md has them.
int carry_out(const CostRequest& request);

}  // namespace tracso
