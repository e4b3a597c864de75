#include "calls/error_rules.hpp"

#include "agent/shared_layout.h"
#include "support/catch.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace tracso::calls {

TEST_CASE("error rules: the agent can search them by halves", "[calls]") {
  const auto rules = error_rules();
  CHECK(rules.size() <= tracso_most_error_rules);
  CHECK(std::is_sorted(rules.begin(), rules.end(), [](const ErrorRule& a, const ErrorRule& b) {
    return a.name < b.name;
  }));
  CHECK(std::adjacent_find(rules.begin(), rules.end(), [](const ErrorRule& a, const ErrorRule& b) {
          return a.name == b.name;
        }) == rules.end());
}

TEST_CASE("error rules: each form of a function fails as the function does", "[calls]") {
  const std::vector<std::pair<std::string_view, std::string_view>> pairs{
      {"statx", "stat"},
      {"__read_chk", "read"},
      {"__recv_chk", "recv"},
      {"getrandom", "read"},
      {"__dprintf_chk", "__fprintf_chk"},
      {"__asprintf_chk", "__fprintf_chk"},
      {"__vprintf_chk", "__vfprintf_chk"},
      {"__vsprintf_chk", "__vsnprintf_chk"},
      {"pthread_kill", "pthread_create"},
      {"PyModule_AddIntConstant", "PyModule_AddObject"}};
  for (const auto& [one, other] : pairs) {
    INFO(one << " " << other);
    CHECK(tells_errors(one));
    CHECK(error_rule(one) == error_rule(other));
  }
  CHECK_FALSE(tells_errors("strchr"));
  CHECK(error_rule("no_such_function") == tracso_never);
}

}  // namespace tracso::calls
