// Inferred importers against what an audit hook saw.

#include "base/result.hpp"
#include "base/text.hpp"
#include "python/importers.hpp"
#include "python/memory_probe.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_truth.hpp"

#include <fmt/format.h>

#include <map>

using namespace tracso;

namespace {

struct Importing {
  std::string module;
  std::uint64_t line = 0;
};

std::map<std::string, Importing> read_seen(test::Child& child) {
  std::map<std::string, Importing> seen;
  for (auto line = child.line(); line && *line != "end"; line = child.line()) {
    const auto words = split(*line, ' ');
    REQUIRE(words.size() == 3);
    seen.emplace(std::string(words[0]),
                 Importing{std::string(words[1]), parse_unsigned(words[2]).value_or(0)});
  }
  return seen;
}

}  // namespace

TEST_CASE("importers: most inferred ones are the true ones, to the line", "[live][python]") {
  for (const auto& python : test::pythons()) {
    INFO(python.program << " " << python.label);
    auto argv = test::truth_command(python.program);
    argv[1] = test::tests_file("live/python_memory_importers.py");
    test::Child child(argv);
    const auto seen = read_seen(child);
    REQUIRE(seen.size() > 5);
    auto target = test::live_target(child.pid());
    REQUIRE(target);
    const auto facts = python::make_memory_probe()->probe(target->input);
    REQUIRE(facts);
    std::size_t right = 0, inferred = 0;
    std::string wrong;
    for (const auto& import : python::infer_importers(facts->modules, *target->files).imports) {
      const auto truth = seen.find(import.extension);
      if (truth == seen.end()) {
        continue;  // loaded before the hook was there
      }
      ++inferred;
      const bool same = truth->second.module == import.module && truth->second.line == import.line;
      right += same ? 1 : 0;
      if (!same) {
        wrong += fmt::format("\n  {}: inferred {}:{}, true {}:{}",
                             import.extension,
                             import.module,
                             import.line,
                             truth->second.module,
                             truth->second.line);
      }
    }
    WARN(fmt::format("{}: {} extension modules, {} inferred, {} right{}",
                     python.label,
                     seen.size(),
                     inferred,
                     right,
                     wrong));
    CHECK(right * 10 >= inferred * 8);
    CHECK(inferred * 10 >= seen.size() * 6);
  }
}
