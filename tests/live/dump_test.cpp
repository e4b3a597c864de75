// tracso dump against what each Python says of itself, and against programs made for it.

#include "dump/dump.hpp"

#include "support/catch.hpp"
#include "support/dumped.hpp"
#include "support/flipping_process.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/run_support.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

using namespace tracso;

namespace {

std::vector<test::Python> every_python() {
  std::string tried;
  return test::pythons(&tried);
}

using Stack = std::vector<std::string>;

// '  File "x.py", line 3 in f' -> "x.py:3 f". Qualified names are ours alone: only the last part is
// compared.
std::multiset<Stack> faulthandler_stacks(test::Child& child) {
  std::multiset<Stack> stacks;
  Stack stack;
  for (auto line = child.line(); line && *line != "end"; line = child.line()) {
    const auto quote = line->find("File \"");
    const auto end = line->find("\", line ");
    const auto in = line->rfind(" in ");
    if (quote != std::string::npos && end != std::string::npos && in != std::string::npos) {
      stack.push_back(line->substr(quote + 6, end - quote - 6) + ":" +
                      line->substr(end + 8, in - end - 8) + " " + line->substr(in + 4));
    } else if (!stack.empty()) {
      stacks.insert(std::move(stack));
      stack.clear();
    }
  }
  stacks.insert(std::move(stack));
  return stacks;
}

std::multiset<Stack> our_stacks(const Dump& dump) {
  std::multiset<Stack> stacks;
  for (const auto& thread : dump.threads) {
    if (thread.python) {
      Stack stack;
      for (const auto& frame : thread.python->frames) {
        const auto dot = frame.function.rfind('.');
        stack.push_back(
            frame.file + ":" + std::to_string(frame.line) + " " +
            (dot == std::string::npos ? frame.function : frame.function.substr(dot + 1)));
      }
      stacks.insert(std::move(stack));
    }
  }
  return stacks;
}

const ThreadDump* thread_in(const Dump& dump, const std::string& function) {
  for (const auto& thread : dump.threads) {
    if (thread.python && !thread.python->frames.empty() &&
        thread.python->frames.front().function == function) {
      return &thread;
    }
  }
  return nullptr;
}

struct Native {
  test::Child child;
  std::optional<test::LiveTarget> target;

  explicit Native(const std::string& program) : child({program}) {
    REQUIRE(child.line() == "ready");
    target = test::live_target(child.pid());
    REQUIRE(target);
  }
};

}  // namespace

TEST_CASE("dump: the same frames as faulthandler, on every Python", "[live][dump]") {
  const auto pythons = every_python();
  REQUIRE_FALSE(pythons.empty());
  for (const auto& python : pythons) {
    INFO(python.label);
    test::Dumped dumped({python.program, test::tests_file("live/dump_target.py")});
    test::Child& child = dumped.child;
    const auto dump = dumped.look();
    const auto again = dumped.look();
    CHECK(our_stacks(*again) == our_stacks(*dump));
    CHECK(dump->threads.size() == 10);
    CHECK(dump->threads.front().id == child.pid());
    CHECK(dump->notices.empty());
    CHECK(dump->deadlocks.empty());
    for (const auto& thread : dump->threads) {
      REQUIRE(thread.python);
      CHECK_FALSE(thread.python->torn);
      CHECK(thread.python->whole);
      CHECK_FALSE(thread.python->has_gil);
    }
    const auto* accept = thread_in(*dump, "socket.accept");
    accept = accept == nullptr ? thread_in(*dump, "accept") : accept;
    const auto* epoll = thread_in(*dump, "on_epoll");
    const auto* read = thread_in(*dump, "on_read");
    REQUIRE(epoll != nullptr);
    REQUIRE(read != nullptr);
    CHECK(epoll->call == "epoll_wait");
    CHECK(epoll->waits_for.target == "anon_inode:[eventpoll]");
    CHECK(read->call == "read");
    CHECK(read->waits_for.target.starts_with("pipe:["));
    CHECK(read->symbol == "read");
    child.write("\n");
    auto expected = faulthandler_stacks(child);
    auto ours = our_stacks(*dump);
    // The main thread has gone on to another line since; its stack is the one that says so.
    const auto in_main = [](const Stack& stack) {
      return stack.back().find("<module>") != std::string::npos;
    };
    std::erase_if(expected, in_main);
    std::erase_if(ours, in_main);
    CHECK(ours.size() == 9);
    CHECK(ours == expected);
  }
}

TEST_CASE("dump: who holds the GIL and who waits for it", "[live][dump]") {
  for (const auto& python : every_python()) {
    if (python.label.find("free-threaded") != std::string::npos) {
      continue;
    }
    INFO(python.label);
    // One thread holds the lock for good inside of C; the others want it.
    test::Child child(
        {python.program,
         "-c",
         "import ctypes, sys, threading, time\n"
         "hold = ctypes.PyDLL(None).usleep\n"
         "def holder():\n"
         "  print('ready', flush=True)\n"
         "  hold(900000000)\n"
         "for i in range(2): threading.Thread(target=lambda: [time.sleep(0.001) for i in "
         "range(10**9)], daemon=True).start()\n"
         "threading.Thread(target=holder, daemon=True).start()\n"
         "time.sleep(1000)\n"});
    REQUIRE(child.line() == "ready");
    const auto target = test::live_target(child.pid());
    REQUIRE(target);
    Dumper dumper(target->input.target, {std::chrono::milliseconds(30000)});
    std::size_t waiting = 0;
    const ThreadDump* holder = nullptr;
    Result<Dump> dump = dumper.look();
    for (int tries = 0; tries < 200 && waiting < 2; ++tries) {
      usleep(20'000);
      dump = dumper.look();
      REQUIRE(dump);
      waiting = 0;
      for (const auto& thread : dump->threads) {
        holder = thread.python && thread.python->has_gil ? &thread : holder;
        waiting += thread.waits_for.kind == WaitTarget::Kind::gil ? 1U : 0U;
      }
    }
    CHECK(waiting >= 2);  // the main thread, too, before it has come to its sleep
    REQUIRE(holder != nullptr);
    CHECK(holder->python->frames.front().function == "holder");
    for (const auto& thread : dump->threads) {
      if (thread.waits_for.kind == WaitTarget::Kind::gil) {
        CHECK(thread.waits_for.owner == holder->id);
      }
    }
  }
}

TEST_CASE("dump: threads that wait for each other are a deadlock", "[live][dump]") {
  const auto program = test::compile("deadlock", R"(
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t all;
static void *take(void *a) {
  long i = (long)a;
  pthread_mutex_lock(&m[i]);
  pthread_barrier_wait(&all);
  pthread_mutex_lock(&m[(i + 1) % 3]);
  return 0;
}
static void *bystander(void *a) { pthread_mutex_lock(&m[0]); return a; }
int main(void) {
  pthread_t t;
  pthread_barrier_init(&all, 0, 4);
  for (long i = 0; i < 3; ++i) { pthread_create(&t, 0, take, (void *)i); char n[16]; sprintf(n, "taker-%ld", i); pthread_setname_np(t, n); }
  pthread_barrier_wait(&all);
  usleep(200000);
  pthread_create(&t, 0, bystander, 0);
  usleep(200000);
  puts("ready"); fflush(stdout);
  getchar();
  _exit(0);
}
)");
  Native native(program);
  Dumper dumper(native.target->input.target, {std::chrono::milliseconds(5000)});
  Result<Dump> dump = dumper.look();
  for (int tries = 0; tries < 50 && dump && dump->deadlocks.empty(); ++tries) {
    usleep(100'000);
    dump = dumper.look();
  }
  REQUIRE(dump);
  REQUIRE(dump->deadlocks.size() == 1);
  CHECK(dump->deadlocks[0].size() == 3);  // the bystander waits, but for no one who waits for it
  for (const auto id : dump->deadlocks[0]) {
    const auto thread = std::find_if(
        dump->threads.begin(), dump->threads.end(), [&](const auto& one) { return one.id == id; });
    REQUIRE(thread != dump->threads.end());
    CHECK(thread->name.starts_with("taker-"));
    CHECK(thread->waits_for.kind == WaitTarget::Kind::mutex);
  }
  const auto shown = test::run_tracso({"dump", std::to_string(native.child.pid())});
  CHECK(shown.status == 0);
  CHECK(test::contains(shown.out, "DEADLOCK"));
  CHECK(test::contains(shown.out, "waits for mutex 0x"));
}

TEST_CASE("dump: a target in epoll_wait is not interrupted", "[live][dump]") {
  const auto program = test::compile("in_epoll", R"(
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>
int main(void) {
  int e = epoll_create1(0), p[2];
  pipe(p);
  struct epoll_event v = {EPOLLIN, {0}};
  epoll_ctl(e, EPOLL_CTL_ADD, 0, &v);
  puts("ready"); fflush(stdout);
  int n = epoll_wait(e, &v, 1, -1);
  return n == 1 ? 0 : errno == EINTR ? 4 : 5;
}
)");
  Native native(program);
  Dumper dumper(native.target->input.target, {std::chrono::milliseconds(5000)});
  for (int i = 0; i < 200; ++i) {
    REQUIRE(dumper.look());
  }
  const auto dump = dumper.look();
  CHECK(dump->threads.at(0).call == "epoll_wait");
  CHECK(dump->python_version.empty());
  native.child.write("\n");
  CHECK(native.child.wait() == 0);
}

TEST_CASE("dump: turned bits neither crash it nor let it run on", "[live][dump]") {
  std::size_t partial = 0;  // of all of them: which bits are hit is luck
  for (const auto& python : every_python()) {
    INFO(python.label);
    test::Dumped dumped({python.program, test::tests_file("live/dump_target.py")});
    const unsigned seeds = std::getenv("TRACSO_LONG") != nullptr ? 400 : 9;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
      INFO("seed " << seed);
      const std::uint64_t one_in = std::uint64_t{1} << (5 + seed % 14);
      const auto damage = seed % 2 == 0 ? test::FlippingProcess::Damage::lasting
                                        : test::FlippingProcess::Damage::changing;
      test::FlippingProcess process(*dumped.target->input.target.process, seed, 0, damage);
      Dumper dumper({&process, dumped.target->input.target.files, nullptr},
                    {std::chrono::milliseconds(1000)});
      if (seed % 3 != 0) {
        REQUIRE(dumper.look());
      }
      process.flip_one_in(one_in);
      const auto start = std::chrono::steady_clock::now();
      const auto dump = dumper.look();
      CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
      REQUIRE(dump);
      CHECK(dump->threads.size() == 10);
      for (const auto& thread : dump->threads) {
        partial += thread.python && (thread.python->torn || !thread.python->whole) ? 1U : 0U;
      }
    }
  }
  CHECK(partial > 0);
}

TEST_CASE("dump: a document, several looks, and refusals", "[live][dump]") {
  test::Child child({test::python(), test::tests_file("live/dump_target.py")});
  REQUIRE(child.line() == "ready");
  const auto pid = std::to_string(child.pid());
  const auto one = test::run_tracso({"dump", "--json", pid});
  CHECK(one.status == 0);
  const auto document = nlohmann::json::parse(one.out);
  CHECK(document["schema"] == "tracso/1");
  CHECK(document["kind"] == "dump");
  REQUIRE(document["threads"].size() == 10);
  CHECK(document["threads"][0]["tid"] == child.pid());
  CHECK(document["threads"][0]["python"].size() == 1);
  const auto looks =
      test::run_tracso({"dump", "--json", "--count", "3", "--interval", "0.01", pid});
  CHECK(std::count(looks.out.begin(), looks.out.end(), '\n') == 3);
  CHECK(nlohmann::json::parse(looks.out.substr(0, looks.out.find('\n')))["kind"] == "dump");
  CHECK(test::run_tracso({"dump", "999999999"}).status == 3);
  CHECK(test::run_tracso({"dump", "none"}).status == 2);
  CHECK(test::run_tracso({"dump", "--interval", "x", pid}).status == 2);
}

// Three hundred stacks, and hardly any time.
TEST_CASE("dump: a limit that was reached is told", "[live][dump]") {
  test::Child child({test::python(),
                     "-c",
                     "import threading, time\n"
                     "def down(n):\n"
                     "  down(n - 1) if n else time.sleep(1000)\n"
                     "for _ in range(300):\n"
                     "  threading.Thread(target=down, args=(30,), daemon=True).start()\n"
                     "print('ready', flush=True); input()"});
  REQUIRE(child.line() == "ready");
  const auto pid = std::to_string(child.pid());
  const auto cut = test::run_tracso({"dump", "--json", "--timeout", "0.001", pid});
  CHECK(cut.status == 0);
  const auto codes = test::notice_codes(nlohmann::json::parse(cut.out));
  REQUIRE_FALSE(codes.empty());
  CHECK(codes.front() == "python-stacks-cut");
  const auto text = test::run_tracso({"dump", "--timeout", "0.001", pid});
  CHECK(text.out.find("within 0.001 s") != std::string::npos);
}
