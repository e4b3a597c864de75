#include "calls/system_calls.hpp"

#include "calls/prototype_finder.hpp"
#include "calls/prototypes.hpp"
#include "support/catch.hpp"

#include <sys/syscall.h>

#include <string>

using namespace tracso::calls;

#if defined(__x86_64__)
TEST_CASE("system calls: named by the kernel's numbers, arguments known", "[calls]") {
  CHECK(system_call_name(SYS_openat) == "SYS_openat");
  CHECK(system_call_name(SYS_exit_group) == "SYS_exit_group");
  CHECK(system_call_name(SYS_statx) == "SYS_statx");
  CHECK(system_call_name(999) == "SYS_999");
  CHECK(system_call_name(~std::uint64_t{0}) == "SYS_18446744073709551615");
  std::size_t known = 0;
  for (std::uint64_t number = 0; number < 500; ++number) {
    const auto name = system_call_name(number);
    if (name != "SYS_" + std::to_string(number)) {
      ++known;
      INFO(name);
      CHECK(Prototypes::built_in().find(name) != nullptr);
    }
  }
  CHECK(known > 350);
  const auto* open = Prototypes::built_in().find("SYS_openat");
  REQUIRE(open != nullptr);
  REQUIRE(open->arguments.size() == 4);
  CHECK(open->arguments[0].role == Role::enumeration);
  CHECK(open->arguments[1].role == Role::text);
}
#endif

TEST_CASE("system calls: the agent is not asked to copy anything for them", "[calls]") {
  for (const auto& rule : PrototypeFinder().capture_rules()) {
    CHECK_FALSE(std::string(static_cast<const char*>(rule.name)).starts_with("SYS_"));
  }
}
