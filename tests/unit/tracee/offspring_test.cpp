#include "tracee/offspring.hpp"

#include "support/catch.hpp"

using tracso::tracee::Offspring;

TEST_CASE("offspring: a process ends with its last thread, once", "[tracee]") {
  Offspring offspring;
  offspring.add(10, 10);
  offspring.add(11, 10);
  offspring.add(20, 20);
  CHECK(offspring.processes() == std::set<pid_t>{10, 20});
  CHECK_FALSE(offspring.ends(11, false));
  CHECK(offspring.ends(10, false));
  CHECK_FALSE(offspring.ends(10, true));
  CHECK(offspring.ends(20, false));
}

TEST_CASE("offspring: an exit of the main thread that takes all is the end", "[tracee]") {
  Offspring offspring;
  offspring.add(10, 10);
  offspring.add(11, 10);
  CHECK(offspring.ends(10, true));
  CHECK_FALSE(offspring.ends(11, true));
}

TEST_CASE("offspring: exec leaves one thread, whose end is to be told again", "[tracee]") {
  Offspring offspring;
  offspring.add(10, 10);
  offspring.add(11, 10);
  CHECK(offspring.ends(10, true));
  offspring.executed(10);
  CHECK_FALSE(offspring.has(11));
  CHECK(offspring.is_stopped(10));
  CHECK(offspring.ends(10, true));
}

TEST_CASE("offspring: a number that comes again is another process", "[tracee]") {
  Offspring offspring;
  offspring.add(10, 10);
  CHECK(offspring.ends(10, true));
  offspring.forget(10);
  CHECK(offspring.process_of(10) == 0);
  offspring.add(10, 10);
  CHECK(offspring.ends(10, true));
}
