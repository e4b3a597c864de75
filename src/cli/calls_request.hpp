#pragma once
// From the words of `tracso calls` to what is asked for.

#include "cli/calls_options.hpp"

#include <string>
#include <variant>
#include <vector>

namespace tracso {

/// `command`: the words behind our options. Leave: they do not go together, or a filter is none.
std::variant<Request, Leave> calls_request(const CallsWords& words,
                                           std::vector<std::string> command);

}  // namespace tracso
