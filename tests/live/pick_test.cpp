// The picker at a real terminal: a pty, and tmux where it is installed, whose screen is what a
// person sees.

#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/pty.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"

#include <unistd.h>

#include <string>

namespace tracso::test {
namespace {

using Environment = std::vector<std::string>;

const Environment usual{"TERM=xterm-256color", "LC_ALL=C.UTF-8", "TRACSO_NO_STATE=1", "NO_COLOR="};

// A process that no other test has: its command line holds a word of its own.
class Marked {
 public:
  Marked() : child_({"/usr/bin/python3", "-c", program, word_}) {
    REQUIRE(child_.line() == std::optional<std::string>("ready"));
  }

  const std::string& word() const { return word_; }

  std::string pid() const { return std::to_string(child_.pid()); }

 private:
  static constexpr const char* program =
      "import ssl, sys; print('ready', flush=True); sys.stdin.read()";
  std::string word_ = "mark" + std::to_string(::getpid());
  Child child_;
};

PtyProgram at_terminal(std::vector<std::string> words, const Environment& environment = usual) {
  words.insert(words.begin(), tracso_binary());
  return PtyProgram(words, environment);
}

}  // namespace

TEST_CASE("pick: filter, Enter, and the report of that process", "[live][pick]") {
  const Marked target;
  auto program = at_terminal({"--pick"});
  REQUIRE(program.wait_for("type to filter"));
  program.type(target.word() + "\r");
  CHECK(program.finish() == 0);
  CHECK(program.output().find("tracso · pid:" + target.pid()) != std::string::npos);
}

TEST_CASE("pick: Esc and Ctrl-C leave with 130 and print nothing", "[live][pick]") {
  const Marked python;  // without one there is nothing to pick
  for (const char* key : {"\x1b", "\x03"}) {
    auto program = at_terminal({"--pick-py"});
    REQUIRE(program.wait_for("type to filter"));
    program.type(key);
    CHECK(program.finish() == 130);
    CHECK(program.output().find("libs") == std::string::npos);
  }
}

TEST_CASE("pick: bare tracso on a terminal is the picker", "[live][pick]") {
  auto program = at_terminal({});
  REQUIRE(program.wait_for("type to filter"));
  program.type("\x1b");
  CHECK(program.finish() == 130);
}

TEST_CASE("pick: the preview tells of the selected process", "[live][pick]") {
  const Marked target;
  auto program = at_terminal({"--pick"});
  REQUIRE(program.wait_for("type to filter"));
  program.type(target.word());
  CHECK(program.wait_for("libraries, "));
  program.resize(30, 100);
  CHECK(program.wait_for("Enter trace"));  // drawn anew on the larger screen
  program.type("\x1b");
  CHECK(program.finish() == 130);
}

TEST_CASE("pick: a terminal that cannot be drawn on gets a numbered list", "[live][pick]") {
  const Marked target;
  for (const char* name : {"TERM=dumb", "TERM=no-such-terminal"}) {
    Environment environment = usual;
    environment.emplace_back(name);
    auto program = at_terminal({"--pick"}, environment);
    REQUIRE(program.wait_for("a plain list instead"));
    REQUIRE(program.wait_for("filter (empty: none) > "));
    program.type(target.pid() + "\n");
    CHECK(program.finish() == 0);
    CHECK(program.output().find("pid:" + target.pid()) != std::string::npos);
  }
}

TEST_CASE("pick: the description of xterm is built in", "[live][pick]") {
  Environment environment = usual;
  environment.emplace_back("TERM=xterm-of-another-world");
  auto program = at_terminal({"--pick"}, environment);
  REQUIRE(program.wait_for("type to filter"));
  program.type("\x1b");
  CHECK(program.finish() == 130);
}

TEST_CASE("pick: the compact list has no columns", "[live][pick]") {
  auto program = at_terminal({"--pick-mode", "curses"});
  REQUIRE(program.wait_for("COMMAND"));
  CHECK(program.output().find("RSS") == std::string::npos);
  program.type("\x1b");
  CHECK(program.finish() == 130);
}

TEST_CASE("pick: without a terminal it is refused, plain mode reads a pipe", "[live][pick]") {
  const Marked target;
  const auto refused = run_program({"setsid", "-w", tracso_binary(), "--pick"});
  CHECK(refused.status == 2);
  CHECK(refused.err.find("no terminal") != std::string::npos);
  CHECK(refused.err.find("--pick-mode plain") != std::string::npos);
  const std::string command = tracso_binary() + " --pick-mode plain --json";
  const auto piped =
      run_program({"/bin/sh", "-c", "echo " + target.pid() + " | setsid -w " + command});
  CHECK(piped.status == 0);
  CHECK(piped.out.starts_with("{"));
  CHECK(piped.err.find(target.word()) != std::string::npos);
  CHECK(run_program({"/bin/sh", "-c", "setsid -w " + command + " </dev/null"}).status == 2);
}

// What a person sees, as tmux keeps it.
TEST_CASE("pick: the screen in tmux at 40, 80 and 200 columns", "[live][pick]") {
  if (run_program({"tmux", "-V"}).status != 0) {
    WARN("skipped: tmux is not installed");
    return;
  }
  const Marked target;
  for (const std::string columns : {"40", "80", "200"}) {
    const TemporaryFolder folder;
    const std::string tmux = "tmux -L pick ";
    const std::string inside = "TRACSO_NO_STATE=1 " + tracso_binary() + " --pick";
    ProgramOptions options;
    options.environment = {"TMUX_TMPDIR=" + folder.path(), "LC_ALL=C.UTF-8", "TMUX="};
    const auto shell = [&](const std::string& line) {
      return run_program({"/bin/sh", "-c", line}, options);
    };
    shell(tmux + "-f /dev/null -u new-session -d -x " + columns + " -y 24 '" + inside + "'");
    std::string screen;
    shell(tmux + "send-keys " + target.word());
    for (int i = 0; i < 100 && screen.find("1/") == std::string::npos; ++i) {
      screen = shell("sleep 0.1; " + tmux + "capture-pane -p").out;
    }
    shell(tmux + "kill-server");
    INFO(screen);
    CHECK(screen.find("> " + target.word()) != std::string::npos);
    CHECK(screen.find(target.pid()) != std::string::npos);
    CHECK((screen.find("USER") != std::string::npos) == (columns != "40"));
    CHECK((screen.find("CONTAINER") != std::string::npos) == (columns == "200"));
  }
}

}  // namespace tracso::test
