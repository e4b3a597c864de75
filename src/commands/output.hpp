#pragma once
// Where answers go: stdout, a file, Graphviz.

#include "tracso/result.hpp"

#include "commands/request.hpp"

#include <string>
#include <string_view>

namespace tracso {

/// Prints the text or writes the file; a closed pipe is no error. `dot` is made an image first
/// where the options say so.
Result<Done> deliver(const std::string& text,
                     const OutputOptions& options,
                     const CommandRunner& commands);

/// Text to standard output; a closed pipe is no error.
Result<Done> print_out(std::string_view text);

/// Standard descriptors that are closed become ones that cannot be read or written: else the next
/// file that is opened would take their number, and the answer would be written into it. To be
/// called before any file is opened; commands that are started see them closed.
void keep_standard_descriptors();

/// One error on stderr; its exit status.
int fail(const Error& error);

/// A line on stderr: "tracso: <text>".
void say(const std::string& text);

}  // namespace tracso
