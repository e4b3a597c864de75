#include "cli/leave.hpp"

#include "base/text.hpp"
#include "cli/terminal.hpp"
#include "cli/values.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace tracso {

Leave usage_error(const std::string& what, const std::string& hint) {
  return {2, "", "tracso: " + what + "\nhint: " + hint + "\n"};
}

std::variant<std::int32_t, Leave> pid_word(const std::string& text) {
  const auto pid = parse_unsigned(text);
  if (!pid || *pid == 0 || *pid > INT32_MAX) {
    return usage_error(fmt::format("'{}' is not a process number", printable(text)),
                       "a number as 'ps' prints it");
  }
  return static_cast<std::int32_t>(*pid);
}

std::optional<std::chrono::milliseconds> seconds_word(const std::string& text) {
  const auto seconds = parse_decimal(text);
  constexpr double most = 1e7;
  if (!seconds || *seconds <= 0 || *seconds > most) {
    return std::nullopt;
  }
  return std::chrono::milliseconds(
      std::max<std::int64_t>(1, static_cast<std::int64_t>(*seconds * 1000)));
}

void add_answer_options(CLI::App& app, AnswerWords& words, const std::string& group) {
  app.add_flag("--json", words.json, "the document")->group(group);
  app.add_option("-o,--output", words.output, "write there; .json chooses the form")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--color", words.color, "auto, always or never")
      ->check(one_of({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->group(group);
  app.add_option("--limit", words.limit, "rows per list (0 = all)")
      ->transform(number_between(0, 1'000'000))
      ->type_name("N")
      ->group(group);
}

AnswerOutput answer_output(const AnswerWords& words) {
  AnswerOutput output;
  output.file = words.output.empty() ? std::nullopt : std::optional(words.output);
  output.json = words.json || lower_case(words.output).ends_with(".json");
  const ColorChoice choice = words.color == "always"  ? ColorChoice::always
                             : words.color == "never" ? ColorChoice::never
                                                      : ColorChoice::automatic;
  const Terminal terminal = look_at_terminal(choice);
  const bool to_file = output.file && *output.file != "-";
  output.render.color = terminal.color && (!to_file || choice == ColorChoice::always);
  output.render.unicode = terminal.unicode;
  output.render.width = to_file ? 0 : terminal.width;
  output.render.limit_libraries = words.limit.value_or(output.render.limit_libraries);
  return output;
}

}  // namespace tracso
