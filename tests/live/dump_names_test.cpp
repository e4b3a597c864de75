// The names that a Python program gave its threads, against what it says itself.

#include "dump/dump.hpp"
#include "render/dump.hpp"
#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <map>
#include <string>

using namespace tracso;

namespace {

// Each Thread that lives: its number and name in one line of JSON. One thread is unknown to
// threading.
constexpr const char* program = R"(
import json, sys, threading, time, _thread
class Worker(threading.Thread):
    __slots__ = ('own',)
    def run(self):
        time.sleep(1000)
hold = lambda: time.sleep(1000)
made = [threading.Thread(target=hold, daemon=True),
        threading.Thread(target=hold, daemon=True, name='io\x1b[31m\u00fc\u4e16'),
        Worker(daemon=True, name='w' * 300)]
for one in made: one.start()
made[0].name = 'renamed later'
_thread.start_new_thread(hold, ())
names = {one.native_id: one.name for one in threading.enumerate()}
print(json.dumps(names), flush=True)
sys.stdin.read()
)";

}  // namespace

TEST_CASE("dump: threads have the names that their program gave them", "[live][dump]") {
  std::string tried;
  const auto pythons = test::pythons(&tried);
  INFO(tried);
  REQUIRE_FALSE(pythons.empty());
  for (const auto& python : pythons) {
    INFO(python.label);
    test::Child child({python.program, "-c", program});
    const auto line = child.line();
    REQUIRE(line);
    const auto told = nlohmann::json::parse(*line);
    REQUIRE(child.rests());
    const auto target = test::live_target(child.pid());
    REQUIRE(target);
    Dumper dumper(target->input.target, {std::chrono::milliseconds(30000)});
    const auto dump = dumper.look();
    REQUIRE(dump);
    CHECK(told.size() == 4);
    CHECK(dump->threads.size() == 5);
    std::size_t named = 0;
    for (const auto& thread : dump->threads) {
      const auto known = told.find(std::to_string(thread.id));
      CHECK(thread.python_name == (known == told.end() ? "" : known->get<std::string>()));
      named += thread.python_name.empty() ? 0 : 1;
    }
    CHECK(named == 4);
    const auto text = dump_text({}, *dump, Names::as_they_are);
    CHECK(text.find("MainThread") != std::string::npos);
    CHECK(text.find("renamed later") != std::string::npos);
    CHECK(text.find('\x1b') == std::string::npos);
  }
}
