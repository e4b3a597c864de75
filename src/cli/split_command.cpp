#include "cli/split_command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>

namespace tracso {
namespace {

const CLI::Option* option_named(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  for (const CLI::Option* option : app.get_options()) {
    if (option->check_name(name)) {
      return option;
    }
  }
  // "-p4192": a short option and its value in one word.
  const bool joined = name.size() > 2 && name[0] == '-' && name[1] != '-';
  return joined ? option_named(app, name.substr(0, 2)) : nullptr;
}

}  // namespace

bool split_command(const CLI::App& subcommand,
                   std::vector<std::string>& words,
                   std::vector<std::string>& command) {
  std::size_t at = 1;  // behind the subcommand's name
  std::size_t skip = 0;
  while (at < words.size()) {
    const std::string& word = words[at];
    if (word == "--") {
      skip = 1;
      break;
    }
    if (word.size() < 2 || word[0] != '-') {
      break;
    }
    const CLI::Option* option = option_named(subcommand, word);
    const bool joined =
        word.find('=') != std::string::npos || (word[1] != '-' && word.size() > 2);  // "-p4192"
    const bool takes_next = option != nullptr && option->get_items_expected_min() > 0 && !joined;
    at += takes_next ? 2 : 1;
  }
  at = std::min(at, words.size());
  command.assign(words.begin() + static_cast<std::ptrdiff_t>(std::min(at + skip, words.size())),
                 words.end());
  words.resize(at);
  return skip != 0;
}

}  // namespace tracso
