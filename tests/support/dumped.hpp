#pragma once
// A program to be looked at by `tracso dump`.

#include "dump/dump.hpp"
#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"

#include <nlohmann/json.hpp>

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

/// Whether this build has native stacks; says it where not.
inline bool has_native() {
  if (!Dumper::has_native()) {
    WARN("NOT TRIED: this build has no native stacks");
  }
  return Dumper::has_native();
}

inline nlohmann::json native_dump(const std::string& pid) {
  const auto run = run_tracso({"dump", "--native", "--json", "--timeout", "30", pid});
  INFO(run.err);
  REQUIRE(run.status == 0);
  return nlohmann::json::parse(run.out);
}

}  // namespace tracso::test
