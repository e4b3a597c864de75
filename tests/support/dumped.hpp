#pragma once
// A program to be looked at by `tracso dump`.

#include "dump/dump.hpp"
#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tracso::test {

/// It has said "ready" in a line, and rests.
struct Dumped {
  explicit Dumped(const std::vector<std::string>& argv,
                  const std::vector<std::string>& environment = {})
      : child(argv, environment) {
    REQUIRE(child.line() == "ready");
    REQUIRE(child.rests());
    target = live_target(child.pid());
    REQUIRE(target);
    dumper.emplace(target->input.target, DumpOptions{std::chrono::milliseconds(30000)});
  }

  /// Never an error.
  Result<Dump> look() {
    auto dump = dumper->look();
    REQUIRE(dump);
    return dump;
  }

  Child child;
  std::optional<LiveTarget> target;
  std::optional<Dumper> dumper;
};

}  // namespace tracso::test
