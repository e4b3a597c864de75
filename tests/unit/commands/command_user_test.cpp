#include "commands/command_user.hpp"

#include "support/catch.hpp"

using namespace tracso;

namespace {

constexpr const char* passwd =
    "root:x:0:0:root:/root:/bin/sh\nbroken\nann:x:1000:1001:Ann:/home/ann:/bin/sh\n"
    "bad:x:-1:99999999999:::\n";
constexpr const char* group =
    "root:x:0:\nann:x:1001:\ndisk:x:6:bob,ann\nvideo:x:44:anna\naudio:x:29:ann\nbroken\n";

}  // namespace

TEST_CASE("command user: by name, with the groups that name it", "[calls]") {
  const auto ann = find_user("ann", passwd, group);
  REQUIRE(ann);
  CHECK(ann->user == 1000);
  CHECK(ann->group == 1001);
  CHECK(ann->groups == std::vector<gid_t>{1001, 6, 29});
  const auto by_number = find_user("1000", passwd, group);
  REQUIRE(by_number);
  CHECK(by_number->groups == ann->groups);
}

TEST_CASE("command user: a number needs no entry, a name does", "[calls]") {
  const auto number = find_user("65534", passwd, group);
  REQUIRE(number);
  CHECK(number->user == 65534);
  CHECK(number->group == 65534);
  CHECK(number->groups.empty());
  CHECK_FALSE(find_user("nobody", passwd, group));
  CHECK_FALSE(find_user("", passwd, group));
  CHECK_FALSE(find_user("-1", passwd, group));
  CHECK_FALSE(find_user("4294967295", passwd, group));
  CHECK_FALSE(find_user("bad", passwd, group));
  CHECK_FALSE(find_user("ann", "", ""));
}
