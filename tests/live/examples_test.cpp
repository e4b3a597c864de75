// What README, --help and the manual page print as examples is typed by people: every one must run.
// In them 4192 stands for a process, and filters such as jq are not ours to test.

#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::test {
namespace {

using Examples = std::vector<std::string>;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// "$ tracso ..." in any block, and what else stands behind a prompt in one that is marked as
// console.
Examples of_markdown(const std::string& text) {
  Examples examples;
  bool inside = false, console = false;
  for (const auto& line : lines_of(text)) {
    if (line.starts_with("```")) {
      inside = !inside;
      console = line == "```console";
    } else if (line.starts_with(console ? "$ " : "$ tracso ") && inside) {
      examples.push_back(line.substr(2));
    }
  }
  return examples;
}

// Lines such as "  tracso 4192      what it is good for", behind the title.
Examples of_help(const std::string& text) {
  Examples examples;
  const std::size_t title = text.find("\nExamples:\n");
  for (const auto& line : lines_of(title == std::string::npos ? "" : text.substr(title))) {
    if (line.starts_with("  tracso ")) {
      const std::string example = line.substr(2);
      examples.push_back(example.substr(0, example.find("   ")));
    }
  }
  return examples;
}

// Lines that begin with tracso in the section EXAMPLES; \- is the minus of roff.
Examples of_manual(const std::string& text) {
  Examples examples;
  bool inside = false;
  for (const auto& line : lines_of(text)) {
    if (line.starts_with(".SH ")) {
      inside = line == ".SH EXAMPLES";
    } else if (inside && line.starts_with("tracso ")) {
      examples.push_back(replaced(line, "\\-", "-"));
    }
  }
  return examples;
}

std::string in_repository(const std::string& name) {
  return test::tests_file("../") + name;
}

// A home of its own, where "tracso" is the program of this build. The system's Python is meant by
// python3, not a wrapper of somebody's PATH.
class Desk {
 public:
  Desk() : python_({"/usr/bin/python3", "-c", program}) {
    std::error_code error;
    std::filesystem::create_symlink(test::tracso_binary(), folder_ / "tracso", error);
    CHECK_FALSE(error);
    const auto line = python_.line();
    INFO("/usr/bin/python3 must be there, with ssl");
    REQUIRE(line == "ready");
  }

  ProgramRun type(const std::string& example) {
    const std::string pid = std::to_string(python_.pid());
    // What stands behind a pipe is a filter of other people's; what stands before it is the input.
    const bool first = example.starts_with("tracso ");
    const std::string own = first ? example.substr(0, example.find(" | ")) : example;
    // A minute, which a verdict of watch needs, is a second here.
    const std::string command = replaced(replaced(own, "4192", pid), "--for 60", "--for 1");
    ProgramOptions options;
    options.environment = {"PATH=" + folder_.path() + ":/usr/bin:/bin",
                           "XDG_STATE_HOME=" + folder_.path() + "/state",
                           "TRACSO_NO_STATE=0"};
    options.directory = folder_.path();
    return run_program({"/bin/sh", "-c", command}, options);
  }

 private:
  static constexpr const char* program =
      "import ssl, sys; print('ready', flush=True); sys.stdin.read()";

  TemporaryFolder folder_;
  Child python_;
};

// In order: later ones may ask what an earlier one has left as the last trace.
void check_all(const Examples& examples, std::size_t at_least) {
  CHECK(examples.size() >= at_least);
  Desk desk;
  for (const auto& example : examples) {
    const ProgramRun ran = desk.type(example);
    INFO(example << "\nstdout: " << ran.out.substr(0, 500) << "\nstderr: " << ran.err);
    CHECK(ran.status == 0);
  }
}

}  // namespace

TEST_CASE("examples: those of the README run", "[live][examples]") {
  check_all(of_markdown(read_file(in_repository("README.md"))), 10);
}

TEST_CASE("examples: those of each document run", "[live][examples]") {
  std::size_t all = 0;
  std::vector<std::filesystem::path> documents;
  for (const auto& entry : std::filesystem::directory_iterator(in_repository("docs"))) {
    if (entry.path().extension() == ".md") {
      documents.push_back(entry.path());
    }
  }
  for (const auto& document : documents) {
    const Examples examples = of_markdown(read_file(document.string()));
    all += examples.size();
    INFO(document.filename().string());
    check_all(examples, document.filename() == "recipes.md" ? 18 : 0);
  }
  CHECK(all >= 40);
}

TEST_CASE("examples: those of --help run", "[live][examples]") {
  check_all(of_help(run_tracso({"--help"}).out), 6);
}

TEST_CASE("examples: those of each command's --help run", "[live][examples]") {
  for (const std::string command : {"stat", "calls", "dump", "fds", "watch", "diff", "record"}) {
    INFO(command);
    check_all(of_help(run_tracso({command, "-h"}).out), 2);
  }
}

TEST_CASE("examples: those of the manual page run", "[live][examples]") {
  check_all(of_manual(read_file(in_repository("docs/tracso.1"))), 10);
}

TEST_CASE("examples: what the report proposes works as printed", "[live][examples]") {
  Desk desk;
  const ProgramRun report = desk.type("tracso 4192");
  REQUIRE(report.status == 0);
  CHECK(report.out.find("tracso --why <lib>") != std::string::npos);
  for (const std::string example : {"tracso --why libssl", "tracso --tree", "tracso --json"}) {
    const ProgramRun ran = desk.type(example);
    INFO(example << "\nstderr: " << ran.err);
    CHECK(ran.status == 0);
    CHECK(ran.err.find("from the last trace, pid:") != std::string::npos);
  }
}

}  // namespace tracso::test
