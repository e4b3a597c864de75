// A FILE that the kernel would start in secure mode: judged by starting it as that user.

#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/scenario.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>

namespace tracso::test {
namespace {

constexpr unsigned nobody = 65534;

// exe needs libx.so, which LD_LIBRARY_PATH alone finds; everything readable for everyone.
struct Lab {
  TemporaryFolder folder;
  std::string exe, tracso, variable;

  Lab() : exe(folder / "exe"), tracso(folder / "tracso") {
    REQUIRE(::geteuid() == 0);
    REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
    REQUIRE(::mkdir((folder / "lib").c_str(), 0755) == 0);
    write_file(folder / "x.c", "int x(void) { return 0; }\n");
    write_file(folder / "e.c", "int x(void); int main(void) { return x(); }\n");
    REQUIRE(run_program({"gcc",
                         "-shared",
                         "-fPIC",
                         "-Wl,-soname,libx.so",
                         "-o",
                         folder / "lib/libx.so",
                         folder / "x.c"})
                .status == 0);
    REQUIRE(run_program({"gcc", "-o", exe, folder / "e.c", "-L" + folder / "lib", "-lx"}).status ==
            0);
    REQUIRE(run_program({"cp", test::tracso_binary(), tracso}).status == 0);
    variable = "LD_LIBRARY_PATH=" + folder / "lib";
  }

  void own(unsigned user, unsigned group, unsigned mode) const {
    REQUIRE(::chown(exe.c_str(), user, group) == 0);
    REQUIRE(::chmod(exe.c_str(), mode) == 0);
  }
};

// The variable reaches the last program only: setpriv is not to be disturbed by it.
ProgramRun run_as(unsigned user, const Lab& lab, std::vector<std::string> words) {
  std::vector<std::string> argv{"setpriv",
                                "--reuid=" + std::to_string(user),
                                "--regid=" + std::to_string(user),
                                "--clear-groups",
                                "env",
                                lab.variable};
  argv.insert(argv.end(), words.begin(), words.end());
  return run_program(argv);
}

void check_like_the_kernel(const Lab& lab, unsigned user, bool is_secure) {
  const ProgramRun real = run_as(user, lab, {lab.exe});
  INFO("really: " << real.err);
  CHECK((real.status != 0) == is_secure);
  const ProgramRun told = run_as(user, lab, {lab.tracso, "--json", lab.exe});
  INFO(told.err);
  CHECK((told.status != 0) == (real.status != 0));
  CHECK(contains(told.out, "\"secure-mode\"") == (real.status != 0));
  const auto all = nlohmann::json::parse(told.out);
  CHECK(node_named(all, "libx.so").at("state") == (is_secure ? "missing" : "current"));
}

}  // namespace

TEST_CASE("secure file: an ordinary program is not", "[live][secure]") {
  const Lab lab;
  lab.own(0, 0, 0755);
  check_like_the_kernel(lab, nobody, false);
}

TEST_CASE("secure file: the set-user-ID bit counts for who is not the owner", "[live][secure]") {
  const Lab lab;
  lab.own(0, 0, 04755);
  check_like_the_kernel(lab, nobody, true);
  check_like_the_kernel(lab, 0, false);
  lab.own(nobody, nobody, 04755);
  check_like_the_kernel(lab, nobody, false);
  check_like_the_kernel(lab, 0, true);
}

TEST_CASE("secure file: the set-group-ID bit counts, but not without the right to execute",
          "[live][secure]") {
  const Lab lab;
  lab.own(0, 0, 02755);
  check_like_the_kernel(lab, nobody, true);
  check_like_the_kernel(lab, 0, false);
  lab.own(0, 0, 02745);
  check_like_the_kernel(lab, nobody, false);
}

TEST_CASE("secure file: file capabilities count for who is not root", "[live][secure]") {
  const Lab lab;
  lab.own(0, 0, 0755);
  // struct vfs_cap_data, revision 2, effective: CAP_NET_RAW.
  const unsigned char attribute[20] = {1, 0, 0, 2, 0, 0x20, 0, 0};
  if (::setxattr(lab.exe.c_str(), "security.capability", attribute, sizeof attribute, 0) != 0) {
    WARN("not tried: this file system keeps no capabilities");
    return;
  }
  check_like_the_kernel(lab, nobody, true);
  check_like_the_kernel(lab, 0, false);
}

TEST_CASE("secure file: without new privileges the bits do not count", "[live][secure]") {
  const Lab lab;
  lab.own(0, 0, 04755);
  const std::vector<std::string> start{"setpriv",
                                       "--reuid=65534",
                                       "--regid=65534",
                                       "--clear-groups",
                                       "--no-new-privs",
                                       "env",
                                       lab.variable};
  auto real = start;
  real.push_back(lab.exe);
  CHECK(run_program(real).status == 0);
  auto told = start;
  told.insert(told.end(), {lab.tracso, lab.exe});
  CHECK(run_program(told).status == 0);
}

TEST_CASE("secure file: a library with the bit is no program", "[live][secure]") {
  const Lab lab;
  REQUIRE(::chmod((lab.folder / "lib/libx.so").c_str(), 04755) == 0);
  const ProgramRun told = run_as(nobody, lab, {lab.tracso, "--json", lab.folder / "lib/libx.so"});
  CHECK(told.status == 0);
  CHECK_FALSE(contains(told.out, "secure-mode"));
}

}  // namespace tracso::test
