// "A restart would load another file" is said only where everything is known that decides it.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/scenario.hpp"

#include <algorithm>

namespace tracso::test {
namespace {

// Changes its directory to the first argument, clears its environment if there is a second.
constexpr const char* mover_source = R"(
#include <stdio.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(int count, char **words) {
  if (count > 1 && chdir(words[1])) return 1;
  if (count > 2) for (char **at = environ; *at; at++) memset(*at, words[2][0] - '0', strlen(*at));
  puts("READY");
  fflush(stdout);
  char byte;
  while (read(0, &byte, 1) > 0) {}
  return 0;
}
)";

struct Lab {
  Workshop shop;

  Lab() {
    REQUIRE(shop.run("mkdir -p one other/one store links"));
    shop.library("one/libx.so", "-Wl,-soname,libx.so");
    shop.library("other/one/libx.so", "-Wl,-soname,libx.so");
    shop.write("mover.c", mover_source);
    REQUIRE(shop.run("gcc -w -o mover mover.c -Wl,--no-as-needed -Lone -lx"));
    REQUIRE(
        shop.run("cp one/libx.so store/libx-1.2.so && ln -s ../store/libx-1.2.so links/libx.so"));
  }

  // By a shell in that directory, which sets PWD; `command` is all of the shell's.
  Reporter start(const std::string& command) const {
    return Reporter({"/bin/sh", "-c", "cd '" + shop.path("") + "' && " + command});
  }
};

bool has_notice(const nlohmann::json& all, const std::string& code) {
  const auto codes = notice_codes(all);
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

nlohmann::json edge_to(const nlohmann::json& all, const std::string& name) {
  const auto node = node_named(all, name);
  REQUIRE(node.is_object());
  const auto edges = edges_into(all, node.at("id"));
  REQUIRE(!edges.empty());
  return edges.front();
}

}  // namespace

TEST_CASE("restart: a relative path is followed from where the process was then",
          "[live][restart]") {
  const Lab lab;
  // Where it is now, another file stands at that name.
  const Reporter mover = lab.start("LD_LIBRARY_PATH=one exec ./mover other");
  REQUIRE(mover.ready);
  const auto all = document({std::to_string(mover.child.pid())});
  CHECK(node_named(all, "libx.so").at("path") == lab.shop.path("one/libx.so"));
  const auto edge = edge_to(all, "libx.so");
  CHECK(edge.at("rule") == "env");
  CHECK(edge.at("detail") == "cwd");
  CHECK_FALSE(contains(all.dump(), "a restart would"));
  CHECK_FALSE(has_notice(all, "restart-unknown"));
}

TEST_CASE("restart: where the directory is not on record nothing is said, and that is said",
          "[live][restart]") {
  const Lab lab;
  const Reporter mover = lab.start("exec env -u PWD -u OLDPWD LD_LIBRARY_PATH=links '" +
                                   lab.shop.path("mover") + "' /");
  REQUIRE(mover.ready);
  const std::string pid = std::to_string(mover.child.pid());
  const auto all = document({pid});
  CHECK(node_named(all, "libx.so").at("path") == lab.shop.path("store/libx-1.2.so"));
  CHECK_FALSE(contains(all.dump(), "a restart would"));
  CHECK(has_notice(all, "restart-unknown"));
  const ProgramRun why = run_tracso({"--why", "libx.so", pid});
  INFO(why.out);
  CHECK(contains(why.out, "working directory at its load is not on record"));
  CHECK_FALSE(contains(why.out, "restart would"));
}

TEST_CASE("restart: a cleared or overwritten environment gives no verdict", "[live][restart]") {
  const Lab lab;
  for (const char* fill : {"0", "1"}) {
    CAPTURE(fill);
    const Reporter mover =
        lab.start("LD_LIBRARY_PATH='" + lab.shop.path("one") + "' exec ./mover . " + fill);
    REQUIRE(mover.ready);
    const std::string pid = std::to_string(mover.child.pid());
    const auto all = document({pid});
    CHECK(has_notice(all, "environment-overwritten"));
    CHECK_FALSE(contains(all.dump(), "a restart would"));
    CHECK(edge_to(all, "libx.so").at("rule").is_null());
    CHECK(edge_to(all, "libc.so.6").at("rule") == "cache");
    const std::string file = lab.shop.path("recording.tar.gz");
    REQUIRE(run_tracso({"record", pid, "-o", file}).status == 0);
    const auto replayed = document({"--from", file});
    CHECK(has_notice(replayed, "environment-overwritten"));
    CHECK_FALSE(contains(replayed.dump(), "a restart would"));
  }
}

TEST_CASE("restart: a library that a caller's RUNPATH leads to is found", "[live][restart]") {
  const Lab lab;
  REQUIRE(lab.shop.run("mkdir -p plug/inner"));
  lab.shop.library("plug/inner/libinner.so", "-Wl,-soname,libinner.so");
  lab.shop.write("plug/caller.c",
                 "#include <dlfcn.h>\n__attribute__((constructor)) static void load(void) { "
                 "dlopen(\"libinner.so\", RTLD_NOW); }\n");
  REQUIRE(
      lab.shop.run("gcc -shared -fPIC -o plug/libcaller.so plug/caller.c "
                   "-Wl,-rpath,'$ORIGIN/inner'"));
  const std::string program = lab.shop.reporter("reporter");
  const Reporter reporter({program, lab.shop.path("plug/libcaller.so")});
  REQUIRE(reporter.ready);
  const auto all = document({std::to_string(reporter.child.pid())});
  CHECK(node_named(all, "libinner.so").at("path") == lab.shop.path("plug/inner/libinner.so"));
  CHECK(edge_to(all, "libinner.so").at("rule") == "runpath");
  CHECK_FALSE(contains(all.dump(), "a restart would"));
}

TEST_CASE("restart: a library that is really gone is still said to be", "[live][restart]") {
  const Lab lab;
  const Reporter mover = lab.start("LD_LIBRARY_PATH='" + lab.shop.path("one") + "' exec ./mover /");
  REQUIRE(mover.ready);
  REQUIRE(lab.shop.run("rm one/libx.so"));
  const auto all = document({std::to_string(mover.child.pid())});
  CHECK(contains(all.dump(), "a restart would not find it"));
}

}  // namespace tracso::test
