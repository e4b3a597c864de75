// tracso dump --native against gdb.

#include "support/catch.hpp"
#include "support/dumped.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/run_support.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace tracso;
using test::has_native;
using test::native_dump;

namespace {

using Stacks = std::set<std::vector<std::uint64_t>>;

// Where each caller goes on. The innermost frame has no address in gdb's words, and inlined
// functions have none either.
Stacks gdb_stacks(const std::string& pid) {
  test::ProgramOptions options;
  options.limit = std::chrono::seconds(180);
  const auto run = test::run_program({"gdb",
                                      "-q",
                                      "-nx",
                                      "-batch",
                                      "-iex",
                                      "set debuginfod enabled off",
                                      "-iex",
                                      "set auto-load off",
                                      "-ex",
                                      "set backtrace past-main on",
                                      "-ex",
                                      "set backtrace past-entry on",
                                      "-ex",
                                      "thread apply all bt",
                                      "-p",
                                      pid},
                                     options);
  Stacks stacks;
  std::vector<std::uint64_t> stack;
  std::size_t at = 0;
  while (at < run.out.size()) {
    const auto end = std::min(run.out.find('\n', at), run.out.size());
    const auto line = run.out.substr(at, end - at);
    at = end + 1;
    const auto hex = line.find(" 0x");
    if (line.starts_with("#0 ")) {
      stacks.insert(std::move(stack));
      stack.clear();
    } else if (line.starts_with("#") && hex != std::string::npos && hex < 6 &&
               line.find(" in ") != std::string::npos) {
      stack.push_back(std::stoull(line.substr(hex + 3), nullptr, 16));
    }
  }
  stacks.insert(std::move(stack));
  stacks.erase(std::vector<std::uint64_t>());
  return stacks;
}

Stacks our_stacks(const nlohmann::json& dump) {
  Stacks stacks;
  for (const auto& thread : dump["threads"]) {
    std::vector<std::uint64_t> stack;
    for (const auto& frame : thread["native"]["frames"]) {
      stack.push_back(frame["address"]);
    }
    REQUIRE_FALSE(stack.empty());
    stack.erase(stack.begin());
    stacks.insert(std::move(stack));
  }
  return stacks;
}

std::vector<std::string> symbols(const nlohmann::json& thread) {
  std::vector<std::string> names;
  for (const auto& frame : thread["native"]["frames"]) {
    names.push_back(frame["symbol"].is_null() ? "?" : frame["symbol"]);
  }
  return names;
}

bool has_gdb() {
  const bool here = test::run_program({"gdb", "--version"}).status == 0;
  if (!here) {
    WARN("NOT TRIED: no gdb here");
  }
  return here;
}

constexpr const char* known_functions = R"(
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int sink;
static int pipes[2];
__attribute__((noinline)) static void waits(void) { char c; sink += (int)read(pipes[0], &c, 1); }
__attribute__((noinline)) static void handler(int s) { waits(); sink += s; }
__attribute__((noinline)) void inner(void) { waits(); sink++; }
__attribute__((noinline)) void middle(void) { inner(); sink++; }
__attribute__((noinline)) static void deep(int n) { if (n) deep(n - 1); else middle(); sink++; }
static void *work(void *a) { deep(20); return a; }
__attribute__((noinline, noreturn)) static void never(void) { waits(); _exit(0); }
static void *last_call(void *a) { never(); return a; }
static void *in_handler(void *a) { raise(SIGUSR1); return a; }
int main(void) {
  pthread_t t;
  pipe(pipes);
  signal(SIGUSR1, handler);
  pthread_create(&t, 0, work, 0); pthread_setname_np(t, "work");
  pthread_create(&t, 0, last_call, 0); pthread_setname_np(t, "last_call");
  pthread_create(&t, 0, in_handler, 0); pthread_setname_np(t, "in_handler");
  usleep(300000);
  puts("ready"); fflush(stdout);
  deep(0);
  return 0;
}
)";

}  // namespace

TEST_CASE("dump --native: the callers that gdb finds, in a C program", "[live][dump][native]") {
  if (!has_native()) {
    return;
  }
  const auto program = test::compile("known_functions",
                                     known_functions,
                                     "cc -O2 -fno-optimize-sibling-calls -pthread -D_GNU_SOURCE");
  test::Child child({program});
  REQUIRE(child.line() == "ready");
  REQUIRE(child.rests());
  const auto pid = std::to_string(child.pid());
  const auto dump = native_dump(pid);
  REQUIRE(dump["threads"].size() == 4);
  CHECK(dump["held"]["threads"] == 4);
  CHECK(dump["held"]["longest_ns"] > 0);
  for (const auto& thread : dump["threads"]) {
    CHECK(thread["native"]["whole"] == true);
    auto names = symbols(thread);
    REQUIRE(names.size() > 4);
    CHECK(names[0] == "read");
    if (thread["name"] == "work") {
      CHECK(std::count(names.begin(), names.end(), "deep") == 21);
      names.erase(std::unique(names.begin(), names.end()), names.end());
      names.resize(6);
      CHECK(names == std::vector<std::string>{"read", "waits", "inner", "middle", "deep", "work"});
    } else if (thread["name"] == "last_call") {  // nothing stands behind its call
      CHECK(std::find(names.begin(), names.end(), "never") != names.end());
      CHECK(std::find(names.begin(), names.end(), "last_call") != names.end());
    } else if (thread["name"] == "in_handler") {
      CHECK(std::find(names.begin(), names.end(), "handler") != names.end());
      const auto raises = std::find_if(names.begin(), names.end(), [](const std::string& name) {
        return name == "raise" || name == "gsignal";  // of one address
      });
      CHECK(raises != names.end());
      CHECK(std::find(names.begin(), names.end(), "in_handler") != names.end());
    } else {
      CHECK(std::find(names.begin(), names.end(), "main") != names.end());
      CHECK(names.back() == "_start");
    }
  }
  if (has_gdb()) {
    // Behind a signal's frame gdb may take a word of the stack for a return address where libc has
    // no symbols: that thread is judged by its names alone.
    auto ours = our_stacks(dump);
    const auto theirs = gdb_stacks(pid);
    CHECK(theirs.size() == 4);
    std::erase_if(ours, [&](const auto& stack) { return !theirs.contains(stack); });
    CHECK(ours.size() >= 3);
  }
}

TEST_CASE("dump --native: the callers that gdb finds, in every Python", "[live][dump][native]") {
  if (!has_native()) {
    return;
  }
  std::string tried;
  bool judged = false;
  for (const auto& python : test::pythons(&tried)) {
    INFO(python.label);
    test::Child child(
        {python.program,
         "-c",
         "import os, select, sys, threading, time\n"
         "r, w = os.pipe()\n"
         "def on_epoll():\n"
         "  e = select.epoll(); e.register(r, select.EPOLLIN); e.poll()\n"
         "def key(v): os.read(r, 1)\n"
         "def in_sort(): [2, 1].sort(key=key)\n"
         "def gen(): yield [in_sort()]\n"
         "def in_gen():\n"
         "  for x in gen(): pass\n"
         "for f in (on_epoll, in_gen): threading.Thread(target=f, daemon=True).start()\n"
         "time.sleep(0.5)\n"
         "print('ready', flush=True); sys.stdin.readline()\n"});
    REQUIRE(child.line() == "ready");
    REQUIRE(child.rests());
    const auto pid = std::to_string(child.pid());
    const auto dump = native_dump(pid);
    REQUIRE(dump["threads"].size() == 3);
    for (const auto& thread : dump["threads"]) {
      const auto& native = thread["native"];
      CHECK(native["whole"] == true);
      CHECK(native["held_ns"] > 0);
      std::size_t placed = 0;
      for (const auto& frame : native["frames"]) {
        const std::size_t count = frame["python_frames"];
        placed += count;
        CHECK((count == 0 ||
               frame["symbol"].get<std::string>().starts_with("_PyEval_EvalFrameDefault")));
      }
      // A stripped interpreter may hide its loop; then nothing is placed, and it is said.
      CHECK(placed == (native["python_matched"] == true ? thread["python"].size() : 0));
      CHECK(thread["python_torn"] == false);
      if (python.label.find("system") == std::string::npos) {
        CHECK(native["python_matched"] == true);
      }
    }
    const auto text = test::run_tracso({"dump", "--native", pid});
    CHECK(test::contains(text.out, " held, one after the other, for at most "));
    CHECK(test::contains(text.out, "epoll_wait+0x"));
    CHECK(test::contains(text.out, "   on_epoll ("));
    // gdb takes seconds for each: one is enough to judge how frames are found, for all have the
    // same unwinder.
    if (!judged && has_gdb()) {
      CHECK(our_stacks(dump) == gdb_stacks(pid));
    }
    judged = true;
  }
  CHECK(judged);
}
