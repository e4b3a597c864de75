// Ctrl-C, Ctrl-Z and other signals, at a terminal of our own with a small shell in front of it.

#include "os/live_process.hpp"
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
#include <cstdlib>
#include <functional>

using namespace tracso;
using namespace tracso::test;

namespace {

launch::RunOptions options_for(Arguments argv) {
  launch::RunOptions options;
  options.argv = std::move(argv);
  options.open = [](std::int32_t) -> Result<std::unique_ptr<ProcessSource>> {
    return Error{ErrorKind::denied, "open", "it", "not needed here", ""};
  };
  options.on_whole = [](const launch::Moment&) {};
  return options;
}

Result<std::unique_ptr<ProcessSource>> open_live(std::int32_t pid) {
  auto door = os::LiveProcess::open(pid);
  if (!door) {
    return door.error();
  }
  return std::unique_ptr<ProcessSource>(std::move(*door));
}

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
    say_end(launch::run_command(options_for(argv)));
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

namespace {

// A run in a process of its own, which heads a process group. `script` is what a shell does after
// it has said "ready" in the file `mark`; the exit status is what `judge` makes of the result.
class Job {
 public:
  Job(const std::string& name,
      const std::string& script,
      const std::function<bool(const launch::RunResult&)>& judge)
      : mark_(write_file(name, "")) {
    pid_ = fork();
    if (pid_ == 0) {
      setpgid(0, 0);
      const auto result =
          launch::run_command(options_for({"/bin/sh", "-c", "MARK='" + mark_ + "'; " + script}));
      _exit(result && judge(*result) ? 0 : 1);
    }
    setpgid(pid_, pid_);
  }

  ~Job() { kill(-pid_, SIGKILL); }

  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  pid_t pid() const { return pid_; }

  bool says(const std::string& word) const {
    for (int i = 0; i < 600; ++i) {
      if (run_natively({"cat", mark_}).out.find(word) != std::string::npos) {
        return true;
      }
      usleep(50'000);
    }
    return false;
  }

  std::string words() const { return run_natively({"cat", mark_}).out; }

  int end() const {
    int status = 0;
    waitpid(pid_, &status, 0);
    return status;
  }

 private:
  std::string mark_;
  pid_t pid_ = 0;
};

constexpr const char* until_term =
    "trap 'echo got >> $MARK; exit 7' TERM HUP; echo ready >> $MARK;"
    " while :; do sleep 0.02; done";

}  // namespace

TEST_CASE("run: SIGTERM to us is the command's, and its end is reported", "[live][run]") {
  const int number = GENERATE(SIGTERM, SIGHUP);
  const Job job("term_forwarded.txt", until_term, [](const launch::RunResult& result) {
    return result.exit_status == 7 && !result.interrupted_by &&
           result.moment == launch::MomentKind::exit_stop;
  });
  REQUIRE(job.says("ready"));
  kill(job.pid(), number);
  CHECK(job.end() == 0);
  CHECK(job.words() == "ready\ngot\n");
}

TEST_CASE("run: a signal to all of us reaches the command once", "[live][run]") {
  // As timeout(1) does: its child, then the group.
  const std::string counting =
      "n=0; trap 'n=$((n+1)); echo got >> $MARK' TERM; echo ready >> $MARK;"
      " i=0; while [ $i -lt 40 ]; do sleep 0.02; i=$((i+1)); done; exit $n";
  const Job job("term_once.txt", counting, [](const launch::RunResult& result) {
    return result.exit_status == 1 && !result.interrupted_by;
  });
  REQUIRE(job.says("ready"));
  kill(-job.pid(), SIGTERM);
  usleep(10'000);
  kill(job.pid(), SIGTERM);
  CHECK(job.end() == 0);
  CHECK(job.words() == "ready\ngot\n");
}

TEST_CASE("run: a second SIGTERM detaches and looks", "[live][run]") {
  const Job job("term_twice.txt",
                "trap 'echo got >> $MARK' TERM; echo ready >> $MARK;"
                " i=0; while [ $i -lt 100 ]; do sleep 0.02; i=$((i+1)); done; echo end >> $MARK",
                [](const launch::RunResult& result) {
                  return result.interrupted_by == SIGTERM &&
                         result.moment == launch::MomentKind::detached && !result.exit_status;
                });
  REQUIRE(job.says("ready"));
  kill(job.pid(), SIGTERM);
  REQUIRE(job.says("got"));
  usleep(800'000);
  kill(job.pid(), SIGTERM);
  CHECK(job.end() == 0);
  CHECK(job.says("end"));  // it goes on unharmed
}

TEST_CASE("run: when we are killed, a python loads on and ends as ever", "[live][run]") {
  const std::string mark = write_file("killed.txt", "");
  const std::string script = write_file("killed.py", R"(
import atexit, os, sys, time
def say(word):
    with open(sys.argv[1], "a") as mark: mark.write(word + "\n")
parent = os.getppid()
say("ready")
while os.getppid() == parent: time.sleep(0.01)
time.sleep(0.3)
import ssl, sqlite3, ctypes
try: ctypes.CDLL("libtracso_nowhere.so")
except OSError: pass
atexit.register(say, "end")
)");
  for (const std::string& program : python_programs()) {
    write_file("killed.txt", "");
    const pid_t tool = fork();
    if (tool == 0) {
      auto options = options_for({program, script, mark});
      options.open = open_live;
      options.record_loads = true;
      static_cast<void>(launch::run_command(options));
      _exit(1);
    }
    const auto says = [&](const std::string& word) {
      for (int i = 0; i < 600; ++i) {
        if (run_natively({"cat", mark}).out.find(word) != std::string::npos) {
          return true;
        }
        usleep(50'000);
      }
      return false;
    };
    CAPTURE(program);
    REQUIRE(says("ready"));
    usleep(100'000);  // it stands in its loop, not in a stop of ours
    kill(tool, SIGKILL);
    waitpid(tool, nullptr, 0);
    CHECK(says("end"));
  }
}
