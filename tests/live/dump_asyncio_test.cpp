// Tasks of asyncio in tracso dump against what each Python says of them itself.

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

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace tracso;

namespace {

// Name, then "file:line function" of each coroutine.
using Told = std::multiset<std::vector<std::string>>;

Told told_by_itself(test::Child& child) {
  Told told;
  std::vector<std::string> task;
  for (auto line = child.line(); line; line = child.line()) {
    const bool begins = line->starts_with("task ");
    if ((begins || *line == "end") && !task.empty()) {
      told.insert(std::move(task));
      task.clear();
    }
    if (*line == "end") {
      break;
    }
    task.push_back(begins ? line->substr(line->find(' ', 5) + 1) : *line);
  }
  return told;
}

// Qualified names are ours alone: only the last part is compared.
Told told_by_us(const Dump& dump) {
  Told told;
  for (const auto& task : dump.asyncio->tasks) {
    std::vector<std::string> lines{task.name};
    for (const auto& frame : task.frames) {
      lines.push_back(frame.file + ":" + std::to_string(frame.line) + " " +
                      frame.function.substr(frame.function.rfind('.') + 1));
    }
    told.insert(std::move(lines));
  }
  return told;
}

const AsyncTask& task_named(const Dump& dump, const std::string& name) {
  const auto found = std::find_if(dump.asyncio->tasks.begin(),
                                  dump.asyncio->tasks.end(),
                                  [&](const AsyncTask& task) { return task.name == name; });
  REQUIRE(found != dump.asyncio->tasks.end());
  return *found;
}

}  // namespace

TEST_CASE("dump: tasks of asyncio as the Python tells them, on every Python", "[live][dump]") {
  std::string tried;
  std::size_t compared = 0;
  for (const auto& python : test::pythons(&tried)) {
    INFO(python.label);
    test::Dumped dumped({python.program, test::tests_file("live/asyncio_target.py")},
                        {"PYTHONIOENCODING=utf-8"});
    test::Child& child = dumped.child;
    const auto dump = dumped.look();
    REQUIRE(dump->asyncio);
    CHECK(dump->asyncio->whole);
    CHECK(dump->asyncio->others == 0);
    CHECK(dump->notices.empty());
    for (const auto& task : dump->asyncio->tasks) {
      INFO(task.name);
      CHECK_FALSE(task.torn);
      CHECK(task.whole);
      CHECK(task.state == AsyncTask::State::waits);
      CHECK((task.thread == child.pid()) == (task.frames.back().function != "other"));
      CHECK(task.thread != 0);
    }
    CHECK(task_named(*dump, "waiter").awaits == "_asyncio.Task");
    CHECK(task_named(*dump, "waiter").awaits_task == "service");
    CHECK(task_named(*dump, "gathers").awaits == "_GatheringFuture");
    CHECK(task_named(*dump, "service").awaits == "_asyncio.Future");
    child.write("\n");
    const auto expected = told_by_itself(child);
    CHECK(expected.size() == 12);
    CHECK(told_by_us(*dump) == expected);
    ++compared;
  }
  CHECK(compared > 0);
}

TEST_CASE("dump: what an asyncio task does at the moment", "[live][dump]") {
  std::string tried;
  for (const auto& python : test::pythons(&tried)) {
    INFO(python.label);
    // The loop is busy inside of one task; another has not begun, a third could go on.
    test::Child child(
        {python.program,
         "-c",
         "import asyncio, sys\n"
         "async def ready(): await asyncio.sleep(0); await asyncio.sleep(0)\n"
         "async def busy():\n"
         "  asyncio.get_running_loop().create_task(asyncio.sleep(0)).set_name('new')\n"
         "  print('ready', flush=True)\n"
         "  sys.stdin.readline()\n"
         "async def main():\n"
         "  other = asyncio.get_running_loop().create_task(ready())\n"
         "  other.set_name('other')\n"
         "  await asyncio.sleep(0)\n"
         "  await busy()\n"
         "asyncio.run(main())\n"});
    REQUIRE(child.line() == "ready");
    REQUIRE(child.rests());
    const auto target = test::live_target(child.pid());
    REQUIRE(target);
    Dumper dumper(target->input.target, {std::chrono::milliseconds(30000)});
    const auto dump = dumper.look();
    REQUIRE(dump);
    REQUIRE(dump->asyncio);
    REQUIRE(dump->asyncio->tasks.size() == 3);
    CHECK(task_named(*dump, "new").state == AsyncTask::State::created);
    CHECK(task_named(*dump, "other").state == AsyncTask::State::ready);
    CHECK(task_named(*dump, "other").awaits.empty());
    const auto& main = task_named(*dump, "Task-1");
    CHECK(main.state == AsyncTask::State::runs);
    CHECK(main.frames.back().function == "main");
    const auto shown = test::run_tracso({"dump", std::to_string(child.pid())});
    CHECK(test::contains(shown.out, "   Task-1  runs in " + std::to_string(child.pid())));
    CHECK(test::contains(shown.out, "   new  has not begun\n"));
    CHECK(test::contains(shown.out, "   other  is ready: its loop runs it next\n"));
    child.write("\n");
    CHECK(child.wait() == 0);
  }
}

TEST_CASE("dump: asyncio in the document; none where it is not loaded", "[live][dump]") {
  test::Child child({test::python(), test::tests_file("live/asyncio_target.py")});
  REQUIRE(child.line() == "ready");
  const auto run = test::run_tracso({"dump", "--json", std::to_string(child.pid())});
  const auto document = nlohmann::json::parse(run.out);
  REQUIRE(document["asyncio"]["tasks"].size() == 12);
  CHECK(document["asyncio"]["whole"] == true);
  for (const auto& task : document["asyncio"]["tasks"]) {
    if (task["name"] == "waiter") {
      CHECK(task["awaits_task"] == "service");
      CHECK(task["state"] == "waits");
      CHECK(task["tid"] == child.pid());
      CHECK(task["frames"][0]["function"] == "on_task");
    }
  }
  test::Child plain({test::python(),
                     "-c",
                     "import sys, types\n"
                     "sys.modules['greenlet'] = types.ModuleType('greenlet')\n"
                     "print('ready', flush=True); input()"});
  REQUIRE(plain.line() == "ready");
  const auto other =
      nlohmann::json::parse(test::run_tracso({"dump", "--json", std::to_string(plain.pid())}).out);
  CHECK(other["asyncio"].is_null());
  CHECK(test::notice_codes(other) == std::vector<std::string>{"greenlets"});
}

TEST_CASE("dump: turned bits in asyncio tasks neither crash it nor let it run on", "[live][dump]") {
  test::Dumped dumped({test::python(), test::tests_file("live/asyncio_target.py")});
  std::size_t partial = 0;
  for (unsigned seed = 1; seed <= 24; ++seed) {
    INFO("seed " << seed);
    const auto damage = seed % 2 == 0 ? test::FlippingProcess::Damage::lasting
                                      : test::FlippingProcess::Damage::changing;
    test::FlippingProcess process(*dumped.target->input.target.process, seed, 0, damage);
    Dumper dumper({&process, dumped.target->input.target.files, nullptr},
                  {std::chrono::milliseconds(1000), seed % 4 == 0});
    REQUIRE(dumper.look());
    process.flip_one_in(std::uint64_t{1} << (6 + seed % 12));
    const auto start = std::chrono::steady_clock::now();
    const auto dump = dumper.look();
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
    REQUIRE(dump);
    const bool all = dump->asyncio && dump->asyncio->whole && dump->asyncio->tasks.size() == 12;
    partial += all ? 0U : 1U;
  }
  CHECK(partial > 0);
}

// Three hundred tasks that go on all the time.
TEST_CASE("dump: tasks that change while they are read are marked or agree", "[live][dump]") {
  test::Child child(
      {test::python(),
       "-c",
       "import asyncio\n"
       "async def inner(n): await asyncio.sleep(0.001 * (n % 7))\n"
       "async def work(n):\n"
       "  while True: await inner(n)\n"
       "async def main():\n"
       "  tasks = [asyncio.get_running_loop().create_task(work(n)) for n in range(300)]\n"
       "  print('ready', flush=True)\n"
       "  await tasks[0]\n"
       "asyncio.run(main())\n"});
  REQUIRE(child.line() == "ready");
  const auto target = test::live_target(child.pid());
  REQUIRE(target);
  Dumper dumper(target->input.target, {std::chrono::milliseconds(30000)});
  std::set<std::string> seen;
  std::size_t torn = 0;
  for (int i = 0; i < 20; ++i) {
    const auto dump = dumper.look();
    REQUIRE(dump);
    REQUIRE(dump->asyncio);
    for (const auto& task : dump->asyncio->tasks) {
      torn += task.torn ? 1U : 0U;
      if (task.torn || !task.whole) {
        continue;
      }
      // Whatever is not marked is a chain that can be.
      std::string chain;
      for (const auto& frame : task.frames) {
        chain += frame.function + " ";
      }
      seen.insert(chain);
    }
  }
  const std::set<std::string> possible{
      "work ", "inner work ", "sleep inner work ", "main ", "__sleep0 sleep inner work "};
  for (const auto& chain : seen) {
    INFO(chain);
    CHECK(possible.contains(chain));
  }
  CHECK(torn > 0);
}
