// The kernel's rule for secure mode, without a kernel.

#include "os/secure_start.hpp"

#include "support/catch.hpp"

namespace tracso::os {
namespace {

// struct vfs_cap_data, revision 2, with these permitted bits.
std::string capabilities(char flags, char permitted) {
  std::string bytes(20, '\0');
  bytes[0] = flags;
  bytes[3] = 2;
  bytes[5] = permitted;
  return bytes;
}

}  // namespace

TEST_CASE("secure start: ids that differ from those who start it", "[os][secure]") {
  const Starter user{1000, 1000, false};
  CHECK(secure_start({0100755, 0, 0, false, {}}, user) == "");
  CHECK(secure_start({0104755, 0, 0, false, {}}, user) ==
        "its set-user-ID bit makes it run as user 0, and you are user 1000");
  CHECK(secure_start({0104755, 0, 0, false, {}}, {0, 0, false}) == "");
  CHECK(secure_start({0104755, 1000, 0, false, {}}, user) == "");
  CHECK(secure_start({0102755, 0, 5, false, {}}, user) ==
        "its set-group-ID bit makes it run with group 5, and yours is 1000");
  CHECK(secure_start({0102745, 0, 5, false, {}}, user) == "");  // mandatory locking
  CHECK(secure_start({0104755, 0, 0, true, {}}, user) == "");   // mounted nosuid
  CHECK(secure_start({0104755, 0, 0, false, {}}, {1000, 1000, true}) == "");
}

TEST_CASE("secure start: file capabilities, but not for root", "[os][secure]") {
  const Starter user{1000, 1000, false};
  CHECK(secure_start({0100755, 0, 0, false, capabilities(1, 0x20)}, user) ==
        "it has file capabilities, and you are user 1000");
  CHECK(secure_start({0100755, 0, 0, false, capabilities(0, 0x20)}, user) != "");
  CHECK(secure_start({0100755, 0, 0, false, capabilities(0, 0)}, user) == "");
  CHECK(secure_start({0100755, 0, 0, false, capabilities(1, 0x20)}, {0, 0, false}) == "");
  CHECK(secure_start({0100755, 0, 0, true, capabilities(1, 0x20)}, user) == "");
  CHECK(secure_start({0100755, 0, 0, false, "x"}, user) == "");  // no header
}

}  // namespace tracso::os
