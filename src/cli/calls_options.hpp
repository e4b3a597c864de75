#pragma once
// The options of `tracso calls`. Its words are not CLI11's alone: behind our options stands a
// command with options of its own.

#include "cli/options.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace tracso {

struct CallsWords {
  std::vector<std::string> expressions, libraries;
  std::string caller, callee, group = "function", output, color = "auto";
  bool summary = false, exact = false, count = false, follow = false, intra = false, json = false,
       csv = false;
  std::size_t limit = 0;
};

/// With its options, for the help of the program and for completions; it is parsed by itself.
void add_calls(CLI::App& app, CallsWords& words);

/// `words`: what stands behind "calls".
std::variant<Request, Leave> parse_calls_options(const std::vector<std::string>& words);

}  // namespace tracso
