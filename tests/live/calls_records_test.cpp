// tracso calls --json: each call as an object on a line of its own; a reader gets the same facts
// that the lines show, also of calls that never return, and is told how it ended.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

using namespace tracso;
using nlohmann::json;
using test::contains;
using test::records_of;
using test::Words;

namespace {

std::string built(const std::string& name, const std::string& source) {
  const auto file = fmt::format("{}/{}", test::scratch_folder(), name);
  std::ofstream(file + ".c") << source;
  test::shell(fmt::format("gcc -O1 -fno-builtin -w -U_FORTIFY_SOURCE {0}.c -o {0} -pthread", file));
  return file;
}

struct Traced {
  test::ProgramRun run;
  std::vector<json> records;

  std::vector<json> calls(const std::string& function) const {
    std::vector<json> found;
    std::copy_if(
        records.begin(), records.end(), std::back_inserter(found), [&](const json& record) {
          return record["kind"] == "call" && record["function"] == function;
        });
    return found;
  }

  json only(const std::string& function) const {
    const auto found = calls(function);
    INFO(function);
    REQUIRE(found.size() == 1);
    return found.front();
  }
};

Traced trace(const Words& options, const Words& command) {
  Words words{"calls", "--json"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  Traced traced{test::run_tracso(words), {}};
  INFO(traced.run.err << traced.run.out);
  traced.records = records_of(traced.run.out);
  REQUIRE(traced.records.size() >= 2);
  return traced;
}

constexpr const char* speaker = R"(
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static jmp_buf back;
static int leave(const void* one, const void* other) { longjmp(back, 1); }
int main(void) {
  char text[64];
  int numbers[2] = {2, 1};
  setenv("ODD", "a\"b\\c\n\033\377", 1);
  getenv("ODD");
  access((const char*)8, 0);
  open("/nowhere/at/all", O_RDONLY | O_CLOEXEC);
  snprintf(text, sizeof text, "%d %s %.2f", -5, "word", 1.5);
  strtol("-77", 0, 10);
  if (setjmp(back) == 0) qsort(numbers, 2, sizeof(int), leave);
  puts(text);
  fflush(stdout);
  usleep(20000);
  exit(7);
}
)";

}  // namespace

TEST_CASE("calls records: of a command that cannot be started there are a start and an end",
          "[live][calls]") {
  for (const char* engine : {"agent", "ptrace"}) {
    for (const auto& [program, status, reason, hint] :
         {std::tuple("/no/such/program", 127, "no such file", "/no/such is not there either"),
          std::tuple("/no-such-program", 127, "no such file", "'ls /' shows what is there"),
          std::tuple("./no-such-program", 127, "no such file", "from the working directory, /"),
          std::tuple("./sh", 127, "no such file", "'sh' alone is found in PATH: /"),
          std::tuple("/tmp", 126, "permission denied", "chmod +x")}) {
      INFO(engine << " " << program);
      const auto traced = trace({"--engine", engine}, {program});
      CHECK(traced.run.status == status);
      REQUIRE(traced.records.size() == 2);
      const auto& end = traced.records.back();
      CHECK(end["kind"] == "end");
      CHECK(end["exit_status"] == status);
      CHECK(end["untraced"].is_null());
      CHECK(end["notices"][0]["code"] == "calls-not-run");
      CHECK(end["notices"][0]["effect"] == reason);
      CHECK(contains(end["notices"][0]["try"], hint));
      CHECK(contains(traced.run.err, hint));
    }
  }
}

TEST_CASE("calls records: what a program passes and gets, on a line each", "[live][calls]") {
  const auto program = built("speaker", speaker);
  const auto traced = trace({}, {program});
  CHECK(traced.run.status == 7);
  CHECK(traced.run.err == "-5 word 1.50\n");  // its own output: ours has the other
  for (const auto& record : traced.records) {
    CHECK(record["schema"] == "tracso/1");
    CHECK(record["time_ns"].is_number_integer());
  }
  CHECK(traced.records.front()["kind"] == "start");
  CHECK(traced.records.front()["command"] == json::array({program}));

  const auto getenv = traced.only("getenv");
  CHECK(getenv["arguments"][0]["type"] == "text");
  CHECK(getenv["arguments"][0]["value"] == "ODD");
  CHECK(getenv["arguments"][0]["cut"] == false);
  CHECK(getenv["result"]["value_hex"] == "6122625c630a1bff");
  CHECK(getenv["caller"] == "speaker");
  CHECK(getenv["callee"] == "libc.so.6");
  CHECK(getenv["caller_path"] == program);
  CHECK(getenv["end"] == "returned");
  CHECK(getenv["errno"].is_null());
  CHECK(getenv["pid"] == getenv["tid"]);

  const auto access = traced.only("access");
  CHECK(access["arguments"][0]["value"].is_null());
  CHECK(access["arguments"][0]["address"] == 8);
  CHECK(access["errno"]["name"] == "EFAULT");

  const auto open = traced.only("open");
  CHECK(open["arguments"][1]["type"] == "flags");
  CHECK(open["arguments"][1]["shown"] == "O_RDONLY|O_CLOEXEC");
  CHECK(open["result"]["value"] == -1);
  CHECK(open["errno"]["name"] == "ENOENT");
  CHECK(open["errno"]["number"] == 2);

  const auto snprintf = traced.only("snprintf");
  CHECK(snprintf["arguments"][0]["value"] == "-5 word 1.50");  // filled in
  CHECK(snprintf["arguments"][3]["value"] == -5);
  CHECK(snprintf["arguments"][5]["value"] == 1.5);

  CHECK(traced.only("strtol")["result"]["value"] == -77);
  CHECK(traced.only("qsort")["end"] == "left");
  CHECK(traced.only("qsort")["result"].is_null());
  CHECK(traced.only("exit")["end"] == "no return");
  CHECK(traced.only("usleep")["duration_ns"].get<std::int64_t>() >= 20'000'000);

  const auto& last = traced.records.back();
  CHECK(last["kind"] == "end");
  CHECK(last["exit_status"] == 7);
  CHECK(last["lost"] == 0);
  CHECK(last["untraced"].contains("address_taken"));
}

TEST_CASE("calls records: -s cuts, and says so", "[live][calls]") {
  const auto program = built("speaker", speaker);
  const auto traced = trace({"-s", "2", "-e", "getenv@MAIN"}, {program});
  CHECK(traced.only("getenv")["arguments"][0]["value"] == "OD");
  CHECK(traced.only("getenv")["arguments"][0]["cut"] == true);
}

TEST_CASE("calls records: threads, children and depth", "[live][calls]") {
  const auto program = built("family", R"(
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int order(const void* one, const void* other) { return (int)getuid() * 0; }
static void* run(void* nothing) { getppid(); return 0; }
int main(void) {
  int numbers[2] = {1, 1};
  qsort(numbers, 2, sizeof(int), order);
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, 0);
  pid_t child = fork();
  if (child == 0) { getpid(); _exit(3); }
  waitpid(child, 0, 0);
  return 0;
}
)");
  const auto traced = trace({"-f"}, {program});
  CHECK(traced.only("getuid")["depth"].get<int>() == traced.only("qsort")["depth"].get<int>() + 1);
  const auto in_thread = traced.only("getppid");
  CHECK(in_thread["tid"] != in_thread["pid"]);
  const auto in_child = traced.only("getpid");
  CHECK(in_child["pid"] != in_thread["pid"]);
  CHECK(in_child["pid"] == in_child["result"]["value"]);
  CHECK(traced.only("waitpid")["result"]["value"] == in_child["pid"]);
}

TEST_CASE("calls records: from outside with system calls and signals", "[live][calls][engine]") {
  const auto program = built("signalled", R"(
#include <signal.h>
#include <unistd.h>
static void on(int number) {}
int main(void) { signal(SIGUSR1, on); raise(SIGUSR1); close(-1); return 0; }
)");
  const auto traced = trace({"-S"}, {program});
  CHECK(traced.run.status == 0);
  CHECK(traced.records.back()["untraced"].is_null());  // nobody has looked
  const auto failed = traced.calls("SYS_close");
  CHECK(std::any_of(failed.begin(), failed.end(), [](const json& call) {
    return call["errno"].is_object() && call["errno"]["name"] == "EBADF" &&
           call["callee"] == "[kernel]";
  }));
  CHECK(std::any_of(traced.records.begin(), traced.records.end(), [](const json& record) {
    return record["kind"] == "signal" && record["name"] == "SIGUSR1";
  }));
}

TEST_CASE("calls records: which form the options choose", "[live][calls]") {
  const auto folder = test::scratch_folder();
  const auto kind_of = [&](const Words& options, const std::string& file) {
    Words words{"calls", "-o", folder + "/" + file};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("/bin/true");
    const auto run = test::run_tracso(words);
    INFO(run.err);
    REQUIRE(run.status == 0);
    const auto text = test::read_file(folder + "/" + file);
    const auto value = json::parse(text.substr(0, text.find('\n')), nullptr, false);
    return value.is_object()                ? "records"
           : contains(text, "\"calls\": [") ? "document"
           : contains(text, "+++ exited")   ? "lines"
                                            : "table";
  };
  CHECK(kind_of({}, "a.jsonl") == std::string("records"));
  CHECK(kind_of({"--json"}, "b") == std::string("records"));
  CHECK(kind_of({"--json"}, "c.json") == std::string("document"));
  CHECK(kind_of({"--json", "-c"}, "d") == std::string("document"));
  CHECK(kind_of({"--json", "--count"}, "e") == std::string("document"));
  CHECK(kind_of({}, "f.json") == std::string("document"));
  CHECK(kind_of({}, "g.txt") == std::string("lines"));
  CHECK(kind_of({"-c"}, "h.txt") == std::string("table"));
  const auto refused = test::run_tracso({"calls", "-c", "-o", folder + "/x.jsonl", "/bin/true"});
  CHECK(refused.status == 2);
  CHECK(contains(refused.err, "no such form"));
}

TEST_CASE("calls records and lines: what cannot be written is no success", "[live][calls]") {
  for (const Words& options : {Words{"-o", "/dev/full"}, Words{"-o", "/dev/full", "--json"}}) {
    Words words{"calls"};
    words.insert(words.end(), options.begin(), options.end());
    auto good = words;
    good.emplace_back("/bin/true");
    const auto run = test::run_tracso(good);
    CHECK(run.status == 2);
    CHECK(contains(run.err, "cannot write /dev/full"));
    auto failing = words;
    failing.emplace_back("/bin/false");
    CHECK(test::run_tracso(failing).status == 1);  // its own status says more
  }
}

TEST_CASE("calls: the program is selected by its own name, as by MAIN", "[live][calls]") {
  const auto program = built("speaker", speaker);
  for (const Words& engine : {Words{"--engine", "agent"}, Words{"--engine", "ptrace"}}) {
    const auto calls_with = [&](Words options) {
      options.insert(options.end(), engine.begin(), engine.end());
      return trace(options, {program}).calls("getenv").size();
    };
    CHECK(calls_with({"-e", "getenv@MAIN"}) == 1);
    CHECK(calls_with({"-e", "getenv@speaker"}) == 1);
    CHECK(calls_with({"--caller", "speaker"}) == 1);
    CHECK(calls_with({"--caller", "*/speaker"}) == 0);  // a path begins with a slash
    CHECK(calls_with({"-e", "getenv@speak"}) == 0);
  }
}

TEST_CASE("calls: -x that fits no function is said, each by its name", "[live][calls][engine]") {
  const auto program = built("speaker", speaker);
  for (const Words& more : {Words{}, Words{"-L"}}) {
    Words words{"calls", "-x", "leave", "-x", "lea_e@nowhere*", "-x", "nonesuch"};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(program);
    const auto run = test::run_tracso(words);
    INFO(run.err);
    CHECK(run.status == 7);
    CHECK(contains(run.err, "leave("));
    CHECK(contains(run.err, "no function fits -x 'nonesuch'"));
    CHECK(contains(run.err, "no function fits -x 'lea_e@nowhere*'"));
    CHECK_FALSE(contains(run.err, "no function fits -x 'leave'"));
  }
}
