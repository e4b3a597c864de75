#include "cli/help.hpp"

#include "tracso/findings.hpp"

#include "base/text.hpp"
#include "cli/guide.hpp"
#include "generated/completion_scripts.hpp"
#include "render/findings_text.hpp"
#include "render/text/markdown.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tracso {
namespace {

constexpr std::array scripts{std::pair{"completions-bash", completion_bash},
                             std::pair{"completions-zsh", completion_zsh},
                             std::pair{"completions-fish", completion_fish}};

bool is_guide(const std::string& name) {
  const auto topics = guide_topics();
  return std::any_of(
      topics.begin(), topics.end(), [&](const GuideTopic& one) { return one.name == name; });
}

std::string list_of_topics(const CLI::App& app) {
  std::string out = "tracso help TOPIC prints one of\n\n";
  for (const GuideTopic& topic : guide_topics()) {
    out += fmt::format("  {:<16}{}\n", topic.name, topic.summary);
  }
  out += "\nthe options of a command:\n\n";
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty() && command->get_name() != "help") {
      const bool guide = is_guide(command->get_name());  // 'tracso help calls' is its topic
      const auto name = command->get_name() + (guide ? " -h" : "");
      out += fmt::format("  {:<16}{}\n", name, command->get_description());
    }
  }
  return out + "\nor what a finding means: 'tracso --explain list' names them.\n";
}

std::vector<std::string> all_topics(const CLI::App& app) {
  std::vector<std::string> names;
  for (const GuideTopic& topic : guide_topics()) {
    names.emplace_back(topic.name);
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  for (const FindingKind& kind : finding_kinds()) {
    names.emplace_back(kind.code);
  }
  return names;
}

Leave no_such(std::string_view what,
              const std::string& word,
              std::string_view otherwise,
              const std::vector<std::string>& names) {
  const auto close = did_you_mean(word, names, 2);
  const std::string hint =
      close.empty() ? std::string(otherwise) : fmt::format("did you mean {}?", join(close, " or "));
  return {
      2, "", fmt::format("tracso: there is no {} '{}'\nhint: {}\n", what, printable(word), hint)};
}

}  // namespace

Leave explain_finding(const std::string& code, std::size_t columns, bool color) {
  std::string list;
  std::vector<std::string> codes;
  for (const FindingKind& kind : finding_kinds()) {
    list += fmt::format("{:<22}{}\n", kind.code, kind.summary);
    codes.emplace_back(kind.code);
  }
  if (code == "list") {
    return {0, list, ""};
  }
  RenderOptions look;
  look.width = columns;
  look.color = color;
  if (const FindingKind* kind = find_finding_kind(code)) {
    return {0, explained(look, *kind), ""};
  }
  return no_such("finding", code, "tracso --explain list names them", codes);
}

Leave help_on(const CLI::App& app, const std::string& topic, std::size_t columns, bool color) {
  if (topic.empty()) {
    return {0, list_of_topics(app), ""};
  }
  for (const GuideTopic& known : guide_topics()) {
    if (known.name == topic) {  // of a command too: 'tracso calls -h' has its options
      return {0, markdown_text(known.text, {columns, color}), ""};
    }
  }
  for (const auto& [name, script] : scripts) {
    if (name == topic) {
      return {0, std::string(script), ""};
    }
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == topic) {
      return {0, command->help(), ""};
    }
  }
  if (find_finding_kind(topic) != nullptr) {
    return explain_finding(topic, columns, color);
  }
  return no_such("topic", topic, "'tracso help' lists them", all_topics(app));
}

}  // namespace tracso
