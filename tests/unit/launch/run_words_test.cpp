#include "launch/run.hpp"
#include "launch/spawn.hpp"
#include "support/catch.hpp"

#include <cerrno>
#include <set>

using namespace tracso;
using namespace tracso::launch;

TEST_CASE("run: every moment has a name of its own", "[launch][run]") {
  std::set<std::string_view> names;
  for (const MomentKind kind : {MomentKind::python_begin,
                                MomentKind::python_end,
                                MomentKind::exit_stop,
                                MomentKind::idle,
                                MomentKind::elapsed,
                                MomentKind::detached,
                                MomentKind::last_look}) {
    names.insert(moment_name(kind));
  }
  CHECK(names.size() == 7);
  CHECK_FALSE(names.contains(""));
}

TEST_CASE("run: a failed exec means what it means to a shell", "[launch][run]") {
  CHECK(exec_error(ENOENT, "nothing").kind == ErrorKind::not_found);
  CHECK(exec_error(ENOTDIR, "/a/b").kind == ErrorKind::not_found);
  CHECK(exec_error(EACCES, "/a/b").kind == ErrorKind::denied);
  CHECK(exec_error(EPERM, "/a/b").kind == ErrorKind::denied);
  CHECK(exec_error(ENOEXEC, "/a/b").kind == ErrorKind::denied);
  CHECK(exec_error(E2BIG, "/a/b").kind == ErrorKind::denied);
  CHECK(exec_error(ENOENT, "nothing").subject == "nothing");
  CHECK_FALSE(exec_error(EACCES, "/a/b").hint.empty());
}
