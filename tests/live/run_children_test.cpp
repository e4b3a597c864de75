// The processes that a command starts: each is looked at when it ends, and none of them can tell.

#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/run_support.hpp"

#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

using namespace tracso;
using namespace tracso::test;

namespace {

std::string write_script(const std::string& name, const std::string& text) {
  return write_file(name, text, 0644U);
}

bool has_beyond(const launch::RunChild& child, const std::string& part) {
  return child.beyond &&
         std::any_of(
             child.beyond->begin(), child.beyond->end(), [&](const launch::MappedFile& file) {
               return file.path.find(part) != std::string::npos;
             });
}

std::size_t with_beyond(const launch::RunResult& result, const std::string& part) {
  return static_cast<std::size_t>(
      std::count_if(result.children.begin(), result.children.end(), [&](const auto& child) {
        return has_beyond(child, part);
      }));
}

std::size_t not_looked_at(const launch::RunResult& result) {
  return static_cast<std::size_t>(std::count_if(result.children.begin(),
                                                result.children.end(),
                                                [](const auto& child) { return !child.beyond; }));
}

SeenRun check_same(const Arguments& argv, const Change& change = {}) {
  const Native native = run_natively(argv);
  SeenRun ran = run(argv, [&](launch::RunOptions& options) {
    options.record_loads = true;  // as users run it: children copy the breakpoints of the loader
    if (change) {
      change(options);
    }
  });
  CAPTURE(argv, ran.err);
  REQUIRE(ran.result);
  CHECK(ran.out == native.out);
  CHECK(shell_status(*ran.result) == native.status);
  return ran;
}

nlohmann::json document(std::vector<std::string> words, int status = 0) {
  words.insert(words.begin(), "--json");
  const ProgramRun ran = run_tracso(words);
  CAPTURE(words, ran.err);
  REQUIRE(ran.status == status);
  return nlohmann::json::parse(ran.out);
}

bool has_library(const nlohmann::json& document, const std::string& part) {
  const auto& nodes = document.at("nodes");
  return std::any_of(nodes.begin(), nodes.end(), [&](const nlohmann::json& node) {
    return node.at("path").is_string() && node.at("loaded") == true &&
           node.at("path").get<std::string>().find(part) != std::string::npos;
  });
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool has_notice(const nlohmann::json& document, const std::string& code) {
  const auto& notices = document.at("notices");
  return std::any_of(notices.begin(), notices.end(), [&](const nlohmann::json& notice) {
    return notice.at("code") == code;
  });
}

}  // namespace

TEST_CASE(
    "run children: workers of a pool are listed with what they loaded beyond the main process",
    "[live][run][children]") {
  const std::string pool = write_script("pool_loads.py", R"(
import multiprocessing, sys
def work(x):
    import _decimal, sqlite3
    return x * x
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(3) as pool:
        print(pool.map(work, range(30), 1))
        pool.close()
        pool.join()
)");
  const std::string method = GENERATE("fork", "spawn", "forkserver");
  const SeenRun ran = check_same({python(), pool, method});
  CHECK(with_beyond(*ran.result, "libsqlite3") >= 1);
  CHECK(not_looked_at(*ran.result) == 0);
  for (const auto& child : ran.result->children) {
    CHECK(child.command.find("python") != std::string::npos);
  }
}

TEST_CASE("run children: those of subprocess, shells and posix_spawn, whatever their end",
          "[live][run][children]") {
  const std::string load = "import _decimal, os; ";
  const std::string program = python();
  const std::string end = GENERATE("os._exit(3)",
                                   "os.kill(os.getpid(), 9)",
                                   "os.kill(os.getpid(), 11)",
                                   "raise SystemExit(2)",
                                   "pass");
  const std::string script = write_script("starts.py", R"(
import os, subprocess, sys
code = sys.argv[1]
print(subprocess.call([sys.executable, "-c", code]))
print(os.waitpid(os.posix_spawn(sys.executable, [sys.executable, "-c", code], os.environ), 0)[1])
pid = os.fork()
if pid == 0:
    os.execv(sys.executable, [sys.executable, "-c", code])
print(os.waitpid(pid, 0)[1])
pid = os.fork()
if pid == 0:
    exec(code)
    os._exit(0)
print(os.waitpid(pid, 0)[1])
)");
  const SeenRun ran = check_same({program, script, load + end});
  CHECK(ran.result->children.size() == 4);
  CHECK(with_beyond(*ran.result, "_decimal") == 4);
}

TEST_CASE("run children: a pipeline and children of children", "[live][run][children]") {
  const SeenRun ran = check_same(
      {"sh",
       "-c",
       "env sh -c '" + python() + " -c \"import _decimal; print(1)\" | cat; true' | cat; exit 4"});
  CHECK(with_beyond(*ran.result, "_decimal") == 1);
  CHECK(not_looked_at(*ran.result) == 0);
  CHECK(ran.result->children.size() >= 4);
}

TEST_CASE("run children: a program that was replaced by another is told as that other",
          "[live][run][children]") {
  const SeenRun ran =
      check_same({"sh", "-c", "sh -c 'exec env " + python() + " -c \"import _decimal\"'; exit 0"});
  REQUIRE(ran.result->children.size() == 1);
  CHECK(has_beyond(ran.result->children.front(), "_decimal"));
  CHECK(ran.result->children.front().command.find("import _decimal") != std::string::npos);
}

TEST_CASE("run children: --why says which of them had the library", "[live][run][children]") {
  const TemporaryFolder state;
  ProgramOptions options;
  options.environment = {"TRACSO_NO_STATE=0", "XDG_STATE_HOME=" + state.path()};
  const std::string child = python() + " -c 'import sqlite3'; true";
  REQUIRE(run_tracso({"--run", "/bin/sh", "-c", child}, options).status == 0);
  const ProgramRun none = run_tracso({"--why", "libsqlite3"}, options);
  CHECK(none.status == 1);
  INFO(none.err);
  CHECK(says(none.err, "its child "));
  CHECK(says(none.err, "import sqlite3) had /"));
  CHECK(says(none.err, "hint: tracso --children --why libsqlite3 --run CMD"));
  CHECK_FALSE(says(run_tracso({"--why", "libnowhere"}, options).err, "its child"));
  const ProgramRun found =
      run_tracso({"--children", "--why", "libsqlite3", "--run", "/bin/sh", "-c", child});
  INFO(found.out);
  CHECK(found.status == 0);
  CHECK(says(found.out, "in child"));
  CHECK(says(found.out, "import sqlite3"));
}

TEST_CASE("run children: threads of a child, and children of its threads",
          "[live][run][children]") {
  const std::string script = write_script("threads_of_child.py", R"(
import os, subprocess, sys, threading
if os.fork() == 0:
    def one(i):
        if i == 3: import _decimal
        subprocess.call([sys.executable, "-c", "import sqlite3"])
    threads = [threading.Thread(target=one, args=(i,)) for i in range(6)]
    [t.start() for t in threads]; [t.join() for t in threads]
    os._exit(0)
print(os.wait()[1])
)");
  const SeenRun ran = check_same({python(), script});
  CHECK(ran.result->children.size() == 7);
  CHECK(with_beyond(*ran.result, "libsqlite3") == 6);
  CHECK(with_beyond(*ran.result, "_decimal") == 1);
}

TEST_CASE("run children: one that lives on is looked at as it is", "[live][run][children]") {
  const std::string script = write_script("lives_on.py", R"(
import os, sys, time
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    import _decimal
    os.write(write, b".")
    os.close(1); os.close(2)
    time.sleep(2)
    os._exit(0)
os.read(read, 1)
)");
  const SeenRun ran = run({python(), script});
  REQUIRE(ran.result);
  REQUIRE(ran.result->children.size() == 1);
  CHECK(has_beyond(ran.result->children.front(), "_decimal"));
  CHECK(ran.result->wall < std::chrono::seconds(2));
}

TEST_CASE("run children: a debugger traces its own", "[live][run][children]") {
  const std::string program = compile("debugger", R"(
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char how = argv[argc - 1][0];
  int status = 0;
  pid_t pid = how == 'v' ? vfork() : fork();
  if (pid == 0) {
    if (how != 's' && ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(99);
    if (how == 's') raise(SIGSTOP);
    if (how != 'v') { raise(SIGSTOP); }
    execl("/bin/true", "true", (char *)0);
    _exit(98);
  }
  if (how == 's') {
    waitpid(pid, &status, WUNTRACED);
    printf("%d ", WIFSTOPPED(status));
    printf("%ld ", ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC));
    kill(pid, SIGCONT);
  }
  int stops = 0;
  while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
    int signal = WSTOPSIG(status);
    ++stops;
    ptrace(PTRACE_CONT, pid, 0, signal == SIGTRAP || signal == SIGSTOP ? 0 : signal);
  }
  printf("%d %d\n", stops > 0, WEXITSTATUS(status));
  return 0;
}
)");
  const std::string how = GENERATE("traceme", "seize", "vfork");
  const SeenRun ran = check_same({program, how});
  CHECK(ran.out.find("99") == std::string::npos);
  CHECK(not_looked_at(*ran.result) == 1);
}

TEST_CASE("run children: tracso runs under tracso", "[live][run][children]") {
  const ProgramRun ran =
      run_tracso({"--run", tracso_binary(), "--run", "sh", "-c", "/bin/true; exit 3"});
  CAPTURE(ran.out, ran.err);
  CHECK(ran.status == 0);
  CHECK(ran.out.find("cannot be traced") == std::string::npos);
  CHECK(ran.out.find("exit 3") != std::string::npos);
}

TEST_CASE("run children: parents that are killed after a fork leave nobody standing",
          "[live][run][children]") {
  const std::string program = compile("killed_parents", R"(
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  int ends[2];
  char byte;
  if (pipe(ends)) return 1;
  for (int i = 0; i < 100; ++i) {
    pid_t pid = fork();
    if (pid == 0) {
      for (;;) if (fork() == 0) { close(ends[0]); _exit(0); }
    }
    usleep(1000 + i * 10);
    kill(pid, SIGKILL);
    waitpid(pid, 0, 0);
  }
  close(ends[1]);
  puts(read(ends[0], &byte, 1) == 0 ? "all gone" : "?");
  return 0;
}
)");
  CHECK(run({program}).out == "all gone\n");
}

TEST_CASE("run children: they can be left alone", "[live][run][children]") {
  const SeenRun ran =
      check_same({python(),
                  "-c",
                  "import subprocess, sys; print(subprocess.call([sys.executable, '-c', '']))"},
                 [](launch::RunOptions& options) { options.follow_children = false; });
  REQUIRE(ran.result->children.size() == 1);
  CHECK(!ran.result->children.front().beyond);
}

TEST_CASE("run children: what was not seen is not called by a wrong name",
          "[live][run][children]") {
  // 70 programs of their own: more than are looked at closely.
  std::string script = "cd " + scratch_folder() + "\n";
  for (int i = 0; i < 70; ++i) {
    script += "cp /bin/true own_" + std::to_string(i) + "; ./own_" + std::to_string(i) + "\n";
  }
  std::size_t shown = 0;
  const SeenRun ran = run({"sh", "-c", script}, [&](launch::RunOptions& options) {
    options.on_child = [&](const launch::Moment&) {
      ++shown;
      return true;
    };
  });
  REQUIRE(ran.result);
  CHECK(shown == 64);
  CHECK(ran.result->unshown_children == 70 + 1 - 64);
}

TEST_CASE("run children: with --children they join the graph, and gates see them",
          "[live][run][children]") {
  const std::vector<std::string> run_it = {
      "--run",
      python(),
      "-c",
      "import subprocess, sys; subprocess.call([sys.executable, '-c', "
      "'import sqlite3'])"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), run_it.begin(), run_it.end());
    return words;
  };
  const auto alone = document(with({}));
  CHECK_FALSE(has_library(alone, "libsqlite3"));
  REQUIRE(alone.at("children").size() == 1);
  const auto& child = alone.at("children").front();
  CHECK(child.at("libraries_beyond_parent") >= 1);
  CHECK(child.at("beyond").dump().find("libsqlite3") != std::string::npos);

  const auto joined = document(with({"--children"}));
  CHECK(has_library(joined, "libsqlite3"));
  CHECK_FALSE(has_notice(joined, "children-unseen"));
  CHECK(joined.at("totals").at("libraries") > alone.at("totals").at("libraries"));

  CHECK(run_tracso(with({"--deny", "libsqlite3*"})).status == 0);
  const ProgramRun denied = run_tracso(with({"--children", "--deny", "libsqlite3*"}));
  CHECK(denied.status == 1);
  CHECK(denied.err.find("libsqlite3") != std::string::npos);
  const ProgramRun left = run_tracso(with({"--no-follow", "--children", "--deny", "libsqlite3*"}));
  CHECK(left.status == 1);
  CHECK(left.err.find("cannot be held against the limits") != std::string::npos);
}

TEST_CASE("run children: --children has those that ended before the command became another program",
          "[live][run][children]") {
  const auto with = [](std::vector<std::string> words) {
    words.insert(words.end(), {"--run", "sh", "-c", python() + " -c 'import sqlite3'; exec true"});
    return words;
  };
  const auto joined = document(with({"--children"}));
  CHECK(has_library(joined, "libsqlite3"));
  CHECK(joined.at("children").size() == 1);
  CHECK(run_tracso(with({"--children", "--deny", "libsqlite3*"})).status == 1);
  // What a wrapper did before it became the program is not what the program does.
  CHECK(document(with({})).at("children").empty());
}

TEST_CASE("run children: a zombie that was seen whole before is not called unreadable",
          "[live][run][children]") {
  const auto joined = document({"--children",
                                "--run",
                                python(),
                                "-c",
                                "import subprocess, sys, time\n"
                                "child = subprocess.Popen([sys.executable, '-c', 'import "
                                "sqlite3'])\n"
                                "time.sleep(1)\n"});
  CHECK(has_library(joined, "libsqlite3"));
  CHECK_FALSE(has_notice(joined, "child-unreadable"));
}

TEST_CASE("run children: the modules of a child are sources like those of the command",
          "[live][run][children]") {
  const std::string worker = write_script("forked_import.py", R"(
import os
if os.fork() == 0:
    import sqlite3
    os._exit(0)
os.wait()
)");
  const auto all = document({"--children", "--run", python(), worker});
  const auto& edges = all.at("edges");
  CHECK(std::any_of(edges.begin(), edges.end(), [](const nlohmann::json& edge) {
    return edge.at("source").get<std::string>().find("_sqlite3") != std::string::npos &&
           edge.at("target").get<std::string>().find("libsqlite3") != std::string::npos;
  }));
  CHECK(std::any_of(edges.begin(), edges.end(), [](const nlohmann::json& edge) {
    return edge.at("source").get<std::string>().find("py:_sqlite3") != std::string::npos;
  }));
}

TEST_CASE("run children: privileges of a program are not taken away", "[live][run][other-user]") {
  REQUIRE(::geteuid() == 0);
  const TemporaryFolder folder;
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  const std::string source = write_script("privileged.c", R"(
#include <stdio.h>
#include <unistd.h>
int main(void) { printf("euid %d\n", (int)geteuid()); return 0; }
)");
  const std::string program = folder / "privileged";
  REQUIRE(run_program({"cc", "-o", program, source}).status == 0);
  REQUIRE(::chmod(program.c_str(), 04755) == 0);
  const std::string tracso = folder / "tracso";
  REQUIRE(run_program({"cp", tracso_binary(), tracso}).status == 0);
  const auto as_nobody = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
    return run_program(words);
  };
  if (as_nobody({program}).out != "euid 0\n") {
    WARN("this file system gives no privileges: nothing to be seen here");
    return;
  }
  const ProgramRun child = as_nobody({tracso, "--run", "sh", "-c", program + "; true"});
  CAPTURE(child.err);
  CHECK(child.out.find("euid 0\n") != std::string::npos);
  CHECK(child.out.find("was not looked at") != std::string::npos);
}
