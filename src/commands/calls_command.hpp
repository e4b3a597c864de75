#pragma once
// tracso calls: runs a command and counts its calls between libraries.

#include "tracso/calls.hpp"
#include "tracso/renderer.hpp"
#include "tracso/result.hpp"

#include "calls/arena.hpp"
#include "calls/call_lines.hpp"
#include "calls/filter.hpp"
#include "calls/prototype_finder.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tracso {

struct CallsRequest {
  std::vector<std::string> command;
  std::vector<std::int32_t> processes;               ///< to attach to, instead of a command
  std::optional<std::chrono::milliseconds> seconds;  ///< of these; nullopt: until asked to end
  CallMode mode = CallMode::adaptive;
  CallGroup group = CallGroup::function;
  calls::Filter filter;
  bool follow = false, inside = false;
  /// lines: each call as it happens, records: the same as JSON Lines; the others are sums at the
  /// end.
  enum class Form : std::uint8_t { text, json, csv, dot, lines, records } form = Form::text;

  bool is_table() const { return form != Form::lines && form != Form::records; }

  std::string image;                ///< of Form::dot: "svg", "png", "pdf"; empty: as text
  std::optional<std::string> file;  ///< nullopt: a text to stderr, else to stdout
  std::size_t limit = 0;            ///< rows of the table; 0: all
  RenderOptions render;
  calls::LineOptions lines;
  std::vector<std::string> configurations;  ///< files that describe functions (-F)
  std::shared_ptr<calls::PrototypeFinder> prototypes = nullptr;  ///< made of them
  bool drop = false;  ///< lines may be lost rather than the command wait
  /// Where calls are seen from; automatic: from inside where that can be.
  enum class Engine : std::uint8_t { automatic, agent, ptrace } engine = Engine::automatic;
  std::optional<calls::Filter> entries;  ///< functions whose entry points are watched
  bool system_calls = false;
  bool no_imports = false;  ///< nothing is asked for by `filter`
  bool no_signals = false;
  std::string user;  ///< whom the command runs as: a name or a number; empty: us
};

/// What is asked of the agent; LD_PRELOAD is not looked at.
calls::ArenaOptions options_of(const CallsRequest& request);

/// The table or document where the request wants it.
Result<Done> print_calls(const CallsRequest& request, const CallsReport& report);

/// CMD's own exit status (128 + N where a signal ended it); else 2 usage, 4 refused, 126 and 127 as
/// a shell.
int calls_of_command(const CallsRequest& request);

}  // namespace tracso
