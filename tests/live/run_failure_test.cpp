// Commands that cannot be started, and kernels that do not let us trace.

#include "support/catch.hpp"
#include "support/run_support.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

using namespace tracso;
using namespace tracso::test;

namespace {

Error error_of(const Arguments& argv) {
  const SeenRun ran = run(argv);
  REQUIRE(ran.error);
  CHECK(ran.looks.empty());
  return *ran.error;
}

// ptrace fails with EPERM from now on, as in a container with a strict seccomp profile.
void forbid_ptrace() {
  std::array<sock_filter, 4> program = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

// Runs `check` in a child where ptrace is forbidden; what it returns is the number of the first
// thing that was wrong, 0 if nothing was.
int without_ptrace(const std::function<int()>& check) {
  const pid_t pid = fork();
  if (pid == 0) {
    forbid_ptrace();
    _exit(check());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("run: what cannot be found is said so", "[live][run]") {
  CHECK(error_of({"no-such-command-anywhere"}).kind == ErrorKind::not_found);
  CHECK(error_of({"no-such-command-anywhere"}).reason == "command not found");
  const std::string own = std::to_string(getpid());
  CHECK(error_of({own}).hint.find("-p " + own) != std::string::npos);
  CHECK(error_of({"/no/such/file"}).kind == ErrorKind::not_found);
  CHECK(error_of({"/etc/passwd/x"}).kind == ErrorKind::not_found);
  const std::string script = write_file("bad_interpreter", "#!/no/such/interpreter\n", 0755);
  CHECK(error_of({script}).kind == ErrorKind::not_found);
  CHECK(error_of({script}).reason.find("interpreter") != std::string::npos);
}

TEST_CASE("run: what cannot be executed is denied", "[live][run]") {
  const std::string text = write_file("not_executable", "echo 1\n");
  CHECK(error_of({text}).kind == ErrorKind::denied);
  CHECK(error_of({"/tmp"}).kind == ErrorKind::denied);
}

TEST_CASE("run: no command is a usage error", "[live][run]") {
  CHECK(error_of({}).kind == ErrorKind::usage);
  CHECK(error_of({""}).kind == ErrorKind::usage);
}

TEST_CASE("run: a script without a first line is given to sh", "[live][run]") {
  const SeenRun ran = run({write_file("no_shebang", "echo $1; exit 5\n", 0755), "x"});
  REQUIRE(ran.result);
  CHECK(ran.out == "x\n");
  CHECK(ran.result->exit_status == 5);
}

TEST_CASE("run: output goes to stderr when stdout is ours", "[live][run]") {
  const SeenRun ran = run({"/bin/sh", "-c", "echo out; echo err >&2"},
                          [](launch::RunOptions& options) { options.output_to_stderr = true; });
  CHECK(ran.out.empty());
  CHECK(ran.err == "out\nerr\n");
}

TEST_CASE("run: without ptrace the command runs and is looked at meanwhile", "[live][run]") {
  const std::string program = python();
  const int wrong = without_ptrace([&] {
    const SeenRun ran =
        run({program, "-c", "import ssl, time; time.sleep(0.5); print(1); exit(3)"});
    if (!ran.result || ran.result->exit_status != 3 || ran.out != "1\n") {
      return 1;
    }
    if (ran.result->moment != launch::MomentKind::last_look || ran.looks.empty()) {
      return 2;
    }
    if (ran.looks.back().moment.stopped ||
        ran.looks.back().maps.find("libssl") == std::string::npos) {
      return 3;
    }
    return ran.result->notices.size() == 1 &&
                   ran.result->notices.front().code == "tracing-not-permitted"
               ? 0
               : 4;
  });
  CHECK(wrong == 0);
}

TEST_CASE("run: without ptrace a missing command is still told apart", "[live][run]") {
  CHECK(without_ptrace([] {
          const SeenRun ran = run({"no-such-command-anywhere"});
          return ran.error && ran.error->kind == ErrorKind::not_found ? 0 : 1;
        }) == 0);
}

TEST_CASE("run: without ptrace --at seconds looks at that time", "[live][run]") {
  CHECK(without_ptrace([] {
          const SeenRun ran = run({"/bin/sleep", "0.6"}, [](launch::RunOptions& options) {
            options.at = launch::At::seconds;
            options.after = std::chrono::milliseconds(200);
          });
          return ran.result && ran.result->exit_status == 0 &&
                         ran.result->moment == launch::MomentKind::elapsed
                     ? 0
                     : 1;
        }) == 0);
}
