// Paths of a process with a root directory of its own.

#include "proc/root_prefix.hpp"

#include "support/catch.hpp"
#include "support/fake_target.hpp"

namespace tracso::proc {

TEST_CASE("root prefix: it is cut where it is a whole part of the path", "[proc][root]") {
  CHECK(without_prefix("/srv/jail/lib/x.so", "/srv/jail") == "/lib/x.so");
  CHECK(without_prefix("/srv/jail", "/srv/jail") == "/");
  CHECK(without_prefix("/srv/jailer/x.so", "/srv/jail") == "/srv/jailer/x.so");
  CHECK(without_prefix("/lib/x.so", "/srv/jail") == "/lib/x.so");
  CHECK(without_prefix("[heap]", "/srv/jail") == "[heap]");
  CHECK(without_prefix("/lib/x.so", "") == "/lib/x.so");
}

TEST_CASE("root prefix: a program outside of the root changed its root later", "[proc][root]") {
  test::FakeProcess process;
  process.links["root"] = "/srv/jail";
  process.links["exe"] = "/srv/jail/bin/app";
  CHECK(loading_prefix(process) == "/srv/jail");
  process.links["exe"] = "/usr/sbin/daemon";
  CHECK(root_prefix(process) == "/srv/jail");
  CHECK(is_locked_up(process, "/srv/jail"));
  CHECK(loading_prefix(process) == "");
  process.links["root"] = "/";
  CHECK(root_prefix(process) == "");
  process.links.erase("root");
  CHECK(root_prefix(process) == "");
}

}  // namespace tracso::proc
