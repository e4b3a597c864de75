// tracso calls -p: processes that are attached to while they work notice nothing, and are as they
// were afterwards.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

using namespace tracso;
using test::calls_of;
using test::contains;
using test::shell;
using test::Words;

namespace {

Words attach_words(pid_t pid, const Words& options) {
  Words words{"calls", "-p", std::to_string(pid)};
  words.insert(words.end(), options.begin(), options.end());
  if (std::find(options.begin(), options.end(), "--json") != options.end()) {
    words.emplace_back("-c");  // the document of the table, not a line for each call
  }
  return words;
}

test::ProgramRun attach(pid_t pid, const Words& options) {
  return test::run_tracso(attach_words(pid, options));
}

nlohmann::json document(const test::ProgramRun& run) {
  INFO(run.err << run.out);
  REQUIRE(run.status == 0);
  return nlohmann::json::parse(run.out);
}

}  // namespace

TEST_CASE("attach: busy threads, again and again", "[live][attach]") {
  for (const char* how : {"", "-Wl,-z,lazy", "-fno-plt", "-no-pie -fPIC"}) {
    INFO(how);
    test::Child child({test::attached_program(how), "busy", "4"});
    REQUIRE(child.line() == "ready");
    const int times = std::string(how).empty() ? 12 : 3;
    for (int i = 0; i < times; ++i) {
      const auto seen = document(attach(child.pid(), {"--json", "-d", "0.2"}));
      CHECK(calls_of(seen, "malloc") > 100);
      CHECK(calls_of(seen, "free") > 100);
      CHECK(calls_of(seen, "add_one") > 100);
      CHECK(test::notice_codes(seen) == Words{"calls-attached"});
    }
    test::check_untouched(child);
  }
}

TEST_CASE("attach: the second time is timed and filtered anew", "[live][attach]") {
  test::Child child({test::attached_program(), "busy", "2"});
  REQUIRE(child.line() == "ready");
  const auto one = document(attach(child.pid(), {"--json", "-d", "0.2", "-e", "add_one"}));
  CHECK(calls_of(one, "add_one") > 100);
  CHECK(calls_of(one, "malloc") == 0);
  const auto other =
      document(attach(child.pid(), {"--json", "--exact", "-d", "0.2", "-l", "libc.so*"}));
  CHECK(calls_of(other, "add_one") == 0);
  CHECK(calls_of(other, "malloc") > 100);
  for (const auto& row : other["calls"]) {
    if (row["symbol"] == "malloc") {
      CHECK(row["self_ns"].get<std::uint64_t>() > 0);
    }
  }
  const auto lines = attach(child.pid(), {"-d", "0.2", "-e", "add_one", "-o", "-"});
  CHECK(lines.status == 0);
  CHECK(contains(lines.out, "attached->add_one(1"));
  CHECK_FALSE(contains(lines.out, "malloc("));
  const auto counted = document(attach(child.pid(), {"--json", "--count", "-d", "0.2"}));
  CHECK(calls_of(counted, "malloc") > 100);
  test::check_untouched(child);
}

TEST_CASE("attach: lines of JSON, and lines that cannot be written", "[live][attach]") {
  test::Child child({test::attached_program(), "busy", "2"});
  REQUIRE(child.line() == "ready");
  const auto pid = std::to_string(child.pid());
  const auto run =
      test::run_tracso({"calls", "--json", "-p", pid, "-d", "0.2", "-e", "add_one@attached"});
  INFO(run.err);
  CHECK(run.status == 0);
  std::size_t calls = 0;
  nlohmann::json last;
  for (std::size_t at = 0; at < run.out.size();) {
    const auto end = std::min(run.out.find('\n', at), run.out.size());
    last = nlohmann::json::parse(run.out.substr(at, end - at));
    calls += last["kind"] == "call" && last["function"] == "add_one" &&
                     last["pid"] == child.pid() && last["end"] == "returned"
                 ? 1
                 : 0;
    at = end + 1;
  }
  CHECK(calls > 100);
  CHECK(last["kind"] == "end");
  CHECK(last["exit_status"].is_null());
  CHECK(last["notices"].dump().find("calls-attached") != std::string::npos);
  const auto full =
      test::run_tracso({"calls", "-p", pid, "-d", "0.2", "-e", "*", "-o", "/dev/full"});
  INFO(full.err);
  CHECK(full.status == 2);
  CHECK(contains(full.err, "cannot write /dev/full"));
}

TEST_CASE("attach: signals at any moment", "[live][attach]") {
  test::Child child({test::attached_program(), "storm", "3"});
  REQUIRE(child.line() == "ready");
  for (int i = 0; i < 6; ++i) {
    CHECK(calls_of(document(attach(child.pid(), {"--json", "-d", "0.1"})), "malloc") > 100);
  }
  test::check_untouched(child);
}

TEST_CASE("attach: registers of all kinds are given back", "[live][attach]") {
  test::Child child({test::attached_program(), "registers", "1"});
  REQUIRE(child.line() == "ready");
  // The two other threads wait in read and pthread_join: so that the busy one is borrowed as well.
  for (int i = 0; i < 5; ++i) {
    CHECK(attach(child.pid(), {"-c", "-d", "0.05"}).status == 0);
  }
  test::check_untouched(child);
}

TEST_CASE("attach: calls that wait go on waiting", "[live][attach]") {
  for (const char* what : {"epoll", "sleep", "poll", "semaphore"}) {
    INFO(what);
    test::Child child({test::attached_program(), what, "1"});
    REQUIRE(child.line() == "ready");
    for (int i = 0; i < 8; ++i) {
      CHECK(attach(child.pid(), {"-c", "-d", "0.05"}).status == 0);
    }
    test::check_untouched(child);
  }
}

TEST_CASE("attach: the only thread waits with a timeout, and its call does not fail",
          "[live][attach]") {
  const auto folder = test::scratch_folder();
  test::write_file(folder + "/alone.c",
                   "#include <poll.h>\n#include <stdio.h>\n#include <time.h>\n"
                   "int main(void) { int bad = 0; puts(\"ready\"); fflush(stdout);\n"
                   "for (int i = 0; i < 4; ++i) { struct timespec t = {0, 400000000};\n"
                   "bad += poll(0, 0, 400) != 0; bad += nanosleep(&t, 0) != 0; }\n"
                   "return bad; }\n");
  shell(fmt::format("gcc -O1 -o {0}/alone {0}/alone.c", folder));
  test::Child child({folder + "/alone"});
  REQUIRE(child.line() == "ready");
  for (int i = 0; i < 4; ++i) {
    CHECK(attach(child.pid(), {"-c", "-d", "0.05"}).status == 0);
    ::kill(child.pid(), SIGSTOP);  // from now on it is in restart_syscall(2)
    ::kill(child.pid(), SIGCONT);
  }
  CHECK(child.wait() == 0);
}

TEST_CASE("attach: a program that loads and unloads meanwhile", "[live][attach]") {
  const auto program = test::attached_program();
  const auto plugin = program.substr(0, program.rfind('/')) + "/libplugin.so";
  test::Child child({program, "loading", "2", plugin});
  REQUIRE(child.line() == "ready");
  for (int i = 0; i < 5; ++i) {
    const auto run = attach(child.pid(), {"--json", "-d", "0.2"});
    if (run.status == 4) {  // nothing but dlopen goes on in it, all the time
      CHECK(contains(run.err, "safe point"));
      continue;
    }
    CHECK(calls_of(document(run), "dlopen") > 0);
  }
  test::check_untouched(child);
}

TEST_CASE("attach: a Python that waits is traced, then waits on", "[live][attach]") {
  const auto pythons = test::pythons();
  if (pythons.empty()) {
    WARN("no Python here");
    return;
  }
  test::Child child({pythons.front().program,
                     "-u",
                     "-c",
                     "import selectors, sys, os\n"
                     "s = selectors.DefaultSelector()\n"
                     "s.register(sys.stdin, selectors.EVENT_READ)\n"
                     "print('ready')\n"
                     "while True:\n"
                     "  if s.select():\n"
                     "    line = sys.stdin.readline()\n"
                     "    print('got', line.strip())\n"
                     "    if line == 'end\\n': break\n"});
  REQUIRE(child.line() == "ready");
  REQUIRE(child.rests());
  CHECK(attach(child.pid(), {"-c", "-d", "0.1"}).status == 0);
  CHECK(attach(child.pid(), {"-d", "0.1"}).status == 0);
  child.write("one\n");
  CHECK(child.line() == "got one");
  child.write("end\n");
  CHECK(child.line() == "got end");
  CHECK(child.wait() == 0);
}

TEST_CASE("attach: what stays is said, and is none of the libraries of the process",
          "[live][attach]") {
  test::Child child({test::attached_program(), "busy", "1"});
  REQUIRE(child.line() == "ready");
  const auto pid = std::to_string(child.pid());
  const auto libraries = [&] {
    return document(test::run_tracso({"--json", pid}))["totals"]["libraries"].get<int>();
  };
  const int before = libraries();
  const auto lines = attach(child.pid(), {"-d", "0.2", "-e", "add_one", "-o", "-"});
  REQUIRE(lines.status == 0);
  CHECK(lines.out.ends_with("\n"));
  CHECK(libraries() == before);
  const auto findings = test::run_tracso({"--findings", pid});
  CHECK_FALSE(contains(findings.out, "tracso-agent"));
  CHECK(contains(findings.err, "the agent of an earlier 'tracso calls -p' is in it"));
  test::check_untouched(child);
}

TEST_CASE("attach: the target ends, or tracso is killed", "[live][attach]") {
  const auto program = test::attached_program();
  {
    test::Child child({program, "busy", "2"});
    REQUIRE(child.line() == "ready");
    const auto lines = program + ".txt";
    const auto started =
        test::run_program({"/bin/sh",
                           "-c",
                           fmt::format("{} calls -e add_one -p {} -o {} >/dev/null 2>&1 & echo $!",
                                       test::tracso_binary(),
                                       child.pid(),
                                       lines)});
    const auto watcher = static_cast<pid_t>(std::stol(started.out));
    const auto has_line = [&] { return contains(test::read_file(lines), "attached->add_one("); };
    for (int i = 0; i < 1000 && !has_line(); ++i) {
      ::usleep(20'000);
    }
    CHECK(has_line());
    child.write("end\n");
    REQUIRE(child.line());
    CHECK(child.wait() == 0);
    for (int i = 0; i < 1000 && ::kill(watcher, 0) == 0; ++i) {
      ::usleep(20'000);
    }
    CHECK(::kill(watcher, 0) != 0);
  }
  test::Child child({program, "busy", "2"});
  REQUIRE(child.line() == "ready");
  for (const char* option : {"-c", "-L -e malloc -o /dev/null"}) {
    shell(fmt::format(
        "{0} calls {2} -p {1} >/dev/null 2>&1 & tracer=$!; "
        "i=0; while [ $i -lt 1000 ] && ! grep -q tracso-agent /proc/{1}/maps; do "
        "sleep 0.02; i=$((i + 1)); done; sleep 0.1; kill -9 $tracer; wait $tracer; true",
        test::tracso_binary(),
        child.pid(),
        option));
  }
  // What is left of the one that was killed takes its time to let go, on a busy machine some of it.
  auto after = attach(child.pid(), {"--json", "-d", "0.2"});
  for (int i = 0; i < 50 && after.status == 4; ++i) {
    ::usleep(200'000);
    after = attach(child.pid(), {"--json", "-d", "0.2"});
  }
  CHECK(calls_of(document(after), "malloc") > 100);
  test::check_untouched(child);
}

TEST_CASE("attach: processes that cannot be attached to are refused untouched", "[live][attach]") {
  const auto folder = test::scratch_folder();
  test::write_file(
      folder + "/wait.c",
      "#include <unistd.h>\n#include <stdio.h>\nint main(void) { char c; puts(\"ready\"); "
      "fflush(stdout); return read(0, &c, 1) != 1; }\n");
  shell("cd " + folder + " && gcc -static wait.c -o wait-static && gcc wait.c -o wait-dynamic");
  const auto refused = [&](const Words& command, const std::string& reason) {
    INFO(command.front());
    test::Child child(command);
    REQUIRE(child.line() == "ready");
    const auto run = attach(child.pid(), {"-c", "-d", "0.1"});
    CHECK(run.status == 4);
    CHECK(contains(run.err, reason));
    child.write("x");
    CHECK(child.wait() == 0);
  };
  refused({folder + "/wait-static"}, "statically linked");
  if (test::run_program(
          {"/bin/sh", "-c", "cd " + folder + " && gcc -fsanitize=address wait.c -o wait-asan"})
          .status == 0) {
    refused({folder + "/wait-asan"}, "sanitizer");
  }
  if (test::run_program({"/bin/sh", "-c", "cd " + folder + " && musl-gcc wait.c -o wait-musl"})
          .status == 0) {
    refused({folder + "/wait-musl"}, "musl");
  }
  CHECK(attach(2, {"-c", "-d", "0.1"}).status != 0);
  test::Child stopped({folder + "/wait-dynamic"});
  REQUIRE(stopped.line() == "ready");
  REQUIRE(::kill(stopped.pid(), SIGSTOP) == 0);
  for (int i = 0;
       i < 500 && !contains(test::read_file(fmt::format("/proc/{}/stat", stopped.pid())), ") T ");
       ++i) {
    ::usleep(10'000);
  }
  const auto run = attach(stopped.pid(), {"-c", "-d", "0.1"});
  CHECK(run.status == 4);
  CHECK(contains(run.err, "kill -CONT"));
  ::kill(stopped.pid(), SIGCONT);
  stopped.write("x");
  CHECK(stopped.wait() == 0);
  CHECK(test::run_tracso({"calls", "-p", "999999999", "-c"}).status == 3);
  CHECK(test::run_tracso({"calls", "-p", "1", "ls"}).status == 2);
  CHECK(test::run_tracso({"calls", "-d", "1", "ls"}).status == 2);
  CHECK(test::run_tracso({"calls", "-f", "-p", "1"}).status == 2);
}

TEST_CASE("attach: where no memfd can be made, a file does, and is removed", "[live][attach]") {
  const auto program = test::scratch_folder() + "/without-memfd";
  shell(fmt::format("gcc -O0 {} -o {}", test::tests_file("live/calls/without_memfd.c"), program));
  test::Child child({program});
  if (child.line() != "ready") {
    WARN("no seccomp here: files instead of memfds not tried");
    return;
  }
  for (int i = 0; i < 2; ++i) {  // the second time the agent is there already
    CHECK(calls_of(document(attach(child.pid(), {"--json", "-d", "0.2"})), "malloc") > 0);
  }
  const auto maps = test::read_file(fmt::format("/proc/{}/maps", child.pid()));
  CHECK(contains(maps, "-tracso-agent.so (deleted)"));
  CHECK_FALSE(contains(maps, "memfd:"));
}

TEST_CASE("attach: of another user, and in other namespaces", "[live][attach]") {
  if (::geteuid() != 0 ||
      test::run_program({"unshare", "--pid", "--fork", "--mount-proc", "true"}).status != 0) {
    WARN("not root, or no unshare: other users and namespaces not tried");
    return;
  }
  const auto program = test::attached_program();
  // The folder of a test is its user's alone.
  shell(
      fmt::format("chmod 755 {0} && chmod 755 $(dirname {0}) $(dirname $(dirname {0}))", program));
  for (const Words& prefix :
       {Words{"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"},
        {"unshare", "--pid", "--fork", "--mount-proc"}}) {
    INFO(prefix.front());
    Words words = prefix;
    words.insert(words.end(), {program, "busy", "1"});
    test::Child child(words);
    REQUIRE(child.line() == "ready");
    auto pid = child.pid();
    if (prefix.front() == "unshare") {
      pid = static_cast<pid_t>(
          std::stol(test::read_file(fmt::format("/proc/{0}/task/{0}/children", child.pid()))));
    }
    CHECK(calls_of(document(attach(pid, {"--json", "-d", "0.2"})), "malloc") > 0);
    test::check_untouched(child);
  }
}

TEST_CASE("attach: tracso killed at any moment of it", "[live][attach]") {
  test::Child child({test::attached_program(), "storm", "2"});
  REQUIRE(child.line() == "ready");
  shell(
      fmt::format("i=0; while [ $i -lt 40 ]; do {} calls -c -p {} >/dev/null 2>&1 & tracer=$!; "
                  "sleep 0.0$((i % 10))$((i * 7 % 10)); kill -9 $tracer; wait $tracer; "
                  "i=$((i + 1)); done; true",
                  test::tracso_binary(),
                  child.pid()));
  CHECK(calls_of(document(attach(child.pid(), {"--json", "-d", "0.2"})), "malloc") > 100);
  test::check_untouched(child);
}

TEST_CASE("attach: another program by exec is left alone", "[live][attach]") {
  const auto program = test::attached_program();
  test::Child waits({"/bin/sh", "-c", "echo ready; read line; exec " + program + " busy 1"});
  REQUIRE(waits.line() == "ready");
  REQUIRE(waits.rests());
  const auto lines = program + ".exec";
  const auto started =
      test::run_program({"/bin/sh",
                         "-c",
                         fmt::format("{} calls -c -p {} -d 2 -o {} >/dev/null 2>&1 "
                                     "& echo $!",
                                     test::tracso_binary(),
                                     waits.pid(),
                                     lines)});
  const auto watcher = static_cast<pid_t>(std::stol(started.out));
  for (int i = 0; i < 500 && !contains(test::read_file(fmt::format("/proc/{}/maps", waits.pid())),
                                       "tracso-calls");
       ++i) {
    ::usleep(10'000);
  }
  waits.write("go\n");
  REQUIRE(waits.line() == "ready");
  for (int i = 0; i < 1000 && ::kill(watcher, 0) == 0; ++i) {
    ::usleep(20'000);
  }
  CHECK(contains(test::read_file(lines), "it runs another program by now (exec)"));
  test::check_untouched(waits);
}

TEST_CASE("attach: a command whose tracso was killed is refused", "[live][attach]") {
  const auto program = test::attached_program();
  const auto started = test::run_program(
      {"/bin/sh",
       "-c",
       fmt::format(
           "mkfifo {0}.in; exec 3<>{0}.in; {1} calls -c -e add_one -o /dev/null {0} busy 1 "
           "<&3 >{0}.out 2>/dev/null & tracer=$!; i=0; while [ $i -lt 500 ] && ! grep -q ready "
           "{0}.out 2>/dev/null; do sleep 0.02; i=$((i + 1)); done; "
           "cat /proc/$tracer/task/$tracer/children; kill -9 $tracer; wait $tracer",
           program,
           test::tracso_binary())});
  INFO(started.err);
  const auto pid = static_cast<pid_t>(std::stol(started.out));
  const auto refused = attach(pid, {"-c", "-d", "0.2"});
  CHECK(refused.status == 4);
  CHECK(contains(refused.err, "that is no more"));
  ::kill(pid, SIGKILL);
}

TEST_CASE("attach: gdb looks at it afterwards as before", "[live][attach]") {
  if (test::run_program({"/bin/sh", "-c", "command -v gdb"}).status != 0) {
    WARN("no gdb here");
    return;
  }
  test::Child child({test::attached_program(), "sleep", "1"});
  REQUIRE(child.line() == "ready");
  CHECK(attach(child.pid(), {"-c", "-d", "0.1"}).status == 0);
  // It opens what the loader says was loaded.
  const auto run = test::run_program({"timeout",
                                      "30",
                                      "gdb",
                                      "-nx",
                                      "-batch",
                                      "-iex",
                                      "set debuginfod enabled off",
                                      "-ex",
                                      "thread apply all bt",
                                      "-p",
                                      std::to_string(child.pid())});
  INFO(run.err);
  CHECK(run.status == 0);
  CHECK(contains(run.out, " main "));
  test::check_untouched(child);
}
