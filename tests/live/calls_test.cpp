// tracso calls on programs built in every way a linker knows: the program notices nothing, and
// every call is counted.

#include "support/calls.hpp"

#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace tracso;
using test::calls_of;
using test::contains;
using test::shell;
using test::trace_table;
using test::Words;

namespace {

struct Build {
  std::string name, options;
};

const std::vector<Build>& builds() {
  static const std::vector<Build> all{{"default", ""},
                                      {"now", "-Wl,-z,now"},
                                      {"lazy", "-Wl,-z,lazy"},
                                      {"noplt", "-fno-plt"},
                                      {"ibt", "-Wl,-z,ibtplt,-z,now -fcf-protection=full"},
                                      {"lazyibt", "-Wl,-z,ibtplt,-z,lazy -fcf-protection=full"},
                                      {"nopie", "-no-pie -fno-pie"}};
  return all;
}

// A folder with the library and one program, built once per test process.
std::string built(const Build& build, const std::string& source) {
  const auto folder = test::scratch_folder() + "/calls-" + build.name;
  const auto from = test::tests_file("live/calls");
  if (::mkdir(folder.c_str(), 0755) == 0) {
    // The libraries cannot be made -no-pie.
    const auto options = build.name == "nopie" ? "" : build.options;
    shell(fmt::format(
        "cd {0} && g++ -O2 {2} -fPIC -shared {1}/library.cpp -o libfirst.so -pthread && "
        "gcc -O2 {2} -fPIC -shared {1}/second.c -o libsecond.so -L. -lfirst "
        "-Wl,-rpath,'$ORIGIN' && gcc -O2 {2} -fPIC -shared {1}/plugin.c -o libplugin.so "
        "&& cp libplugin.so libplugin2.so",
        folder,
        from,
        options));
  }
  const auto name = source.substr(0, source.find('.'));
  const auto compiler = source.ends_with(".cpp") ? "g++" : "gcc";
  shell(
      fmt::format("cd {} && {} -O2 -w {} {}/{} -o {} -L. -Wl,--no-as-needed -lfirst -lsecond "
                  "-Wl,-rpath,'$ORIGIN' -Wl,--enable-new-dtags -pthread",
                  folder,
                  compiler,
                  build.options,
                  from,
                  source,
                  name));
  return folder + "/" + name;
}

void check_same(const Words& command, const Words& options, const test::ProgramOptions& how = {}) {
  INFO(command.front() << " with " << (options.empty() ? "" : options.front()));
  const auto native = test::run_program(command, how);
  const auto traced = trace_table(options, command, how);
  CHECK(traced.run.out == native.out);
  CHECK(traced.run.err == native.err);
  CHECK(traced.run.status == native.status);
}

}  // namespace

TEST_CASE("calls: constructs that a wrong trampoline breaks", "[live][calls]") {
  for (const auto& build : builds()) {
    INFO(build.name);
    const auto program = built(build, "constructs.c");
    for (const Words& options : {Words{}, Words{"--exact"}, Words{"--count"}, Words{"-f"}}) {
      check_same({program}, options);
    }
    const auto document = trace_table({"--exact"}, {program}).document;
    CHECK(calls_of(document, "jump_out") == 1000);
    CHECK(calls_of(document, "tripled") == 5000);
    CHECK(calls_of(document, "tail_caller") == 5000);
    CHECK(calls_of(document, "descend") == 1000U * 8 + 1000 + 3);
    CHECK(calls_of(document, "add_one") == 200 + 10);  // the child's are its own
  }
}

TEST_CASE("calls: exceptions pass through traced frames", "[live][calls]") {
  for (const auto& build : builds()) {
    INFO(build.name);
    const auto program = built(build, "exceptions.cpp");
    for (const Words& options : {Words{}, Words{"--exact"}, Words{"--count"}}) {
      check_same({program}, options);
    }
    CHECK(calls_of(trace_table({}, {program}).document, "throw_below") == 6001);
  }
}

TEST_CASE("calls: threads, cancelled and short ones", "[live][calls]") {
  for (const auto& build : builds()) {
    INFO(build.name);
    const auto program = built(build, "threads.c");
    for (const Words& options : {Words{}, Words{"--exact"}, Words{"--count"}}) {
      const auto traced = trace_table(options, {program});
      CHECK(traced.run.out == "801000 4\n");
      CHECK(traced.run.status == 0);
      CHECK(calls_of(traced.document, "add_one") == 8 * 100000 + 200);
      CHECK(calls_of(traced.document, "pthread_exit") == 200);
    }
  }
  const auto by_thread =
      trace_table({"--group", "thread"}, {built(builds()[0], "threads.c")}).document;
  CHECK(by_thread["calls"].size() >= 9);
  CHECK(by_thread["calls"].size() < 100);  // blocks of ended threads are used again
}

TEST_CASE("calls: jumps out of frames, and signals at any moment", "[live][calls]") {
  for (const auto& build : builds()) {
    INFO(build.name);
    const auto program = built(build, "jumps.c");
    for (const Words& options : {Words{}, Words{"--exact"}, Words{"--count"}}) {
      check_same({program}, options);
    }
  }
}

TEST_CASE("calls: plugins are traced each time they are loaded", "[live][calls]") {
  for (const auto& build : builds()) {
    INFO(build.name);
    const auto program = built(build, "loading.c");
    const auto folder = program.substr(0, program.rfind('/'));
    test::ProgramOptions how;
    how.environment = {"LD_LIBRARY_PATH=" + folder};
    for (const Words& options : {Words{}, Words{"--exact"}, Words{"--count"}}) {
      check_same({program}, options, how);
    }
    const auto document =
        trace_table({"--callee", "libc.so*", "--caller", "libplugin.so"}, {program}, how).document;
    CHECK(calls_of(document, "memset") == 50);
    CHECK(calls_of(document, "free") == 50);
    CHECK(document["untraced"]["dlsym"] == 0);  // the program's RTLD_NEXT was not asked for
    const auto stress = trace_table({}, {program, "300"}, how);
    CHECK(stress.run.status == 0);
    CHECK(stress.run.out == "sum 1375 next 1\n");
  }
}

TEST_CASE("calls: libraries found through the caller's RUNPATH stay found", "[live][calls]") {
  const auto program = built(builds()[0], "loading.c");  // rpath $ORIGIN, no LD_LIBRARY_PATH
  check_same({program}, {});
}

TEST_CASE("calls: children are let go, or followed with -f", "[live][calls]") {
  for (const auto& build : builds()) {
    INFO(build.name);
    const auto program = built(build, "children.c");
    check_same({program}, {});
    test::ProgramOptions how;
    how.environment = {"LD_PRELOAD="};
    check_same({program}, {}, how);
    how.environment = {"LD_PRELOAD=libm.so.6"};
    check_same({program}, {}, how);
    CHECK(calls_of(trace_table({}, {program}).document, "add_one") == 20);
    const auto followed = trace_table({"-f", "--group", "process"}, {program});
    CHECK(followed.run.status == 0);
    CHECK(followed.document["programs"].size() >= 4);  // itself, child, sh, ls, wc, true
    CHECK(calls_of(trace_table({"-f"}, {program}).document, "add_one") == 1020);
    const auto codes = test::notice_codes(trace_table({}, {program}).document);
    CHECK(std::find(codes.begin(), codes.end(), "calls-children") != codes.end());
    CHECK(test::notice_codes(followed.document).empty());
  }
}

TEST_CASE("calls: a table of callers and callees, and untraced ones named", "[live][calls]") {
  for (const auto& build : builds()) {
    INFO(build.name);
    const auto program = built(build, "plain.c");
    const auto document = trace_table({}, {program}).document;
    CHECK(document["kind"] == "calls");
    CHECK(document["command"]["exit_status"] == 3);
    for (const char* name : {"add_one", "sum_of_doubles", "strcpy", "getenv"}) {
      INFO(name);
      // A compiler may copy so short a text itself.
      CHECK((calls_of(document, name) == 1 || std::string(name) == "strcpy"));
    }
    CHECK(calls_of(document, "malloc") >= 2);
    for (const auto& row : document["calls"]) {
      if (row["symbol"] == "add_one") {
        CHECK(row["caller"] == "plain");
        CHECK(row["callee"] == "libfirst.so");
        CHECK(row["errors"].is_null());
        CHECK(row["total_ns"] >= row["self_ns"]);
      }
    }
    const auto pairs =
        trace_table({"--group", "libraries", "--caller", "MAIN"}, {program}).document;
    std::map<std::string, std::uint64_t> to;
    for (const auto& row : pairs["calls"]) {
      CHECK(row["caller"] == "plain");
      to[row["callee"]] += row["calls"].get<std::uint64_t>();
    }
    CHECK(to["libfirst.so"] == 2);
  }
}

TEST_CASE("calls: filters select functions and libraries", "[live][calls]") {
  const auto program = built(builds()[0], "plain.c");
  const auto symbols = [&](const Words& options) {
    std::vector<std::string> names;
    const auto traced = trace_table(options, {program});
    for (const auto& row : traced.document["calls"]) {
      names.push_back(row["symbol"]);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  };
  CHECK(symbols({"-e", "add_one"}) == Words{"add_one"});
  CHECK(symbols({"-e", "add_one+sum*"}) == Words{"add_one", "sum_of_doubles"});
  CHECK(symbols({"-e", "add_*", "-e", "getenv@MAIN"}) == Words{"add_one", "getenv"});
  CHECK(symbols({"-l", "libfirst*"}) == Words{"add_one", "sum_of_doubles"});
  CHECK(symbols({"-l", "libfirst*", "-e", "getenv@MAIN"}) ==
        Words{"add_one", "getenv", "sum_of_doubles"});
  CHECK(symbols({"--callee", "libfirst.so", "-e", "-add_one"}) == Words{"sum_of_doubles"});
  CHECK(symbols({"--callee", "/*/libfirst.so"}) == Words{"add_one", "sum_of_doubles"});
  CHECK(symbols({"--caller", "no-such"}).empty());
  const auto none = symbols({"-e", "-malloc@MAIN"});
  CHECK(std::find(none.begin(), none.end(), "getenv") != none.end());
}

TEST_CASE("calls: failures are counted", "[live][calls]") {
  const auto program = built(builds()[0], "failures.c");
  const auto document = trace_table({"--exact", "--caller", "MAIN"}, {program}).document;
  CHECK(calls_of(document, "open") == 20);
  CHECK(calls_of(document, "open", "errors") == 10);
  CHECK(calls_of(document, "read", "errors") == 10);
  CHECK(calls_of(document, "fopen", "errors") == 10);
  CHECK(calls_of(document, "close", "errors") == 0);
}

TEST_CASE("calls: programs that cannot be traced are refused before they run", "[live][calls]") {
  const auto folder = test::scratch_folder();
  test::write_file(folder + "/say.c",
                   "#include <stdio.h>\nint main(void) { puts(\"ran\"); return 5; }\n");
  shell("cd " + folder +
        " && gcc -static say.c -o say-static && gcc say.c -o say-suid && chmod 4755 say-suid");
  const auto refused = test::run_tracso({"calls", folder + "/say-static"});
  CHECK(refused.status == 4);
  CHECK(contains(refused.err, "statically linked"));
  CHECK(refused.out.empty());
  if (test::run_program(
          {"/bin/sh", "-c", "cd " + folder + " && gcc -fsanitize=address say.c -o say-asan"})
          .status == 0) {
    const auto asan = test::run_tracso({"calls", folder + "/say-asan"});
    CHECK(asan.status == 4);
    CHECK(contains(asan.err, "sanitizer"));
  }
  if (test::run_program({"/bin/sh", "-c", "cd " + folder + " && gcc -m32 say.c -o say-32"})
          .status == 0) {
    CHECK(test::run_tracso({"calls", folder + "/say-32"}).status == 4);
  }
  CHECK(test::run_tracso({"calls", "/no/such/program"}).status == 127);
  CHECK(test::run_tracso({"calls", "/etc/passwd"}).status == 126);
  CHECK(test::run_tracso({"calls"}).status == 2);
  CHECK(test::run_tracso({"calls", "--no-such-option", "ls"}).status == 2);
  CHECK(test::run_tracso({"calls", "-e", "/x/", "ls"}).status == 2);
  CHECK(test::run_tracso({"calls", "--exact", "--count", "ls"}).status == 2);
}

TEST_CASE("calls: real programs say and return what they do natively", "[live][calls]") {
  const std::vector<Words> commands{
      {"curl", "--version"},
      {"ls", "/usr"},
      {"git", "--version"},
      {"perl", "-e", "print join(',', sort map { $_ * 2 } 1..50)"},
      {"gdb", "--version"},
      {"cmake", "--version"},
      {"sqlite3", ":memory:", "select sum(1), sqlite_version();"},
      {"node", "-e", "console.log([1,2,3].map(x => x * 2).join())"},
      {"sh", "-c", "for i in 1 2 3; do echo $i; done; exit 7"},
      {"bash", "-c", "echo $((6 * 7)); kill -TERM $$"},
      {"grep", "-c", "root", "/etc/passwd"},
      {"sort", "-r", "/etc/passwd"},
      {"tar", "-cf", "/dev/null", "/etc/hostname"},
      {"gcc", "--version"},
      {"openssl", "version"},
      {"sed", "-n", "1p", "/etc/passwd"},
      {"find", "/etc", "-maxdepth", "1", "-name", "host*"},
      {"python3",
       "-c",
       "import ssl, json, ctypes, sqlite3, zlib, threading; print(json.dumps([1]))"}};
  std::size_t tried = 0;
  for (const auto& command : commands) {
    if (test::run_program({"/bin/sh", "-c", "command -v " + command.front()}).status != 0) {
      continue;
    }
    ++tried;
    check_same(command, {});
    check_same(command, {"--exact"});
  }
  CHECK(tried >= 10);
}

#ifndef __SANITIZE_ADDRESS__  // which needs more address space than the test leaves
TEST_CASE("calls: little address space leaves counting", "[live][calls]") {
  const auto program = built(builds()[0], "plain.c");
  const auto file = test::scratch_folder() + "/limited.json";
  const auto run = test::run_program(
      {"/bin/sh",
       "-c",
       "ulimit -v 8000000; exec " + test::tracso_binary() + " calls -o " + file + " " + program});
  CHECK(run.status == 3);
  const auto document = nlohmann::json::parse(test::read_file(file));
  CHECK(calls_of(document, "add_one") == 1);
  CHECK(calls_of(document, "add_one", "self_ns") == 0);
  CHECK(test::notice_codes(document).front() == "calls-not-timed");
  const std::string proposed = document.at("notices").front().at("try");
  CHECK(proposed.starts_with("try: ulimit -v unlimited"));
}
#endif

TEST_CASE("calls: the target outlives us", "[live][calls]") {
  const auto program = built(builds()[0], "threads.c");
  const auto out = test::scratch_folder() + "/outlives.txt";
  shell(fmt::format("{} calls -o /dev/null sh -c 'kill -9 $PPID; exec {} > {}' || true",
                    test::tracso_binary(),
                    program,
                    out));
  for (int tries = 0; tries < 300 && test::read_file(out).empty(); ++tries) {
    ::usleep(100'000);
  }
  CHECK(test::read_file(out) == "801000 4\n");
}

TEST_CASE("calls: backtrace(3) and gdb see through traced frames", "[live][calls]") {
  if (test::run_program({"/bin/sh", "-c", "command -v gdb"}).status != 0) {
    WARN("no gdb here");
    return;
  }
  const auto program = built(builds()[0], "plain.c");
  for (const Words& how : {Words{"-c"}, {"-e", "add_one"}}) {
    Words words{test::tracso_binary(), "calls", "-f", "-o", "/dev/null"};
    words.insert(words.end(), how.begin(), how.end());
    const Words gdb{"gdb",
                    "-nx",
                    "-batch",
                    "-iex",
                    "set debuginfod enabled off",
                    "-iex",
                    "set startup-with-shell off",
                    "-ex",
                    "break add_one",
                    "-ex",
                    "run",
                    "-ex",
                    "bt",
                    program};
    words.insert(words.end(), gdb.begin(), gdb.end());
    const auto run = test::run_program(words);
    INFO(run.out << run.err);
    CHECK(contains(run.out, "add_one"));
    CHECK(contains(run.out, " main "));
  }
}

TEST_CASE("calls: the table on standard error", "[live][calls]") {
  const auto program = built(builds()[0], "plain.c");
  const auto table = test::run_tracso({"calls", "-c", "-e", "add_one@MAIN", program});
  CHECK(table.status == 3);
  CHECK(table.out == test::run_program({program}).out);
  CHECK(contains(table.err, "% time     seconds  usecs/call     calls  errors function"));
  CHECK(contains(table.err, "add_one"));
  const auto counted = test::run_tracso({"calls", "--count", "--csv", "-e", "add_one", program});
  CHECK(contains(counted.out, "add_one,plain,libfirst.so,,1,,,,,"));
  // Started by a name that PATH finds, it is told by its whole path all the same.
  const auto folder = program.substr(0, program.rfind('/'));
  test::ProgramOptions how;
  how.environment = {"PATH=" + folder + ":/usr/bin:/bin"};
  const auto found = test::run_tracso({"calls", "--csv", "-e", "add_one", "plain"}, how);
  CHECK(contains(found.out, program));
  const auto empty = test::run_tracso({"calls", "-c", "-e", "no_such_function", program});
  CHECK(contains(empty.err, "no call was seen"));
  CHECK_FALSE(contains(table.err, "no call was seen"));
  const auto processes = test::run_tracso({"calls", "--group", "process", program});
  CHECK(contains(processes.err, " " + program.substr(0, 40)));
  CHECK(contains(counted.err, "home"));
}
