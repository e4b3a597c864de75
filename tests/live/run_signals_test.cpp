// Signals to us while a command runs: they are the command's; and our sudden end, which is none of
// its business.

#include "os/live_process.hpp"
#include "support/catch.hpp"
#include "support/run_support.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

using namespace tracso;
using namespace tracso::test;

namespace {

Result<std::unique_ptr<ProcessSource>> open_live(std::int32_t pid) {
  auto door = os::LiveProcess::open(pid);
  if (!door) {
    return door.error();
  }
  return std::unique_ptr<ProcessSource>(std::move(*door));
}

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
          launch::run_command(blind_options({"/bin/sh", "-c", "MARK='" + mark_ + "'; " + script}));
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
      auto options = blind_options({program, script, mark});
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
