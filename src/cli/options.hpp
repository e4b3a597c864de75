#pragma once
// argv -> Request. The only folder that knows CLI11.

#include "commands/request.hpp"

#include <string>
#include <variant>
#include <vector>

namespace tracso {

/// Nothing to do but print and leave: help, version, a usage error.
struct Leave {
  int status = 0;
  std::string out, err;
};

/// The words behind the program's name. Never throws, never prints.
std::variant<Request, Leave> parse_options(const std::vector<std::string>& words);

/// Every option of the root and of all commands as it is written: "--why", "-o"; each once.
std::vector<std::string> known_options();

}  // namespace tracso
