#pragma once
// Options that ask something else than the report: --bindings, --unused, --files, --who,
// --as-child.

#include "cli/cli11_names.hpp"
#include "cli/definition.hpp"
#include "commands/request.hpp"

#include <optional>
#include <string>
#include <utility>

namespace tracso {

void add_question_options(CLI::App& app, Words& words);

/// One of them was given.
bool asks_question(const Words& words);

/// That one: "--who"; empty: none was given.
std::string question_name(const Words& words);

/// What speaks against them, and what to do instead: they exclude each other and most forms.
std::optional<std::pair<std::string, std::string>> wrong_question(const Words& words);

/// The form that --files and --files0 stand for; empty: neither was given.
std::string question_form(const Words& words);

/// The request of --who or --as-child; nullopt: neither was given. `source` is what the words say.
std::optional<Request> other_request(const Words& words,
                                     const TraceSource& source,
                                     const OutputOptions& output,
                                     std::chrono::milliseconds timeout);

void apply_questions(const Words& words, TraceRequest& request);

}  // namespace tracso
