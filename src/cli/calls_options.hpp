#pragma once
// The options of `tracso calls`. Its words are not CLI11's alone: behind our options stands a
// command with options of its own.

#include "cli/cli11_names.hpp"
#include "cli/options.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tracso {

struct CallsWords {
  std::vector<std::string> expressions, libraries;
  std::string caller, callee, group, output, engine, user, color = "auto";
  bool summary = false, exact = false, count = false, follow = false, intra = false, json = false,
       csv = false;
  std::optional<std::size_t> limit;
  std::vector<std::int32_t> processes;
  std::optional<double> seconds;
  // of lines
  bool relative = false, took = false, instruction = false, demangle = false, no_default = false,
       drop = false, no_signals = false;
  int time = 0;  // how often -t was given
  std::optional<std::size_t> align;
  std::size_t indent = 0, text_bytes = 32, array_elements = 4;
  std::vector<std::string> configurations;
  // from outside
  bool system_calls = false;
  std::vector<std::string> entry_points;
};

/// With its options, for the help of the program and for completions; it is parsed by itself.
void add_calls(CLI::App& app, CallsWords& words);

/// `words`: what stands behind "calls".
std::variant<Request, Leave> parse_calls_options(const std::vector<std::string>& words);

}  // namespace tracso
