// tracso calls, from outside (--engine ptrace, -x, -S): what the program says happened is what is
// shown, and the program notices nothing.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace tracso;
using test::contains;
using test::lines_of;
using test::shell;
using test::squeezed;
using test::trace_lines;
using test::Words;

namespace {

std::string built(const std::string& options = "-O2", const std::string& name = "engine") {
  const auto program = test::scratch_folder() + "/" + name;
  shell(fmt::format("gcc -w -fno-builtin {} {}/engine.c -o {} -pthread",
                    options,
                    test::tests_file("live/calls"),
                    program));
  return program;
}

const Words& builds() {
  static const Words all{"-O2",
                         "-O0",
                         "-O2 -fcf-protection=full -Wl,-z,ibtplt,-z,now",
                         "-O2 -fno-plt",
                         "-O1 -no-pie -fno-pie -Wl,-z,lazy",
                         "-O2 -static",
                         "-O2 -static-pie"};
  return all;
}

}  // namespace

TEST_CASE("calls engine: every construct runs as without us", "[live][calls][engine]") {
  for (const auto& build : builds()) {
    INFO(build);
    const auto program = built(build);
    for (const std::string mode :
         {"plain", "jumps", "threads", "signals", "forks", "spawns", "exec", "killed"}) {
      INFO(mode);
      const auto native = test::run_program({program, mode});
      for (const Words& options :
           {Words{"-x", "*@MAIN", "-L"}, {"-S", "-L"}, {"-f", "-S", "-x", "work+descend"}}) {
        INFO(options.front());
        const auto traced = trace_lines(options, {program, mode});
        CHECK(traced.run.out == native.out);
        CHECK(traced.run.status == native.status);
        CHECK(traced.has("("));
      }
    }
  }
}

TEST_CASE("calls engine: entry points, nested and recursive", "[live][calls][engine]") {
  for (const auto& build : builds()) {
    INFO(build);
    const auto program = built(build);
    const auto traced = trace_lines({"-L", "-x", "outer+inner+factorial"}, {program});
    CHECK(traced.has("outer(3, "));
    CHECK(traced.has("<unfinished ...>"));
    CHECK(traced.has("<... outer resumed> ) = "));
    CHECK(traced.count("factorial(") == 4);
    CHECK(traced.has("<... factorial resumed> ) = 24"));
    CHECK(traced.has(") = 1"));
    CHECK(traced.lines.back() == "+++ exited (status 5) +++");
  }
}

TEST_CASE("calls engine: imported functions of the program", "[live][calls][engine]") {
  for (const auto& build : builds()) {
    if (contains(build, "-static")) {
      continue;
    }
    INFO(build);
    const auto program = built(build);
    const auto traced = trace_lines({"--engine", "ptrace"}, {program});
    CHECK(traced.has("getenv(\"HOME\") = "));
    CHECK(traced.has("strlen("));
    CHECK(traced.has("printf(\"%d %d %d\\n\", "));
    CHECK(
        traced.has("open(\"/no/such/file\", O_RDONLY|O_CLOEXEC) = -1 ENOENT (no such file or "
                   "directory)"));
    CHECK(traced.count("factorial") == 0);
    const auto from = trace_lines({"--engine", "ptrace", "-e", "getenv"}, {program});
    CHECK(from.has("engine->getenv(\"HOME\") = "));
    CHECK(from.count("strlen") == 0);
  }
}

TEST_CASE("calls engine: functions of libraries are named with them", "[live][calls][engine]") {
  const auto program = built();
  const auto traced = trace_lines({"-L", "-x", "getenv@libc.so*"}, {program});
  CHECK(traced.has("getenv@libc.so.6(\"HOME\") = "));
  const auto both = trace_lines({"-x", "getenv@libc.so*"}, {program});
  const auto outside = std::find_if(both.lines.begin(), both.lines.end(), [](const auto& line) {
    return line.find("getenv(\"HOME\" <unfinished ...>") == 0;
  });
  REQUIRE(outside != both.lines.end());
  CHECK(contains(*(outside + 1), "getenv@libc.so.6(\"HOME\") = "));
  CHECK(contains(*(outside + 2), "<... getenv resumed> ) = "));
}

TEST_CASE("calls engine: system calls by name, with texts and errors", "[live][calls][engine]") {
  for (const auto& build : {"-O2", "-O2 -static"}) {
    INFO(build);
    const auto program = built(build);
    const auto traced = trace_lines({"-S", "-L"}, {program});
    CHECK(
        traced.has("SYS_openat(AT_FDCWD, \"/no/such/file\", O_RDONLY|O_CLOEXEC) = -1 ENOENT "
                   "(no such file or directory)"));
    CHECK(traced.count("SYS_write(1, \"") == 1);
    CHECK(traced.has("SYS_exit_group(5 <no return ...>"));
    const auto inside = trace_lines({"-S"}, {program});
    CHECK(inside.count("SYS_") >= traced.count("SYS_"));
    CHECK((inside.has("open(\"/no/such/file\", O_RDONLY|O_CLOEXEC <unfinished ...>") ||
           contains(build, "-static")));
  }
  const auto table = test::run_tracso({"calls", "-c", "-S", built()});
  CHECK(table.status == 5);
  CHECK(contains(table.err, "SYS_openat"));
  CHECK(contains(table.err, "[kernel]"));
}

TEST_CASE("calls engine: threads, each call once", "[live][calls][engine]") {
  for (const auto& build : {"-O2", "-O0", "-O2 -static"}) {
    INFO(build);
    const auto program = built(build);
    const auto traced = trace_lines({"-L", "-x", "work"}, {program, "threads"});
    CHECK(traced.run.out == "threads 5760800\n");
    CHECK(traced.run.err.empty());
    CHECK(traced.count("work(") == 8 * 200);
    CHECK(traced.count(" = ") == 8 * 200);
    CHECK(traced.has("[pid "));
  }
}

TEST_CASE("calls engine: signals are shown and passed on", "[live][calls][engine]") {
  const auto program = built();
  const auto traced = trace_lines({"-L", "-x", "work"}, {program, "signals"});
  CHECK(traced.run.out == "signals 1\n");
  CHECK(traced.count("--- SIGALRM (Alarm clock) ---") >= 5);
  CHECK(traced.count("work(77777") == traced.count("--- SIGALRM"));
  CHECK_FALSE(trace_lines({"-b", "-L", "-x", "work"}, {program, "signals"}).has("---"));
  const auto killed = trace_lines({"-L", "-x", "work"}, {program, "killed"});
  CHECK(killed.run.status == 128 + 15);
  CHECK(killed.has("--- SIGTERM (Terminated) ---"));
  CHECK(killed.lines.back() == "+++ killed by SIGTERM +++");
}

TEST_CASE("calls engine: children are let go and said, or followed", "[live][calls][engine]") {
  const auto program = built();
  const auto alone = trace_lines({"-L", "-x", "work"}, {program, "forks"});
  CHECK(alone.run.out == "forks 9\n");
  CHECK(alone.count("work(") == 1);
  CHECK(contains(alone.run.err, "child processes were not traced (1)"));
  const auto followed = trace_lines({"-f", "-L", "-x", "work"}, {program, "forks"});
  CHECK(followed.run.out == "forks 9\n");
  CHECK(followed.count("work(") == 11);
  CHECK(followed.count("work(70") == 10);
  const auto executed = trace_lines({"-L", "-x", "work"}, {program, "exec"});
  CHECK(executed.run.out == "forks 9\n");
  CHECK(executed.count("work(") == 2);
  const auto spawned = trace_lines({"-f", "-S", "-L"}, {program, "spawns"});
  CHECK(spawned.run.out == "spawns 0 1 3\n");
  CHECK(spawned.has("SYS_execve(\"/no/such\", "));
}

TEST_CASE("calls engine: jumps leave no call behind", "[live][calls][engine]") {
  const auto program = built("-O0");
  const auto traced = trace_lines({"-n", "2", "-L", "-x", "descend+work"}, {program, "jumps"});
  CHECK(traced.run.out == "jumps 50\n");
  CHECK(traced.count("descend(") == 50 * 6);
  // What was jumped out of does not indent what comes after.
  CHECK(std::count_if(traced.lines.begin(), traced.lines.end(), [](const auto& line) {
          return line.find("work(") == 0;
        }) == 50);
}

TEST_CASE("calls engine: the target outlives us", "[live][calls][engine]") {
  const auto program = built();
  const auto out = test::scratch_folder() + "/orphan.txt";
  // -L: it must not come back from kill() to a breakpoint before the guardian has seen our end.
  shell(fmt::format("{} calls -o /dev/null -L -x work {} orphan > {} || true",
                    test::tracso_binary(),
                    program,
                    out));
  for (int tries = 0; tries < 300 && test::read_file(out).empty(); ++tries) {
    ::usleep(100'000);
  }
  CHECK(test::read_file(out) == "orphan 1000\n");
}

TEST_CASE("calls engine: a program that wants to be traced is told of", "[live][calls][engine]") {
  const auto traced = trace_lines({"--engine", "ptrace"}, {built(), "self"});
  CHECK(traced.run.out == "self -1\n");
  CHECK(contains(traced.run.err, "asked to be traced"));
}

TEST_CASE("calls engine: set-user-ID programs", "[live][calls][engine]") {
  if (::getuid() != 0) {
    WARN("not root: no set-user-ID program of another user can be made");
    return;
  }
  const auto program = built("-O2", "engine-suid");
  shell("chmod 755 " + test::scratch_folder() + "; chown 65534 " + program + " && chmod 4755 " +
        program);
  const auto traced = trace_lines({}, {program});
  CHECK(traced.run.status == 5);
  CHECK(contains(traced.run.err, "--engine ptrace"));
  CHECK(traced.has("getenv(\"HOME\")"));
  const auto refused = test::run_tracso({"calls", "--engine", "agent", program});
  CHECK(refused.status == 4);
}

TEST_CASE("calls engine: -u runs the command as another user", "[live][calls][engine]") {
  CHECK(test::run_tracso({"calls", "-u", "no-such-user", "true"}).status == 2);
  if (::getuid() != 0) {
    CHECK(test::run_tracso({"calls", "-u", "0", "true"}).status == 4);
    WARN("not root: nobody can be run as another user");
    return;
  }
  const auto traced =
      trace_lines({"-u", "65534"}, {"/bin/sh", "-c", "id -u; id -g; id -G; exit 3"});
  CHECK(traced.run.status == 3);
  CHECK(traced.run.out.find("65534\n65534\n") == 0);
  CHECK_FALSE(contains(traced.run.out, " 0"));
  CHECK(traced.lines.back() == "+++ exited (status 3) +++");
  CHECK(traced.count("(") > 3);
}

TEST_CASE("calls engine: what does not go together is said", "[live][calls][engine]") {
  const auto refused = [](const Words& words) {
    const auto run = test::run_tracso(words);
    INFO(run.err);
    CHECK(contains(run.err, "hint: "));
    return run.status;
  };
  CHECK(refused({"calls", "-S", "--count", "true"}) == 2);
  CHECK(refused({"calls", "-x", "f", "--intra", "true"}) == 2);
  CHECK(refused({"calls", "--engine", "agent", "-S", "true"}) == 2);
  CHECK(refused({"calls", "-L", "true"}) == 2);
  CHECK(refused({"calls", "-x", "/x/", "true"}) == 2);
  const auto nothing = test::run_tracso({"calls", "--engine", "ptrace", built("-static")});
  CHECK(nothing.status == 4);
  CHECK(contains(nothing.err, "-x '*'"));
  CHECK(test::run_tracso({"calls", "-S", "/no/such/program"}).status == 127);
  CHECK(test::run_tracso({"calls", "-S", "/etc/passwd"}).status == 126);
  CHECK(contains(test::run_tracso({"calls", "-L", "-x", "no_such_function", "true"}).err,
                 "no function fits -x"));
}

TEST_CASE("calls engine: ltrace writes the same", "[live][calls][engine]") {
  const auto program = built("-O0");
  const auto folder = test::scratch_folder();
  if (test::run_program({"/bin/sh", "-c", "command -v ltrace"}).status != 0) {
    WARN("no ltrace here");
    return;
  }
  const Words filter{"-L", "-x", "outer+inner+factorial+jumps_to"};
  Words theirs{"ltrace", "-o", folder + "/ltrace.txt"};
  theirs.insert(theirs.end(), filter.begin(), filter.end());
  theirs.push_back(program);
  test::run_program(theirs);
  const auto lines = lines_of(test::read_file(folder + "/ltrace.txt"));
  if (lines.empty() || lines.back() != "+++ exited (status 5) +++") {
    WARN("ltrace does not work here");
    return;
  }
  const auto mine = trace_lines(filter, {program});
  // Registers that no argument is in differ from run to run.
  const auto comparable = [](std::vector<std::string> all) {
    for (auto& line : all) {
      line = squeezed(line);
      const auto comma = line.find(',');
      const auto end = std::min(line.find(')'), line.find(" <unf"));
      if (comma < end && end != std::string::npos) {
        line.erase(comma, end - comma);
      }
    }
    return all;
  };
  CHECK(comparable(mine.lines) == comparable(lines));
}
