// The options are those that CLI11 parses, so a completion never knows another set.

#include "cli/complete.hpp"

#include "tracso/findings.hpp"

#include "base/text.hpp"
#include "cli/values.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace tracso {
namespace {

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

const CLI::Option* find_option(const CLI::App& app, std::string_view name) {
  for (const CLI::Option* option : app.get_options()) {
    if (name.starts_with('-') && option->check_name(std::string(name))) {
      return option;
    }
  }
  return nullptr;
}

bool takes_value(const CLI::Option* option) {
  return option != nullptr && option->get_items_expected_max() > 0;
}

class Completer {
 public:
  Completer(const CLI::App& app,
            const std::vector<std::string>& words,
            const CandidateSources& sources)
      : root_(app), app_(&app), words_(words), sources_(sources) {}

  std::string text() {
    current_ = words_.empty() ? "" : words_.back();
    if (in_command()) {
      return run_words_ == 1 ? ":command\n" : ":file\n";
    }
    const CLI::Option* before = look_back();
    if (takes_value(before)) {
      value(*before);
    } else if (current_.starts_with('-')) {
      options();
    } else {
      positional();
    }
    return std::move(out_);
  }

 private:
  bool in_command();
  const CLI::Option* look_back();
  void value(const CLI::Option& option);
  void options();
  void positional();
  void add(std::string_view word, std::string_view what);

  void add(const std::vector<Candidate>& candidates) {
    for (const auto& [word, what] : candidates) {
      add(word, what);
    }
  }

  const CLI::App& root_;
  const CLI::App* app_;
  const std::vector<std::string>& words_;
  const CandidateSources& sources_;
  std::string current_;
  std::size_t run_words_ = 0, positionals_ = 0;
  std::optional<std::int32_t> pid_;
  std::string out_;
};

// Behind --run everything is CMD's.
bool Completer::in_command() {
  for (std::size_t i = 0; i + 1 < words_.size(); ++i) {
    if (words_[i] == "--run") {
      run_words_ = words_.size() - i - 1;
      return true;
    }
  }
  return false;
}

// The option whose value is being typed, or null; on the way the command and a pid.
const CLI::Option* Completer::look_back() {
  const CLI::Option* waiting = nullptr;
  for (std::size_t i = 0; i + 1 < words_.size(); ++i) {
    const std::string& word = words_[i];
    if (takes_value(waiting)) {
      waiting = nullptr;
      continue;
    }
    waiting = find_option(*app_, word);
    if (waiting != nullptr || word.starts_with('-')) {
      continue;
    }
    const auto commands =
        root_.get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (positionals_ == 0 && app_ == &root_ && !commands.empty()) {
      app_ = commands.front();
      continue;
    }
    ++positionals_;
    const auto number = is_number(word) ? parse_unsigned(word) : std::nullopt;
    if (number && *number <= INT32_MAX) {
      pid_ = static_cast<std::int32_t>(*number);
    }
  }
  return waiting;
}

void Completer::add(std::string_view word, std::string_view what) {
  if (word.starts_with(current_)) {
    out_ += std::string(word) + (what.empty() ? "" : "\t" + std::string(what)) + "\n";
  }
}

void Completer::value(const CLI::Option& option) {
  const auto known = choices_of(option);
  for (const std::string& word : known) {
    add(word, "");
  }
  const std::string type = option.get_type_name();
  if (type.starts_with("SONAME")) {
    // The pid may stand behind: tracso --why <TAB> 4192 is not seen by the shell, 4192 --why is.
    add(sources_.sonames(pid_));
  } else if (type.starts_with("CODE")) {
    for (const FindingKind& kind : finding_kinds()) {
      add(kind.code, kind.summary);
    }
  } else if (type.starts_with("PID")) {
    add(sources_.processes());
  } else if (type.starts_with("FILE") || type.starts_with("DIR") || type.starts_with("DEST")) {
    out_ += ":file\n";
  }
}

void Completer::options() {
  for (const CLI::Option* option : app_->get_options()) {
    if (option->get_group().empty()) {
      continue;
    }
    for (const std::string& name : option->get_lnames()) {
      add("--" + name, option->get_description());
    }
    if (current_ == "-") {
      for (const std::string& name : option->get_snames()) {
        add("-" + name, option->get_description());
      }
    }
  }
}

void Completer::positional() {
  if (app_ == &root_ && positionals_ == 0) {
    for (const CLI::App* command : root_.get_subcommands([](const CLI::App*) { return true; })) {
      if (!command->get_group().empty()) {
        add(command->get_name(), command->get_description());
      }
    }
    out_ += ":file\n";
  }
  if (app_->get_name() == "help") {
    return;
  }
  if (positionals_ == 0) {
    add(sources_.processes());
  }
}

}  // namespace

std::string complete(const CLI::App& app,
                     const std::vector<std::string>& words,
                     const CandidateSources& sources) {
  return Completer(app, words, sources).text();
}

}  // namespace tracso
