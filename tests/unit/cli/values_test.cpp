// Wrong values, of every option of every command: told in our words, with a line that can be typed.

#include "base/text.hpp"
#include "cli/cost_options.hpp"
#include "cli/options.hpp"
#include "support/catch.hpp"

#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tracso {
namespace {

using Words = std::vector<std::string>;

// What is told; nullopt: the words are understood.
std::optional<Leave> told(const Words& words) {
  if (const auto costs = parse_cost_options(words)) {
    const auto* leave = std::get_if<Leave>(&*costs);
    return leave != nullptr ? std::optional(*leave) : std::nullopt;
  }
  const auto parsed = parse_options(words);
  const auto* leave = std::get_if<Leave>(&parsed);
  return leave != nullptr ? std::optional(*leave) : std::nullopt;
}

std::string error(const Words& words) {
  const auto leave = told(words);
  return leave ? leave->err : "";
}

bool says(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

std::string shown(const Words& words) {
  std::string out = "tracso";
  for (const std::string& word : words) {
    out += " '" + word + "'";
  }
  return out;
}

// "tracso", "stat", "calls": the options that its help lists, each by all its names.
std::vector<std::string> options_of(const std::string& command) {
  const auto help = told(command.empty() ? Words{"-h"} : Words{command, "-h"});
  REQUIRE(help);
  std::vector<std::string> names;
  for (const auto line : split(help->out, '\n')) {
    if (!line.starts_with("  -")) {
      continue;
    }
    for (const auto word : split_words(line.substr(0, line.find("  ", 2)), " ,")) {
      if (word.starts_with('-')) {
        names.emplace_back(word);
      }
    }
  }
  return names;
}

// The line of a hint as the words of a shell, with a process, a command and files in it.
Words typed(std::string_view hint) {
  Words words;
  for (const auto part : split_words(hint.substr(std::string_view("tracso ").size()), " '")) {
    words.emplace_back(part == "PID"    ? "4192"
                       : part == "CMD"  ? "ls"
                       : part == "DEST" ? "x.txt"
                                        : part);
  }
  return words;
}

const std::vector<std::pair<std::string, Words>> commands{{"", {"4192"}},
                                                          {"stat", {"ls"}},
                                                          {"calls", {"ls"}},
                                                          {"dump", {"4192"}},
                                                          {"fds", {"4192"}},
                                                          {"watch", {"4192"}},
                                                          {"diff", {"a.json", "b.json"}},
                                                          {"record", {"4192", "-o", "x.tar.gz"}}};

// CLI11 2.1 to 2.4.
void check_words(const Words& words) {
  const auto leave = told(words);
  if (!leave || leave->status == 0 || !leave->err.starts_with("tracso: ")) {
    return;
  }
  INFO(shown(words) << "\n" << leave->err);
  for (const char* raw : {"not in",
                          "Value ",
                          "Could not",
                          "required",
                          "expected",
                          "missing",
                          "At Most",
                          "arguments",
                          "too many inputs",
                          "true/false",
                          "override",
                          "TEXT",
                          "INT"}) {
    INFO(raw);
    CHECK_FALSE(says(leave->err, raw));
  }
  CHECK(leave->status == 2);
  CHECK(says(leave->err, "\nhint: "));
}

TEST_CASE("values: whatever is wrong with an option's value is told in our words", "[cli]") {
  for (const auto& [command, rest] : commands) {
    const Words start = command.empty() ? Words{} : Words{command};
    for (const std::string& name : options_of(command)) {
      if (name == "--run" || name == "-h" || name == "--help" || name == "--version") {
        continue;
      }
      Words alone = start;
      alone.push_back(name);
      check_words(alone);
      for (const char* value :
           {"", "-1", "abc", "99999999999999999999", "nan", "0x10", "=", "=x"}) {
        const bool joined = *value == '=';
        Words words = start;
        words.push_back(joined ? name + value : name);
        if (!joined) {
          words.emplace_back(value);
        }
        words.insert(words.end(), rest.begin(), rest.end());
        check_words(words);
        if (*value == '\0' || std::string_view(value) == "=") {
          INFO(shown(words) << "\n" << error(words));
          CHECK((error(words).empty() || says(error(words), "empty") ||
                 says(error(words), "more than once") || !name.starts_with("--")));
        }
      }
    }
  }
}

TEST_CASE("values: an option without its value shows how it is used", "[cli]") {
  for (const auto& [command, rest] : commands) {
    for (const std::string& name : options_of(command)) {
      Words words = command.empty() ? Words{} : Words{command};
      words.push_back(name);
      const std::string err = error(words);
      if (name == "--run" || !says(err, " needs a value\n")) {
        continue;
      }
      const std::size_t hint = err.find("hint: ") + 6;
      const Words again = typed(err.substr(hint, err.find('\n', hint) - hint));
      INFO(shown(words) << "\n" << err << shown(again) << "\n" << error(again));
      const auto leave = told(again);
      CHECK((!leave || leave->status == 0));
    }
  }
}

TEST_CASE("values: numbers, words and times say what they may be", "[cli]") {
  CHECK(error({"--depth", "-1", "1"}) ==
        "tracso: --depth '-1' is not a number from 0 to 1000000\nhint: tracso --depth 3 PID\n");
  CHECK(says(error({"dump", "--count", "0", "1"}), "--count '0' is not a number from 1 to"));
  CHECK(
      says(error({"calls", "-s", "99999", "ls"}), "-s '99999' is not a number from 0 to 16384\n"));
  CHECK(error({"--color", "blue", "1"}) ==
        "tracso: --color 'blue' is not auto, always or never\nhint: tracso --color always PID\n");
  CHECK(says(error({"--by", "Resident", "1"}), "hint: did you mean --by resident?\n"));
  CHECK(says(error({"--by", "residnet", "dump", "1"}), "hint: did you mean --by resident?\n"));
  CHECK(says(error({"watch", "1", "--interval", "0"}),
             "--interval '0' is not a number of seconds from 0.01 to 1000000\n"));
  CHECK(says(error({"record", "1", "-o", "x", "--timeout", "x"}),
             "hint: tracso record --timeout 2.5 PID -o DEST\n"));
  CHECK(says(error({"calls", "-p", "x"}), "--pid 'x' is not a process number\n"));
  CHECK_FALSE(says(error({"--depth", "\x1b[2J", "1"}), "\x1b"));
  CHECK_FALSE(says(error({"--json=\x1b[2J", "1"}), "\x1b"));
  // CLI11 alone reads an octal number.
  const auto request = parse_options({"1", "--limit", "010"});
  CHECK(std::get<TraceRequest>(std::get<Request>(request)).output.render.limit_packages == 10);
}

TEST_CASE("values: one too many, one too few", "[cli]") {
  CHECK(error({"--limit", "3", "--limit", "5", "1"}) ==
        "tracso: --limit is given more than once\nhint: once is enough: tracso --limit 3 PID\n");
  CHECK(error({"fds", "1", "2"}) ==
        "tracso: '2' is one word too many for fds\nhint: tracso fds [options] PID\n");
  CHECK(says(error({"diff", "a", "b", "c"}), "hint: tracso diff [options] OLD NEW\n"));
  CHECK(error({"diff", "a"}) == "tracso: diff needs NEW\nhint: tracso diff before.tar.gz 4192\n");
  CHECK(error({"record"}) ==
        "tracso: record needs PID and --output DEST\nhint: tracso record 4192 -o case.tar.gz\n");
  CHECK(error({"--json=yes please", "1"}) ==
        "tracso: --json takes no value, and '--json=yes please' gives it one\n"
        "hint: tracso --json PID\n");
  CHECK(says(error({"help", "a", "b"}), "'b' is one word too many for help\n"));
  CHECK(says(error({"calls", "", "x"}), "CMD is empty\n"));
  CHECK(says(error({"--tree", "", "1"}), "TARGET is empty\n"));
  // The words behind CMD are its own.
  CHECK(error({"stat", "ls", "--color="}).empty());
  CHECK(error({"calls", "ls", "--color="}).empty());
  CHECK(error({"--run", "ls", "--color="}).empty());
}

}  // namespace
}  // namespace tracso
