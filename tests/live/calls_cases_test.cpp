// tracso calls: what it costs, and what a program could tell by addresses, by its loader and by its
// user. Which case of the design has its test where: docs/proof.md.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>

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
using test::TracedTable;
using test::Words;

namespace {

std::string sources() {
  return test::tests_file("live/calls");
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

// A program of one source: compiled with -DLIBRARY it is its library.
std::string built_pair(const std::string& name,
                       const std::string& library,
                       const std::string& how) {
  const auto folder = test::scratch_folder();
  shell(
      fmt::format("cd {0} && gcc -O1 -w -DLIBRARY -fPIC -shared {3} {1}/{2}.c -o lib{2}.so && "
                  "gcc -O1 -w -fno-builtin {4} {1}/{2}.c -o {2} -L. -l{2} -Wl,-rpath,'$ORIGIN'",
                  folder,
                  sources(),
                  name,
                  library,
                  how));
  return folder + "/" + name;
}

std::uint64_t calls_from(const nlohmann::json& document,
                         const std::string& caller,
                         const std::string& symbol) {
  std::uint64_t sum = 0;
  for (const auto& row : document["calls"]) {
    sum +=
        row["symbol"] == symbol && row["caller"] == caller ? row["calls"].get<std::uint64_t>() : 0;
  }
  return sum;
}

}  // namespace

TEST_CASE("calls: what a call costs stays in proportion to one that nobody traces",
          "[live][calls]") {
  const auto folder = test::scratch_folder();
  shell(
      fmt::format("cd {0} && g++ -O2 -fPIC -shared {1}/library.cpp -o libfirst.so -pthread && "
                  "gcc -O2 {1}/overhead.c -o overhead -L. -lfirst -Wl,-rpath,'$ORIGIN'",
                  folder,
                  sources()));
  const auto program = folder + "/overhead";
  // By turns, for the machine is not alike all the time.
  const std::vector<Words> all{{}, {"--count"}, {"-c"}, {"--exact"}};
  std::vector<std::vector<double>> took(all.size());
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto run = i == 0 ? test::run_program({program}) : trace_table(all[i], {program}).run;
      REQUIRE(run.status == 0);
      took[i].push_back(std::stod(run.out));
    }
  }
  const double native = median(took[0]);
  const double count = median(took[1]) / native;
  const double adaptive = median(took[2]) / native;
  const double exact = median(took[3]) / native;
  INFO("picoseconds of a call: " << native << "; counted " << count << " times as much, adaptive "
                                 << adaptive << ", exact " << exact);
  CHECK(count < 3);
  CHECK(adaptive < 9);
  CHECK(exact < 40);
}

TEST_CASE("calls: a function has one address, and its calls are counted", "[live][calls]") {
  for (const auto& [library, how] : std::map<std::string, std::string>{{"", ""},
                                                                       {"-Wl,-z,now", "-Wl,-z,now"},
                                                                       {"-fno-plt", "-fno-plt"},
                                                                       {" ", "-no-pie -fno-pie"}}) {
    INFO(how);
    const auto program = built_pair("identity", library, how);
    const auto native = test::run_program({program});
    REQUIRE(native.out == "the same\n");
    for (const Words& options : {Words{}, Words{"--exact"}, Words{"--count"}, Words{"--intra"}}) {
      const auto traced = trace_table(options, {program});
      CHECK(traced.run.out == native.out);
      CHECK(traced.run.status == 0);
      // Without position-independence the function's one address is an entry of the program's PLT:
      // what the library imports leads there, but its calls are not the program's as well.
      CHECK(calls_from(traced.document, "identity", "free") == 10);
      CHECK(calls_from(traced.document, "libidentity.so", "free") == 5);
    }
  }
}

TEST_CASE("calls: a lazy function that nobody defines is nobody's business until it is called",
          "[live][calls]") {
  const auto program =
      built_pair("unbound", "-Wl,-z,lazy", "-Wl,-z,lazy -Wl,--allow-shlib-undefined");
  test::ProgramOptions now;
  now.environment = {"LD_BIND_NOW=1"};
  REQUIRE(test::run_program({program}, now).status == 127);
  const auto native = test::run_program({program, "really"});
  REQUIRE(native.status == 127);
  for (const Words& options : {Words{}, Words{"--exact"}, Words{"--count"}}) {
    const auto traced = trace_table(options, {program});
    CHECK(traced.run.out == "7\n");
    CHECK(traced.run.status == 0);
    CHECK(calls_of(traced.document, "perhaps") == 10);
    CHECK(calls_of(traced.document, "nobody_defines_this") == 0);
    const auto called = trace_table(options, {program, "really"});
    CHECK(called.run.err == native.err);
    CHECK(called.run.status == native.status);
    CHECK(calls_of(called.document, "nobody_defines_this") == 1);
  }
}

TEST_CASE("calls: a filter that fits no library shows no call, and says so", "[live][calls]") {
  // Libraries that come later make the agent decide anew about slots of the C library.
  const Words python{"/usr/bin/python3", "-c", "import ssl, ctypes"};
  for (const Words& how : {Words{}, Words{"-f"}, Words{"-f", "--count"}}) {
    Words options{"-l", "nosuchlib*"};
    options.insert(options.end(), how.begin(), how.end());
    const auto traced = trace_table(options, python);
    CHECK(traced.run.status == 0);
    CHECK(traced.document.at("calls").empty());
    CHECK(contains(traced.document.at("notices").dump(), "no library fits 'nosuchlib*'"));
  }
  const auto lines = test::run_program(
      {test::tracso_binary(), "calls", "-f", "-l", "libc", python[0], python[1], python[2]});
  CHECK(lines.status == 0);
  CHECK(contains(lines.err, "no library fits 'libc'; libc.so.6 does: 'libc*'"));
  CHECK_FALSE(contains(lines.err, "address space"));
}

TEST_CASE("calls: a call into nobody knows what is not one into the library that was asked for",
          "[live][calls]") {
  const auto program =
      built_pair("unbound", "-Wl,-z,lazy", "-Wl,-z,lazy -Wl,--allow-shlib-undefined");
  const auto is_told = [](const TracedTable& traced) {
    return contains(nlohmann::json(test::notice_codes(traced.document)).dump(),
                    "calls-callee-unknown");
  };
  for (const Words& into : {Words{"--callee", "libunbound*"}, Words{"-l", "libunbound*"}}) {
    for (const Words& how : {Words{}, Words{"--exact"}, Words{"--count"}}) {
      Words options = into;
      options.insert(options.end(), how.begin(), how.end());
      const auto traced = trace_table(options, {program, "really"});
      CHECK(calls_of(traced.document, "perhaps") == 1);
      CHECK(calls_of(traced.document, "nobody_defines_this") == 0);
      CHECK(is_told(traced));
      for (const auto& row : traced.document["calls"]) {
        CHECK(row["callee"] == "libunbound.so");
      }
      CHECK_FALSE(is_told(trace_table(options, {program})));
    }
    const auto lines = test::trace_lines(into, {program, "really"});
    CHECK(lines.has("->perhaps("));
    CHECK_FALSE(lines.has("nobody_defines_this"));
    CHECK(contains(lines.run.err, "1 call of 1 function not bound yet"));
  }
  // Who calls it is known, and so is a filter that asks for nothing else kept.
  for (const Words& options : {Words{"--caller", "libunbound*"}, Words{"-e", "nobody*"}}) {
    const auto traced = trace_table(options, {program, "really"});
    CHECK(calls_of(traced.document, "nobody_defines_this") == 1);
    CHECK_FALSE(is_told(traced));
  }
}

TEST_CASE("calls: look-ups that depend on who asks give what they give natively", "[live][calls]") {
  const auto folder = test::scratch_folder();
  for (const char* how : {"", "-Wl,-z,now", "-fno-plt", "-no-pie -fno-pie"}) {
    INFO(how);
    const auto kind = std::string(how).starts_with("-no-pie") ? "" : how;
    shell(
        fmt::format("cd {0} && for kind in FIRST AFTER WRAPPER PLUGIN OTHER; do gcc -O1 -w -D$kind "
                    "-fPIC -shared "
                    "{2} {1}/nexts.c -o lib$kind.so || exit 1; done; mv libPLUGIN.so libplug.so; "
                    "mv libOTHER.so libother.so; gcc -O1 -w -rdynamic {3} {1}/nexts.c -o nexts "
                    "-Wl,--no-as-needed -L. -lFIRST -lAFTER -ldl -Wl,-rpath,'$ORIGIN'",
                    folder,
                    sources(),
                    kind,
                    how));
    const auto program = folder + "/nexts";
    for (const bool wrapped : {false, true}) {
      INFO("wrapped " << wrapped);
      test::ProgramOptions options;
      if (wrapped) {
        options.environment = {"LD_PRELOAD=" + folder + "/libWRAPPER.so"};
      }
      const auto command = wrapped ? Words{program} : Words{program, "compare"};
      const auto native = test::run_program(command, options);
      REQUIRE(native.status == 0);
      for (const Words& mode : {Words{}, Words{"--exact"}, Words{"--count"}, Words{"-f"}}) {
        const auto traced = trace_table(mode, command, options);
        CHECK(traced.run.out == native.out);
        CHECK(traced.run.err == native.err);
        CHECK(traced.run.status == 0);
        const auto& document = traced.document;
        // What the one right before the agent looked up with either is seen.
        CHECK(calls_from(document, "nexts", "twice") == (wrapped ? 0 : 101));
        CHECK(calls_from(document, "nexts", "only_first") == (wrapped ? 1 : 101));
        CHECK(calls_from(document, "libWRAPPER.so", "only_first") == (wrapped ? 101 : 0));
        // Of libraries behind us, and of what dlopen brings, nobody but the loader knows.
        const auto codes = test::notice_codes(document);
        CHECK(std::count(codes.begin(), codes.end(), "calls-lookups") == 1);
        CHECK(document["untraced"]["dlsym"].get<int>() >= 2);
      }
    }
  }
}

TEST_CASE("calls: a program that changes its user before exec is traced, or said in one line",
          "[live][calls]") {
  if (::geteuid() != 0 ||
      test::run_program({"setpriv", "--reuid", "65534", "--clear-groups", "true"}).status != 0) {
    WARN("not root, or no setpriv: a change of the user not tried");
    return;
  }
  const std::string other = "setpriv --reuid 65534 --regid 65534 --clear-groups ";
  const std::vector<Words> commands{
      {"/bin/sh", "-c", "exec " + other + "sh -c 'echo $LD_PRELOAD[$TRACSO_CALLS]; id -u; exit 5'"},
      {"/bin/sh", "-c", other + "id -u; ls -d /"},
      {"/usr/bin/python3",
       "-c",
       "import subprocess\nsubprocess.run(['/bin/sh', '-c', 'id -u'], user=65534)\n"
       "subprocess.run(['ls', '-d', '/'])"}};
  for (const auto& command : commands) {
    INFO(command.back());
    for (const char* preload : {"", "libm.so.6"}) {
      test::ProgramOptions how;
      if (*preload != '\0') {
        how.environment = {std::string("LD_PRELOAD=") + preload};
      }
      const auto native = test::run_program(command, how);
      for (const Words& options :
           {Words{"-f"}, Words{"-f", "--count"}, Words{"-f", "-e", "getenv"}, Words{}}) {
        const auto traced = trace_table(options, command, how);
        CHECK(traced.run.out == native.out);
        CHECK(traced.run.err == native.err);  // not a word of ld.so
        CHECK(traced.run.status == native.status);
        const auto codes = test::notice_codes(traced.document);
        const auto said = std::count(codes.begin(), codes.end(), "calls-not-followed");
        CHECK((options.empty() || said >= 1));
      }
    }
  }
  const auto lines = test::trace_lines(
      {"-f", "-e", "execvp"}, {"setpriv", "--reuid", "65534", "--clear-groups", "ls", "/etc/no"});
  CHECK(contains(lines.run.err, "as another user"));
  CHECK(lines.has("execvp(\"ls\""));
}

TEST_CASE("calls: what a callback of the library calls is counted", "[live][calls]") {
  const auto folder = test::scratch_folder();
  shell(fmt::format("gcc -O1 -fno-builtin {}/callback.c -o {}/callback", sources(), folder));
  for (const Words& options : {Words{}, Words{"--exact"}, Words{"--count"}}) {
    const auto traced = trace_table(options, {folder + "/callback"});
    CHECK(traced.run.out.starts_with("apple cherry date fig lime pear plum quince "));
    const auto compared = std::stoul(traced.run.out.substr(traced.run.out.rfind(' ')));
    CHECK(calls_from(traced.document, "callback", "strcmp") == compared);
    CHECK(calls_of(traced.document, "qsort") == 1);
  }
}

TEST_CASE("calls: -f tells each program of a chain of exec", "[live][calls]") {
  const auto traced = trace_table({"-f"}, {"/bin/sh", "-c", "ls / | wc -l; exec true"});
  CHECK(traced.run.status == 0);
  Words seen;
  for (const auto& program : traced.document["programs"]) {
    seen.push_back(program["command"]);
  }
  for (const char* wanted : {"/bin/sh -c", "ls /", "wc -l", "true"}) {
    INFO(wanted);
    CHECK(std::any_of(
        seen.begin(), seen.end(), [&](const auto& one) { return one.starts_with(wanted); }));
  }
}

TEST_CASE("calls: each Python imports ssl as natively, and its calls of OpenSSL are there",
          "[live][calls]") {
  const auto pythons = test::pythons();
  if (pythons.empty()) {
    WARN("no Python here");
  }
  for (const auto& python : pythons) {
    INFO(python.label);
    const Words command{python.program,
                        "-c",
                        "import ssl, json; print(json.dumps({'version': ssl.OPENSSL_VERSION}))"};
    const auto native = test::run_program(command);
    if (native.status != 0) {
      continue;  // built without OpenSSL
    }
    const auto traced = trace_table({}, command);
    CHECK(traced.run.out == native.out);
    CHECK(traced.run.err == native.err);
    CHECK(traced.run.status == 0);
    std::uint64_t calls = 0;
    for (const auto& row : traced.document["calls"]) {
      const bool from = row["caller"].get<std::string>().starts_with("_ssl");
      const bool to = row["callee"].get<std::string>().starts_with("libcrypto");
      calls += from && to ? row["calls"].get<std::uint64_t>() : 0;
    }
    CHECK(calls > 0);
  }
}

TEST_CASE("calls: the rows of all forms and groups sum to the same calls", "[live][calls]") {
  const auto folder = test::scratch_folder();
  shell(fmt::format("gcc -O1 -fno-builtin {}/callback.c -o {}/callback", sources(), folder));
  const Words command{folder + "/callback"};
  const auto sum_of = [](const nlohmann::json& document) {
    std::uint64_t sum = 0;
    for (const auto& row : document["calls"]) {
      sum += row["calls"].get<std::uint64_t>();
    }
    return sum;
  };
  const Words from_program{"-e", "@MAIN"};
  const auto sum = sum_of(trace_table(from_program, command).document);
  CHECK(sum > 20);
  for (const char* group :
       {"function", "caller", "callee", "libraries", "package", "thread", "process"}) {
    INFO(group);
    CHECK(sum_of(trace_table({"-e", "@MAIN", "--group", group}, command).document) == sum);
  }
  const auto csv = test::run_tracso({"calls", "--csv", "-e", "@MAIN", command.front()});
  std::uint64_t in_csv = 0;
  const auto lines = test::lines_of(csv.out);
  REQUIRE(lines.size() > 1);
  const auto column = [](const std::string& line, std::size_t number) {
    std::size_t at = 0;
    for (; number > 0; --number) {
      at = line.find(',', at) + 1;
    }
    return line.substr(at, line.find(',', at) - at);
  };
  REQUIRE(column(lines.front(), 4) == "calls");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    in_csv += std::stoul(column(lines[i], 4));
  }
  CHECK(in_csv == sum);
  const auto text = test::run_tracso({"calls", "-c", "-e", "@MAIN", command.front()});
  CHECK(contains(text.err, fmt::format(" {} ", sum)));
}
