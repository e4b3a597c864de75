#include "launch/loader_gate.hpp"

#include "support/catch.hpp"
#include "tracee/gate.hpp"

#include <chrono>
#include <thread>

using namespace tracso::launch;

TEST_CASE("loader gate: only a clock that the kernel goes by is good", "[launch]") {
  CHECK(is_steady_clock("tsc\n"));
  for (const auto* source :
       {"hpet\n", "acpi_pm\n", "kvm-clock\n", "xen\n", "arch_sys_counter\n", ""}) {
    CAPTURE(source);
    CHECK_FALSE(is_steady_clock(source));
  }
}

#if defined(__x86_64__)

TEST_CASE("loader gate: a stamp says when it was made", "[launch]") {
  using Clock = StampClock::Clock;
  const StampClock clock;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto before = Clock::now();
  const auto stamp = static_cast<std::uint32_t>(tracso::tracee::gate_clock().value());
  const auto after = Clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto time = clock.time_of(stamp);
  REQUIRE(time);
  constexpr std::chrono::microseconds blur{20};
  CHECK(*time >= before - blur);
  CHECK(*time <= after + blur);
}

#endif
