// The completions as the shells themselves give them.

#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

namespace tracso::test {
namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string script(const std::string& name) {
  return tests_file("../src/cli/completions/") + name;
}

// A folder in PATH where "tracso" is the program of this build.
class Desk {
 public:
  Desk() {
    std::error_code error;
    std::filesystem::create_symlink(tracso_binary(), folder_ / "tracso", error);
    REQUIRE_FALSE(error);
  }

  std::string run(const std::string& shell, const std::string& text) const {
    ProgramOptions options;
    options.environment = {"PATH=" + folder_.path() + ":/usr/bin:/bin", "HOME=" + folder_.path()};
    options.directory = folder_.path();
    const auto ran = run_program({shell, "-c", text}, options);
    INFO(ran.err);
    CHECK(ran.err.empty());
    return ran.out;
  }

  // What bash would offer for these words.
  std::string bash(const std::string& words) const {
    return run("/bin/bash",
               "compopt() { :; }; source " + script("tracso.bash") + "; COMP_WORDS=(" + words +
                   "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tracso; printf '%s\\n' "
                   "\"${COMPREPLY[@]}\"");
  }

 private:
  TemporaryFolder folder_;
};

bool installed(const std::string& shell) {
  const bool there = run_program({"/bin/sh", "-c", "command -v " + shell}).status == 0;
  if (!there) {
    WARN("skipped: " + shell + " is not installed");
  }
  return there;
}

}  // namespace

TEST_CASE("completion: bash knows options, values, processes and sonames", "[live][complete]") {
  Child python(
      {"/usr/bin/python3", "-c", "import ssl, sys; print('ready', flush=True); sys.stdin.read()"});
  REQUIRE(python.line() == std::optional<std::string>("ready"));
  const std::string pid = std::to_string(python.pid());
  const Desk desk;
  CHECK(desk.bash("tracso --findi") == "--findings\n");
  CHECK(desk.bash("tracso --by r") == "resident\n");
  CHECK(has("\n" + desk.bash("tracso " + pid), "\n" + pid + "\n"));
  CHECK(desk.bash("tracso " + pid + " --why libssl") == "libssl.so.3\n");
  CHECK(has(desk.bash("tracso --run ech"), "echo\n"));
  CHECK(has(desk.bash("tracso rec"), "record\n"));
}

TEST_CASE("completion: fish shows what a word is", "[live][complete]") {
  if (!installed("fish")) {
    return;
  }
  const Desk desk;
  const auto fish = [&](const std::string& line) {
    return desk.run("fish", "source " + script("tracso.fish") + "; complete -C '" + line + "'");
  };
  CHECK(has(fish("tracso --findi"), "--findings\tall that looks wrong"));
  CHECK(has(fish("tracso --color "), "never"));
}

TEST_CASE("completion: zsh reads the script and asks the program", "[live][complete]") {
  if (!installed("zsh")) {
    return;
  }
  const Desk desk;
  // _describe is zsh's own; here it only says what it was given.
  const std::string seen = desk.run(
      "zsh",
      "compdef() { :; }; source " + script("_tracso") +
          "; _describe() { print -l -- ${(P)3}; }; words=(tracso --fi); CURRENT=2; _tracso");
  CHECK(has(seen, "--findings:all that looks wrong"));
}

}  // namespace tracso::test
