// Locks of Python that threads wait for.

#include "dump/dump.hpp"
#include "support/catch.hpp"
#include "support/dumped.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <algorithm>
#include <chrono>
#include <string>

using namespace tracso;

namespace {

// "ready" comes when every thread but the main one waits.
constexpr const char* deadlocked = R"(
import threading, time, sys
one, two, three = threading.RLock(), threading.RLock(), threading.RLock()
plain = threading.Lock()
plain.acquire()
barrier = threading.Barrier(3)
class Holder:
    def __init__(self, mine, other): self.mine, self.other = mine, other
    def by_with(self):
        with self.mine:
            barrier.wait()
            with self.other: pass
    def by_acquire(self):
        self.mine.acquire(); self.mine.acquire()
        barrier.wait()
        self.other.acquire(timeout=1000)
def on_plain():
    with plain: pass
def on_condition(c):
    with c: pass
def on_event(e): e.wait()
def thread(target, *arguments):
    threading.Thread(target=target, args=arguments, daemon=True).start()
thread(Holder(one, two).by_with)
thread(Holder(two, three).by_acquire)
thread(Holder(three, one).by_with)
thread(on_plain)
thread(on_event, threading.Event())
while barrier.n_waiting or threading.active_count() < 6: time.sleep(0.01)
time.sleep(0.3)
thread(on_condition, threading.Condition(two))
time.sleep(0.5)
print('ready', flush=True)
sys.stdin.readline()
)";

const ThreadDump& thread_with(const Dump& dump, const std::string& function) {
  const auto found =
      std::find_if(dump.threads.begin(), dump.threads.end(), [&](const ThreadDump& thread) {
        return thread.python && std::any_of(thread.python->frames.begin(),
                                            thread.python->frames.end(),
                                            [&](const StackFrame& frame) {
                                              return frame.function == function ||
                                                     frame.function.ends_with("." + function);
                                            });
      });
  REQUIRE(found != dump.threads.end());
  return *found;
}

// Later releases of 3.13 have a byte in the lock and park who waits elsewhere, as 3.14 does.
bool parks_locks(const std::string& python) {
  const auto size = test::run_program(
      {python, "-c", "import _thread; print(_thread.LockType.__basicsize__ < 32, end='')"});
  return size.out == "True";
}

}  // namespace

TEST_CASE("dump: locks of Python, their owners, and a deadlock of three", "[live][dump]") {
  std::string tried;
  for (const auto& python : test::pythons(&tried)) {
    INFO(python.label);
    test::Dumped dumped({python.program, "-c", deadlocked});
    test::Child& child = dumped.child;
    const auto dump = dumped.look();
    const auto& by_acquire = thread_with(*dump, "by_acquire");
    CHECK(by_acquire.waits_for.kind == WaitTarget::Kind::rlock);
    const auto next =
        std::find_if(dump->threads.begin(), dump->threads.end(), [&](const ThreadDump& thread) {
          return thread.id == by_acquire.waits_for.owner;
        });
    REQUIRE(next != dump->threads.end());
    CHECK(next->python->frames.front().function.ends_with("by_with"));
    CHECK(next->waits_for.kind == WaitTarget::Kind::rlock);
    CHECK(next->waits_for.owner != by_acquire.id);
    REQUIRE(dump->deadlocks.size() == 1);
    CHECK(dump->deadlocks[0].size() == 3);
    const auto& condition = thread_with(*dump, "on_condition");
    CHECK(condition.waits_for.kind == WaitTarget::Kind::rlock);
    CHECK(condition.waits_for.owner == by_acquire.id);
    CHECK(std::count(dump->deadlocks[0].begin(), dump->deadlocks[0].end(), condition.id) == 0);
    const bool parked = parks_locks(python.program);
    for (const char* function : {"on_plain", "on_event"}) {
      const auto& thread = thread_with(*dump, function);
      INFO(function);
      CHECK(thread.waits_for.kind == (parked ? WaitTarget::Kind::futex : WaitTarget::Kind::lock));
      CHECK(thread.waits_for.owner == 0);
    }
    const auto shown = test::run_tracso({"dump", std::to_string(child.pid())});
    CHECK(test::contains(shown.out, "DEADLOCK  "));
    CHECK(test::contains(shown.out, "  waits for threading.RLock 0x"));
    CHECK(test::contains(shown.out, " held by " + std::to_string(by_acquire.id)));
    CHECK(parked != test::contains(shown.out, "  waits for threading.Lock 0x"));
    CHECK(test::contains(shown.out, ", whose owner is not recorded"));
  }
}
