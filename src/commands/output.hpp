#pragma once
// Where answers go: stdout, a file, Graphviz.

#include "tracso/result.hpp"

#include "commands/request.hpp"

#include <string>

namespace tracso {

/// Prints the text or writes the file; a closed pipe is no error. `dot` is made an image first
/// where the options say so.
Result<Done> deliver(const std::string& text,
                     const OutputOptions& options,
                     const CommandRunner& commands);

/// One error on stderr; its exit status.
int fail(const Error& error);

/// A line on stderr: "tracso: <text>".
void say(const std::string& text);

}  // namespace tracso
