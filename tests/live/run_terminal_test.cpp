// Ctrl-C, Ctrl-Z and stops from elsewhere, at a terminal of our own with a small shell in front of
// it.

#include "support/catch.hpp"
#include "support/run_support.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>

using namespace tracso;
using namespace tracso::test;

namespace {

// What the job prints at its end: "[exit 3]", "[signal 2]", "[interrupted 2 detached]".
void say_end(const Result<launch::RunResult>& result) {
  if (!result) {
    dprintf(1, "[error]\n");
  } else if (result->interrupted_by) {
    const std::string moment(result->moment ? launch::moment_name(*result->moment) : "none");
    dprintf(1, "[interrupted %d %s]\n", *result->interrupted_by, moment.c_str());
  } else if (result->signal) {
    dprintf(1, "[signal %d]\n", *result->signal);
  } else {
    dprintf(1, "[exit %d]\n", result->exit_status.value_or(-1));
  }
}

// Whom the shell continues after a stop: the job, as fg does; its first process alone; nobody, for
// somebody else will.
enum class Continue { job, leader, nobody };

// A session with a terminal: a shell that runs one job in the foreground, says "[stopped]" when the
// job stops and lets it go on half a second later.
[[noreturn]] void be_shell(int terminal, const Arguments& argv, Continue whom) {
  setsid();
  ioctl(terminal, TIOCSCTTY, 0);
  for (int fd = 0; fd < 3; ++fd) {
    dup2(terminal, fd);
  }
  signal(SIGTTOU, SIG_IGN);
  const pid_t job = fork();
  if (job == 0) {
    setpgid(0, 0);
    tcsetpgrp(0, getpid());
    signal(SIGTTOU, SIG_DFL);
    say_end(launch::run_command(blind_options(argv)));
    _exit(0);
  }
  for (int status = 0; waitpid(job, &status, WUNTRACED) == job;) {
    if (!WIFSTOPPED(status)) {
      dprintf(1,
              "[job %s %d]\n",
              WIFEXITED(status) ? "exit" : "signal",
              WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
      break;
    }
    tcsetpgrp(0, getpid());
    dprintf(1, "[stopped]\n");
    usleep(300'000);
    tcsetpgrp(0, job);
    if (whom != Continue::nobody) {
      kill(whom == Continue::job ? -job : job, SIGCONT);
    }
  }
  usleep(100'000);  // what was written is still to be read
  _exit(0);
}

class Terminal {
 public:
  explicit Terminal(const Arguments& argv, Continue whom = Continue::job)
      : master_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    grantpt(master_);
    unlockpt(master_);
    const int slave = open(ptsname(master_), O_RDWR | O_NOCTTY);
    shell_ = fork();
    if (shell_ == 0) {
      be_shell(slave, argv, whom);
    }
    close(slave);
  }

  ~Terminal() {
    kill(shell_, SIGKILL);
    waitpid(shell_, nullptr, 0);
    close(master_);
  }

  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(std::string_view keys) {
    REQUIRE(write(master_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
  }

  // Everything up to and including `text`; all there is if it does not come.
  bool wait_for(std::string_view text) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (seen_.find(text) == std::string::npos && std::chrono::steady_clock::now() < end) {
      pollfd waiting{master_, POLLIN, 0};
      std::array<char, 4096> piece{};
      if (poll(&waiting, 1, 100) > 0) {
        const ssize_t count = read(master_, piece.data(), piece.size());
        if (count <= 0) {
          break;
        }
        seen_.append(piece.data(), static_cast<std::size_t>(count));
      }
    }
    const std::size_t found = seen_.find(text);
    if (found == std::string::npos) {
      return false;
    }
    seen_.erase(0, found + text.size());
    return true;
  }

  const std::string& rest() const { return seen_; }

 private:
  int master_;
  pid_t shell_ = 0;
  std::string seen_;
};

}  // namespace

TEST_CASE("run: Ctrl-C is the command's", "[live][run]") {
  Terminal terminal(
      {"/bin/sh", "-c", "trap 'echo got; exit 5' INT; echo ready; while :; do sleep 0.05; done"});
  REQUIRE(terminal.wait_for("ready"));
  terminal.type("\x03");
  CHECK(terminal.wait_for("got"));
  CHECK(terminal.wait_for("[exit 5]"));
  CHECK(terminal.wait_for("[job exit 0]"));
}

TEST_CASE("run: a command that Ctrl-C kills is reported so", "[live][run]") {
  Terminal terminal({"/bin/sh", "-c", "echo ready; exec sleep 20"});
  REQUIRE(terminal.wait_for("ready"));
  usleep(100'000);
  terminal.type("\x03");
  CHECK(terminal.wait_for("[signal 2]"));
}

TEST_CASE("run: a second Ctrl-C detaches and looks", "[live][run]") {
  const std::string mark = write_file("survivor.txt", "");
  Terminal terminal(
      {"/bin/sh", "-c", "trap '' INT HUP; echo ready; sleep 1.2; echo alive > " + mark});
  REQUIRE(terminal.wait_for("ready"));
  terminal.type("\x03");
  usleep(100'000);
  terminal.type("\x03");
  CHECK(terminal.wait_for("[interrupted 2 detached]"));
  CHECK(run_natively({"/bin/sh", "-c", "sleep 1.5; cat " + mark}).out == "alive\n");
}

TEST_CASE("run: Ctrl-Z stops the command and us, and both go on", "[live][run]") {
  Terminal terminal({"/bin/cat"});
  usleep(200'000);
  for (int i = 0; i < 3; ++i) {
    terminal.type("one\n");
    REQUIRE(terminal.wait_for("one\r\none"));
    terminal.type("\x1a");
    REQUIRE(terminal.wait_for("[stopped]"));
    usleep(400'000);
  }
  terminal.type("two\n");
  CHECK(terminal.wait_for("two\r\ntwo"));
  terminal.type("\x04");
  CHECK(terminal.wait_for("[exit 0]"));
}

TEST_CASE("run: a command that does not stop does not stop us", "[live][run]") {
  Terminal terminal({"/bin/sh", "-c", "trap '' TSTP; echo ready; sleep 0.5; exit 6"});
  REQUIRE(terminal.wait_for("ready"));
  terminal.type("\x1a");
  CHECK(terminal.wait_for("[exit 6]"));
}

TEST_CASE("run: a command that stops itself stops us, and both go on", "[live][run]") {
  const auto whom = GENERATE(Continue::job, Continue::leader);
  const int number = GENERATE(SIGSTOP, SIGTSTP, SIGTTIN);
  Terminal terminal(
      {"/bin/sh", "-c", "echo ready; kill -" + std::to_string(number) + " $$; echo on; exit 3"},
      whom);
  REQUIRE(terminal.wait_for("ready"));
  CHECK(terminal.wait_for("[stopped]"));
  CHECK(terminal.wait_for("on"));
  CHECK(terminal.wait_for("[exit 3]"));
  CHECK(terminal.wait_for("[job exit 0]"));
}

TEST_CASE("run: a command that somebody else continues wakes us", "[live][run]") {
  Terminal terminal(
      {"/bin/sh", "-c", "echo ready; (sleep 0.7; kill -CONT $$) & kill -STOP $$; echo on; exit 3"},
      Continue::nobody);
  REQUIRE(terminal.wait_for("ready"));
  CHECK(terminal.wait_for("[stopped]"));
  CHECK(terminal.wait_for("on"));
  CHECK(terminal.wait_for("[exit 3]"));
}

TEST_CASE("run: a pipeline with threads stops and goes on with Ctrl-Z", "[live][run]") {
  const std::string script = write_file("stops.py", R"(
import threading, time, sys
threads = [threading.Thread(target=time.sleep, args=(1.5,), daemon=True) for _ in range(8)]
[t.start() for t in threads]
print("ready", flush=True)
for line in sys.stdin: print("got " + line.strip(), flush=True)
)");
  Terminal terminal({"/bin/sh", "-c", python() + " " + script + " | cat; exit 3"});
  REQUIRE(terminal.wait_for("ready"));
  for (int i = 0; i < 2; ++i) {
    terminal.type("\x1a");
    REQUIRE(terminal.wait_for("[stopped]"));
    usleep(400'000);
    terminal.type("one\n");
    REQUIRE(terminal.wait_for("got one"));
  }
  terminal.type("\x04");
  CHECK(terminal.wait_for("[exit 3]"));
}

TEST_CASE("run: SIGSTOP and SIGCONT from elsewhere work as ever", "[live][run]") {
  // The command is stopped from outside and seen as stopped until it is continued.
  const SeenRun ran =
      run({"/bin/sh",
           "-c",
           "(sleep 0.1; kill -STOP $$; sleep 0.3;"
           " grep State /proc/$$/status; kill -CONT $$) &"
           " i=0; while [ $i -lt 12 ]; do sleep 0.05; i=$((i+1)); done; wait; exit 4"});
  REQUIRE(ran.result);
  CHECK(ran.result->exit_status == 4);
  CHECK(ran.out.find("State:\tt") != std::string::npos);
  CHECK(ran.result->wall > std::chrono::milliseconds(800));
}
