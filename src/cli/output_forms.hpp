#pragma once
// Which forms -o FILE can choose, for every answer: a picture that holds text is worse than none.

#include "cli/options.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tracso {

/// The extension that chooses a form, in lower case and without its dot: "json", "tar.gz"; empty:
/// none.
std::string form_extension(std::string_view path);

/// A usage error where FILE promises a form that the answer does not have. `answer` is as the table
/// names it: an option ("--tree"), a command ("fds") or "the report". Extensions that no answer
/// writes and nobody takes for a form are text, as .txt is.
std::optional<Leave> wrong_form(std::string_view answer, const std::string& path);

}  // namespace tracso
