#pragma once
// tracso help TOPIC.

#include "cli/cli11_names.hpp"
#include "cli/options.hpp"

#include <string>

namespace tracso {

/// A topic of the guide, what a finding means, a command's options or a completion script; without
/// a topic the list of them. 2: there is no such topic.
Leave help_on(const CLI::App& app, const std::string& topic, std::size_t columns, bool color);

/// What a finding means; "list" names them all.
Leave explain_finding(const std::string& code, std::size_t columns, bool color);

}  // namespace tracso
