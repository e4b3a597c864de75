// tracso PID --calls SECONDS: the report says which libraries are called, by which package, and the
// process is as it was afterwards.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>

#include <signal.h>

#include <algorithm>
#include <string>

using namespace tracso;
using test::contains;
using test::Words;

namespace {

const char* const python = "/usr/bin/python3";

Words words_of(const test::Child& child, const Words& options) {
  Words words{std::to_string(child.pid())};
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

bool has_module(const std::string& name) {
  return test::run_program({python, "-c", "import " + name}).status == 0;
}

std::string states_of(pid_t pid) {
  return test::run_program({"/bin/sh", "-c", fmt::format("ls /proc/{}/fd", pid)}).out;
}

}  // namespace

TEST_CASE("calls window: a Python that calls zlib", "[live][attach][window]") {
  test::Child child(
      {python,
       "-c",
       "import sys, threading, zlib\n"
       "end = []\n"
       "threading.Thread(target=lambda: (sys.stdin.readline(), end.append(1))).start()\n"
       "print('ready', flush=True)\n"
       "data = bytes(range(256)) * 100\n"
       "bad = 0\n"
       "while not end: bad += zlib.decompress(zlib.compress(data, 1)) != data\n"
       "print('bad', bad, flush=True)\n"});
  REQUIRE(child.line() == "ready");
  const auto descriptors = states_of(child.pid());
  const auto seen = test::document(words_of(child, {"--calls", "0.5"}));
  const auto zlib = test::node_named(seen, "libz.so.1");
  REQUIRE_FALSE(zlib.is_null());
  CHECK(zlib["used"] == true);
  CHECK(zlib["calls_in"] > 10);
  REQUIRE_FALSE(zlib["called_by"].empty());
  CHECK(contains(zlib["called_by"][0]["name"], "python3"));
  CHECK(seen["calls"]["window_ns"] >= 500'000'000);
  CHECK_FALSE(seen["calls"]["pairs"].empty());
  CHECK(seen["intrusion"]["code_executed"] == true);
  CHECK(seen["intrusion"]["stopped_ns"] > 0);
  const auto codes = test::notice_codes(seen);
  CHECK(std::find(codes.begin(), codes.end(), "calls-attached") != codes.end());

  const auto report = test::run_tracso(words_of(child, {"--calls", "0.3", "--limit", "0"}));
  CHECK(report.status == 0);
  CHECK(contains(report.out, "      used\n"));
  CHECK(contains(report.out, "  by python3"));
  CHECK(contains(report.out, "every slot leads again where it led before"));
  const auto table = test::run_tracso(words_of(child, {"--calls", "0.3", "--csv"}));
  CHECK(contains(table.out, "used,calls_in,calls_out,called_by\n"));
  const auto row = table.out.find("\nlibz.so.1,");
  REQUIRE(row != std::string::npos);
  CHECK(contains(table.out.substr(row, table.out.find('\n', row + 1) - row), ",true,"));

  CHECK(states_of(child.pid()) == descriptors);
  const auto again =
      test::run_tracso({"calls", "-p", std::to_string(child.pid()), "-d", "0.1", "-c"});
  CHECK(again.status == 0);  // nobody is attached any more
  child.write("end\n");
  CHECK(child.line() == "bad 0");
  CHECK(child.wait() == 0);
}

TEST_CASE("calls window: a Python that does nothing uses nothing", "[live][attach][window]") {
  test::Child child({python,
                     "-c",
                     "import sys, zlib, time\n"
                     "print('ready', flush=True)\n"
                     "time.sleep(600)\n"});
  REQUIRE(child.line() == "ready");
  const auto seen = test::document(words_of(child, {"--calls", "0.3"}));
  CHECK(seen["calls"]["pairs"].empty());
  std::size_t unused = 0;
  for (const auto& node : seen["nodes"]) {
    CHECK(node["used"] != true);
    unused += node["used"] == false ? 1 : 0;
  }
  CHECK(unused > 3);
}

TEST_CASE("calls window: calls are told by package", "[live][attach][window]") {
  if (!has_module("numpy")) {
    WARN("no numpy for /usr/bin/python3");
    return;
  }
  test::Child child({python,
                     "-c",
                     "import numpy, sys\n"
                     "print('ready', flush=True)\n"
                     "a = numpy.ones((40, 40))\n"
                     "while True: a.dot(a)\n"});
  REQUIRE(child.line() == "ready");
  const auto seen = test::document(words_of(child, {"--calls", "0.5"}));
  bool by_numpy = false;
  for (const auto& node : seen["nodes"]) {
    for (const auto& caller : node["called_by"]) {
      by_numpy = by_numpy || std::string(caller["name"]).starts_with("py:numpy");
    }
  }
  CHECK(by_numpy);
}

TEST_CASE("calls window: what is refused leaves the report whole", "[live][attach][window]") {
  test::Child child({python, "-c", "import time; print('ready', flush=True); time.sleep(600)"});
  REQUIRE(child.line() == "ready");
  REQUIRE(::kill(child.pid(), SIGSTOP) == 0);
  for (int tries = 0; tries < 1000; ++tries) {
    const auto stat = test::read_file(fmt::format("/proc/{}/stat", child.pid()));
    if (contains(stat, ") T ")) {
      break;
    }
  }
  const auto refused = test::run_tracso(words_of(child, {"--calls", "0.3"}));
  CHECK(refused.status == 4);
  CHECK(contains(refused.out, "Most depended-on libraries\n"));
  CHECK(contains(refused.out, "library calls were not counted: "));
  CHECK_FALSE(contains(refused.out, "      used\n"));
  auto words = words_of(child, {"--json", "--calls", "0.3"});
  const auto document = nlohmann::json::parse(test::run_tracso(words).out);
  CHECK(document["calls"].is_null());
  CHECK(test::node_named(document, "libc.so.6")["used"].is_null());
  ::kill(child.pid(), SIGCONT);
}

TEST_CASE("calls window: a process that ends meanwhile is said to have ended",
          "[live][attach][window]") {
  const auto seen = [](const std::string& end) {
    test::Child child({"/bin/sh", "-c", "echo ready; sleep 1.5; " + end});
    REQUIRE(child.line() == "ready");
    return test::run_tracso(words_of(child, {"--calls", "6"}));
  };
  const auto ended = seen("exit 0");
  INFO(ended.err << ended.out);
  CHECK(ended.status == 3);
  CHECK(contains(ended.out, "ended meanwhile"));
  CHECK_FALSE(contains(ended.out, "ran on"));
  CHECK_FALSE(contains(ended.out, "every slot leads again"));
  const auto replaced = seen("exec sleep 20");
  CHECK(replaced.status == 3);
  CHECK(contains(replaced.out, "another program by now (exec)"));
  CHECK_FALSE(contains(replaced.out, "every slot leads again"));
}

TEST_CASE("calls window: it is about a process and a list of libraries", "[live][window]") {
  CHECK(test::run_tracso({"/bin/true", "--calls", "1"}).status == 2);
  CHECK(test::run_tracso({"--calls", "1"}).status == 2);
  CHECK(test::run_tracso({"1", "--calls", "1", "--tree"}).status == 2);
  CHECK(test::run_tracso({"1", "--calls", "1", "--why", "libc"}).status == 2);
  CHECK(test::run_tracso({"1", "--calls", "1", "-o", "x.svg"}).status == 2);
  CHECK(test::run_tracso({"1", "--calls", "0"}).status == 2);
  CHECK(test::run_tracso({"--calls", "1", "--run", "true"}).status == 2);
}
