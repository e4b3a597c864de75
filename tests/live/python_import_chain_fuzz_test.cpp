// Memory is hostile: bits turned at random in all that is read of a stack must not crash the
// reader, let it run on, or make it say more than it may.

#include "python/import_chain.hpp"
#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/flipping_process.hpp"
#include "support/python_target.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>

using namespace tracso;

namespace {

constexpr int depth = 40;

void write_modules(const test::Workshop& workshop) {
  for (int i = 0; i < depth; ++i) {
    workshop.write(fmt::format("n{}.py", i), fmt::format("import n{}\n", i + 1));
  }
  workshop.write(fmt::format("n{}.py", depth), "print('ready', flush=True)\ninput()\n");
}

struct Rounds {
  std::size_t whole = 0, partial = 0, none = 0;
};

// Reads the stack of a process with some of its bits turned: all the time, or since the interpreter
// was found.
void read_damaged(const ProbeInput& input, bool from_the_start, unsigned seed, Rounds& rounds) {
  // From hardly any to one byte in 32, so that deep and shallow parts are reached.
  const std::uint64_t one_in = std::uint64_t{1} << (5 + seed % 14);
  const auto damage = seed % 2 == 0 ? test::FlippingProcess::Damage::lasting
                                    : test::FlippingProcess::Damage::changing;
  test::FlippingProcess process(*input.target.process, seed, from_the_start ? one_in : 0, damage);
  python::ImportChainReader reader({&process, input.target.files, nullptr});
  const auto pid = process.pid();
  const auto start = std::chrono::steady_clock::now();
  if (!from_the_start) {
    CHECK(reader.chain({pid, 0, 0}).size() == depth + 2);
    CHECK(reader.incomplete_chains() == 0);
    process.flip_one_in(one_in);
  }
  const auto steps = reader.chain({pid, 0, 0});
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  CHECK(steps.size() <= 200);
  (steps.empty() ? rounds.none : steps.size() == depth + 2 ? rounds.whole : rounds.partial) += 1;
}

}  // namespace

TEST_CASE("import chain: turned bits neither crash it nor let it run on", "[live][python][chain]") {
  const auto pythons = test::pythons();
  REQUIRE_FALSE(pythons.empty());
  const test::Workshop workshop;
  write_modules(workshop);
  const bool is_long = std::getenv("TRACSO_LONG") != nullptr;
  const unsigned seeds = is_long ? 4000 : 140;
  for (const auto& python : pythons) {
    INFO(python.label);
    test::Child child({python.program,
                       "-c",
                       "import sys; sys.path.insert(0, '" + workshop.path("") + "'); import n0"});
    REQUIRE(child.line() == "ready");
    const auto target = test::live_target(child.pid());
    REQUIRE(target);
    Rounds rounds;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
      INFO("seed " << seed);
      read_damaged(target->input, seed % 3 == 0, seed, rounds);
    }
    WARN(python.label << ": " << rounds.whole << " of full length, " << rounds.partial
                      << " others, " << rounds.none << " empty");
    CHECK(rounds.partial > 0);
    CHECK(rounds.whole > 0);
  }
}
