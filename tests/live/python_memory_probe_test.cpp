// The memory probe against what living interpreters say of themselves.

#include "base/result.hpp"
#include "base/text.hpp"
#include "python/memory_probe.hpp"
#include "support/catch.hpp"
#include "support/python_truth.hpp"

#include <fmt/format.h>

using namespace tracso;

namespace {

void check_against_truth(const test::Python& python, const std::vector<std::string>& options) {
  test::Child child(test::truth_command(python.program, options));
  const auto truth = test::read_truth(child);
  INFO(python.program << " " << python.label);
  REQUIRE(truth);
  auto target = test::live_target(child.pid());
  REQUIRE(target);
  const auto facts = python::make_memory_probe()->probe(target->input);
  if (!facts) {
    FAIL_CHECK(sentence(facts.error()));
    return;
  }
  CHECK(test::first_difference(facts->modules, *truth) == "");
  CHECK(truth->size() > 200);
  CHECK(python.label.rfind(facts->version, 0) == 0);
  CHECK(facts->implementation == "cpython");
  CHECK(facts->probe == "memory");
  CHECK(facts->stopped.count() == 0);
  CHECK_FALSE(facts->code_executed);
  CHECK(facts->complete);
  const auto minor = parse_unsigned(split(facts->version, '.')[1]).value_or(0);
  CHECK(facts->detail == (minor >= 13 ? "debug offsets" : fmt::format("table 3.{}", minor)));
}

}  // namespace

TEST_CASE("memory probe: every Python here is read row by row as it sees itself",
          "[live][python]") {
  std::string tried;
  const auto pythons = test::pythons(&tried);
  WARN("Pythons tried:" << tried);
  REQUIRE_FALSE(pythons.empty());
  for (const auto& python : pythons) {
    check_against_truth(python, {});
  }
}

TEST_CASE("memory probe: a zoo of odd modules is read without running any code", "[live][python]") {
  for (const auto& python : test::pythons()) {
    check_against_truth(python, {"--zoo"});
  }
}

TEST_CASE("memory probe: twenty thousand modules are no trouble", "[live][python]") {
  for (const auto& python : test::pythons()) {
    check_against_truth(python, {"--extra", "20000"});
  }
}
