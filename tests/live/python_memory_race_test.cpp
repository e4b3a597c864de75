// A target that never stands still: what the probe gives must be true all the same.

#include "base/result.hpp"
#include "base/text.hpp"
#include "python/memory_probe.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/thread_stop.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <set>

using namespace tracso;

namespace {

struct Tally {
  int probes = 0, stops = 0;
  std::size_t rows = 0, wrong = 0, errors = 0, lost = 0;
  std::chrono::nanoseconds stopped{0}, longest_stop{0};
  std::string examples;
};

// "race17" must have the file and the origin of number 17.
bool is_true(const PythonModule& module) {
  if (module.name.rfind("race", 0) != 0) {
    return true;
  }
  const auto number = module.name.substr(4);
  const auto file = fmt::format("/race/{0}/file{0}.so", number);
  return parse_unsigned(number).has_value() && module.file == file && module.origin == file;
}

void judge(const PythonFacts& facts, Tally& tally) {
  std::set<std::string> names;
  for (const auto& module : facts.modules) {
    ++tally.rows;
    names.insert(module.name);
    if (!is_true(module)) {
      ++tally.wrong;
      tally.examples += fmt::format("\n  {} {} {}",
                                    printable(module.name),
                                    printable(module.file.value_or("(none)")),
                                    printable(module.origin));
    }
  }
  for (const char* name : {"sys", "builtins", "threading", "random", "types"}) {
    tally.lost += names.count(name) == 0 ? 1 : 0;
  }
  tally.stops += facts.stopped.count() > 0 ? 1 : 0;
  tally.stopped += facts.stopped;
  tally.longest_stop = std::max(tally.longest_stop, facts.stopped);
}

Tally race(const test::Python& python, int probes) {
  test::Child child({python.program, test::tests_file("live/python_memory_race.py"), "40", "2"});
  REQUIRE(child.line() == "ready");
  const auto probe = python::make_memory_probe(test::stop_threads);
  Tally tally;
  for (; tally.probes < probes; ++tally.probes) {
    auto target = test::live_target(child.pid());
    REQUIRE(target);
    const auto facts = probe->probe(target->input);
    if (facts) {
      judge(*facts, tally);
    } else {
      ++tally.errors;
      tally.examples += "\n  " + sentence(facts.error());
    }
  }
  return tally;
}

}  // namespace

TEST_CASE("memory probe: modules that come and go are never mixed up", "[live][python]") {
  const bool is_long = std::getenv("TRACSO_LONG") != nullptr;
  const auto pythons = test::pythons();
  REQUIRE_FALSE(pythons.empty());
  const int probes = (is_long ? 10000 : 300) / static_cast<int>(pythons.size()) + 1;
  for (const auto& python : pythons) {
    const auto tally = race(python, probes);
    const auto stops = std::max(tally.stops, 1);
    WARN(
        fmt::format("{}: {} probes, {} rows, {} wrong, {} errors, {} stopped, {:.1f} ms each, "
                    "longest {:.1f} ms{}",
                    python.label,
                    tally.probes,
                    tally.rows,
                    tally.wrong,
                    tally.errors,
                    tally.stops,
                    static_cast<double>(tally.stopped.count()) / 1e6 / stops,
                    static_cast<double>(tally.longest_stop.count()) / 1e6,
                    tally.examples.substr(0, 1000)));
    CHECK(tally.rows > 0);
    CHECK(tally.wrong == 0);
    CHECK(tally.errors == 0);
    CHECK(tally.lost == 0);
  }
}

TEST_CASE("memory probe: without a way to stop it a racing target is refused", "[live][python]") {
  const auto python = test::pythons().front();
  test::Child child({python.program, test::tests_file("live/python_memory_race.py"), "40", "2"});
  REQUIRE(child.line() == "ready");
  // Sometimes two readings agree by luck, on a busy machine nearly always; a wrong row never
  // passes.
  Tally tally;
  for (int i = 0; i < 20 || (tally.errors == 0 && i < 1000); ++i) {
    auto target = test::live_target(child.pid());
    REQUIRE(target);
    const auto facts = python::make_memory_probe()->probe(target->input);
    if (facts) {
      judge(*facts, tally);
    } else {
      ++tally.errors;
      CHECK(facts.error().kind == ErrorKind::interrupted);
      CHECK(facts.error().reason == "modules come and go faster than they can be read");
    }
  }
  CHECK(tally.wrong == 0);
  CHECK(tally.stops == 0);
  CHECK(tally.errors > 0);
}
