// tracso calls: what is called through pointers that dlsym gave, where that can be seen; elsewhere
// they are counted as not traced, and the program cannot tell.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>

#include <string>

using namespace tracso;
using test::calls_of;
using test::shell;
using test::trace_lines;
using test::trace_table;
using test::Words;

namespace {

std::string built(const std::string& options = "") {
  const auto folder = test::scratch_folder();
  shell(
      fmt::format("cd {0} && gcc -O1 -DLIBRARY -fPIC -shared {1}/lookups.c -o liblooked.so && "
                  "gcc -O1 -w {2} {1}/lookups.c -o lookups -ldl -Wl,-rpath,'$ORIGIN' "
                  "-Wl,--enable-new-dtags",
                  folder,
                  test::tests_file("live/calls"),
                  options));
  return folder + "/lookups";
}

// The caller of a function's only row.
std::string caller_of(const nlohmann::json& document, const std::string& symbol) {
  for (const auto& row : document["calls"]) {
    if (row["symbol"] == symbol) {
      return row["caller"];
    }
  }
  return "";
}

}  // namespace

TEST_CASE("calls pointers: functions that were looked up are traced", "[live][calls][pointers]") {
  for (const char* build : {"", "-Wl,-z,now", "-Wl,-z,lazy", "-fno-plt"}) {
    INFO(build);
    const auto program = built(build);
    const auto native = test::run_program({program});
    REQUIRE(native.status == 0);
    for (const Words& options : {Words{}, Words{"--exact"}, Words{"--count"}}) {
      const auto traced = trace_table(options, {program});
      CHECK(traced.run.status == 0);
      CHECK(traced.run.out == native.out);
      const auto& document = traced.document;
      CHECK(calls_of(document, "doubled") == 1010);
      CHECK(calls_of(document, "half") == 7);
      CHECK(calls_of(document, "own_address") == 1);
      CHECK(caller_of(document, "doubled") == "lookups");
    }
  }
}

TEST_CASE("calls pointers: an address that is known elsewhere stays what it is, and is counted",
          "[live][calls][pointers]") {
  const auto document = trace_table({}, {built()}).document;
  CHECK(calls_of(document, "shared_address") == 0);  // the library gives it out itself
  CHECK(calls_of(document, "in_table") == 0);
  // These two, and strlen by RTLD_NEXT: the C library gives out what was chosen for it (IFUNC).
  CHECK(document["untraced"]["dlsym"] == 3);
  CHECK(test::notice_codes(document).empty());
}

TEST_CASE("calls pointers: they obey the filter, and are lines", "[live][calls][pointers]") {
  const auto program = built();
  const auto only = trace_table({"-e", "half"}, {program}).document;
  CHECK(calls_of(only, "half") == 7);
  CHECK(calls_of(only, "doubled") == 0);
  CHECK(only["untraced"]["dlsym"] == 0);
  const auto lines = trace_lines({"-e", "doubled+half"}, {program});
  CHECK(lines.run.status == 0);
  CHECK(lines.count("doubled(7, ") == 2);
  CHECK(lines.count("half(") == 7);
}

TEST_CASE("calls pointers: constants that lie beside the code are given as they are",
          "[live][calls][pointers]") {
  // -z noseparate-code: one segment for code and constants, as gold makes it.
  for (const char* hash : {"gnu", "sysv"}) {
    INFO(hash);
    const auto folder = test::scratch_folder();
    shell(
        fmt::format("cd {0} && gcc -O1 -w -DLIBRARY -fPIC -shared -Wl,-z,noseparate-code "
                    "-Wl,--hash-style={2} {1}/beside.c -o libbeside.so && gcc -O1 -w {1}/beside.c "
                    "-o beside -ldl -Wl,-rpath,'$ORIGIN' -Wl,--enable-new-dtags",
                    folder,
                    test::tests_file("live/calls"),
                    hash));
    const auto native = test::run_program({folder + "/beside"});
    REQUIRE(native.out == "42 text 44 43 46 47\n");
    for (const Words& options : {Words{"-e", "*"}, Words{"-e", "*", "--count"}}) {
      const auto traced = trace_table(options, {folder + "/beside"});
      CHECK(traced.run.out == native.out);
      CHECK(calls_of(traced.document, "function") == 1);
      CHECK(calls_of(traced.document, "chosen") == 1);
      CHECK(calls_of(traced.document, "label") == 0);  // no symbol says that it is a function
    }
  }
}

// The description of a stub comes after that of its page, which the reader may have seen before.
TEST_CASE("calls pointers: lines name each function, however late it is looked up",
          "[live][calls][pointers]") {
  const auto folder = test::scratch_folder();
  shell(
      fmt::format("cd {0} && gcc -O1 -DLIBRARY -fPIC -shared {1}/later.c -o liblater.so && "
                  "gcc -O1 -w {1}/later.c -o later -ldl -Wl,-rpath,'$ORIGIN' "
                  "-Wl,--enable-new-dtags",
                  folder,
                  test::tests_file("live/calls")));
  const auto traced = trace_lines({"--json", "-e", "later_*"}, {folder + "/later"});
  CHECK(traced.run.status == 0);
  int calls = 0;
  for (const auto& line : traced.lines) {
    const auto document = nlohmann::json::parse(line, nullptr, false);
    if (document.is_discarded() || document.value("kind", "") != "call") {
      continue;
    }
    INFO(line);
    CHECK(document["function"] == fmt::format("later_{}", calls));
    CHECK(document["caller"] == "later");
    CHECK(document["callee"] == "liblater.so");
    ++calls;
  }
  CHECK(calls == 36);
}

TEST_CASE("calls pointers: exceptions, handlers, threads, callbacks, children",
          "[live][calls][pointers]") {
  const auto folder = test::scratch_folder();
  shell(
      fmt::format("cd {0} && g++ -O2 -DLIBRARY -fPIC -shared {1}/pointed.cpp -o libpointed.so && "
                  "g++ -O2 -w {1}/pointed.cpp -o pointed -ldl -pthread -Wl,-rpath,'$ORIGIN' "
                  "-Wl,--enable-new-dtags",
                  folder,
                  test::tests_file("live/calls")));
  const Words command{folder + "/pointed"};
  const auto native = test::run_program(command);
  REQUIRE(native.status == 0);
  for (const Words& options : {Words{}, Words{"--exact"}, Words{"--count"}, Words{"-f"}}) {
    const auto traced = trace_table(options, command);
    CHECK(traced.run.status == 0);
    CHECK(traced.run.out == native.out);
    CHECK(traced.run.err == native.err);
    CHECK(calls_of(traced.document, "throws") == 1000);
    CHECK(calls_of(traced.document, "handler") == 100);
    CHECK(calls_of(traced.document, "start") == 50);
    CHECK(calls_of(traced.document, "compare") > 99);
    CHECK(calls_of(traced.document, "many") == 1);
    CHECK(calls_of(traced.document, "count") == (options == Words{"-f"} ? 2 : 1));
  }
}

TEST_CASE("calls pointers: what Python calls by ctypes", "[live][calls][pointers]") {
  const Words command{"/usr/bin/python3",
                      "-c",
                      "import ctypes, sys\n"
                      "z = ctypes.CDLL('libz.so.1')\n"
                      "z.crc32_combine.restype = ctypes.c_ulong\n"
                      "print(sum(z.crc32_combine(i, i, 10) & 1 for i in range(300)))\n"
                      "print(ctypes.pythonapi.Py_IsInitialized())\n"};
  if (test::run_program(command).status != 0) {
    WARN("no /usr/bin/python3 with ctypes and libz");
    return;
  }
  const auto native = test::run_program(command);
  const auto traced = trace_table({"--exact"}, command);
  CHECK(traced.run.out == native.out);
  CHECK(traced.run.status == 0);
  CHECK(calls_of(traced.document, "crc32_combine") == 300);
  CHECK(caller_of(traced.document, "crc32_combine").starts_with("_ctypes"));
}

TEST_CASE("calls pointers: plugins come and go in several threads", "[live][calls][pointers]") {
  const auto folder = test::scratch_folder();
  shell(
      fmt::format("cd {0} && gcc -O2 -fPIC -shared {1}/plugin.c -o libplugin.so && cp libplugin.so "
                  "libplugin2.so && gcc -O2 -w {1}/loading.c -o loading -ldl -pthread "
                  "-Wl,-rpath,'$ORIGIN'",
                  folder,
                  test::tests_file("live/calls")));
  for (const Words& options : {Words{}, Words{"--exact"}, Words{"--count"}}) {
    const auto traced = trace_table(options, {folder + "/loading", "300"});
    CHECK(traced.run.out == "sum 1375 next 1\n");
    CHECK(traced.run.status == 0);
    const auto seen = calls_of(traced.document, "plugin");
    CHECK(seen >= 50);
    CHECK(seen <= 50 + 4 * 200);
  }
}
