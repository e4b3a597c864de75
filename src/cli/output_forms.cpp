#include "cli/output_forms.hpp"

#include "base/text.hpp"
#include "cli/slips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace tracso {
namespace {

struct AnswerForms {
  std::string_view answer;
  bool text;                    ///< also written as text, under any name that promises nothing else
  std::string_view extensions;  ///< blanks between them
};

constexpr std::array answers{AnswerForms{"the report", true, "json csv html dot gv svg png pdf"},
                             AnswerForms{"--why", true, "json html dot gv svg png pdf"},
                             AnswerForms{"--tree", true, ""},
                             AnswerForms{"--findings", true, ""},
                             AnswerForms{"--json", false, "json"},
                             AnswerForms{"--csv", false, "csv"},
                             AnswerForms{"--files", true, ""},
                             AnswerForms{"--files0", true, ""},
                             AnswerForms{"--bindings", true, "json"},
                             AnswerForms{"--unused", true, "json"},
                             AnswerForms{"--who", true, "json"},
                             AnswerForms{"--as-child", true, "json"},
                             AnswerForms{"stat", true, "json"},
                             AnswerForms{"fds", true, "json csv"},
                             AnswerForms{"diff", true, "json"},
                             AnswerForms{"watch", false, "json jsonl ndjson"},
                             AnswerForms{"dump", true, "json"},
                             AnswerForms{"dump --json", false, "json jsonl ndjson"},
                             AnswerForms{"calls", true, "json csv jsonl ndjson dot gv svg png pdf"},
                             AnswerForms{"calls -c", true, "json csv dot gv svg png pdf"},
                             AnswerForms{"calls --json", false, "json jsonl ndjson"},
                             AnswerForms{"record", false, "tar.gz tgz gz"}};

// What people take for a form although no answer here has it.
constexpr std::string_view foreign = "htm xml tsv jpg jpeg gif zip";

bool is_among(std::string_view word, std::string_view words) {
  const auto all = split_words(words, " ");
  return std::find(all.begin(), all.end(), word) != all.end();
}

bool is_form(const std::string& extension) {
  return is_among(extension, foreign) ||
         std::any_of(answers.begin(), answers.end(), [&](const AnswerForms& one) {
           return is_among(extension, one.extensions);
         });
}

std::string forms_of(const AnswerForms& answer) {
  std::vector<std::string> names;
  if (answer.text) {
    names.emplace_back("text (.txt)");
  }
  for (const auto extension : split_words(answer.extensions, " ")) {
    names.push_back("." + std::string(extension));
  }
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : join(names, ", ") + " or " + last;
}

}  // namespace

std::string form_extension(std::string_view path) {
  const std::string name = lower_case(base_name(path));
  constexpr std::string_view two_words = ".tar.gz";
  if (name.ends_with(two_words)) {
    return std::string(two_words.substr(1));
  }
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(dot + 1);
}

std::optional<Leave> wrong_form(std::string_view answer, const std::string& path) {
  const std::string extension = form_extension(path);
  const auto* const row = std::find_if(
      answers.begin(), answers.end(), [&](const AnswerForms& one) { return one.answer == answer; });
  if (row == answers.end() || !is_form(extension) || is_among(extension, row->extensions)) {
    return std::nullopt;
  }
  return usage(fmt::format("that answer has no such form: '{}'", printable(path)),
               fmt::format("{} is written as {}", answer, forms_of(*row)));
}

}  // namespace tracso
