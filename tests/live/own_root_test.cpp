// Processes with a root directory of their own, in our mount namespace: paths are those of the
// process.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/scenario.hpp"

#include <unistd.h>

namespace tracso::test {
namespace {

nlohmann::json first_edge_to(const nlohmann::json& all, const std::string& name) {
  const auto node = node_named(all, name);
  REQUIRE(node.is_object());
  for (const auto& edge : edges_into(all, node.at("id"))) {
    if (edge.at("first") == true) {
      return edge;
    }
  }
  return edges_into(all, node.at("id")).front();
}

// A tree with a program, its loader, the C library, and a library that only its RUNPATH finds.
struct Jail {
  Workshop shop;
  std::string root;

  Jail() : root(shop.path("jail")) {
    REQUIRE(::geteuid() == 0);  // chroot(2)
    REQUIRE(shop.run("mkdir -p jail/lib64 jail/lib/x86_64-linux-gnu jail/app/lib empty"));
    REQUIRE(
        shop.run("cp /lib64/ld-linux-x86-64.so.2 jail/lib64/ && "
                 "cp /lib/x86_64-linux-gnu/libc.so.6 jail/lib/x86_64-linux-gnu/"));
    shop.library("jail/app/lib/libx.so", "-Wl,-soname,libx.so");
    shop.reporter("jail/app/program", "-Ljail/app/lib -lx -Wl,-rpath,/app/lib");
  }
};

}  // namespace

TEST_CASE("own root: paths, rules and restart are told as the process sees them",
          "[live][own-root]") {
  const Jail jail;
  const Reporter reporter({"chroot", jail.root, "/app/program"});
  REQUIRE(reporter.ready);
  const std::string pid = std::to_string(reporter.child.pid());
  for (const char* reader : {"native", "readelf"}) {
    CAPTURE(reader);
    const auto all = document({pid, "--elf", reader});
    CHECK(all.at("process").at("exe") == "/app/program");
    CHECK(node_named(all, "libx.so").at("path") == "/app/lib/libx.so");
    CHECK(node_named(all, "libx.so").at("state") == "current");
    CHECK(first_edge_to(all, "libx.so").at("rule") == "runpath");
    CHECK(node_named(all, "libc.so.6").at("path") == "/lib/x86_64-linux-gnu/libc.so.6");
    CHECK(first_edge_to(all, "libc.so.6").at("rule") == "default");
    CHECK_FALSE(contains(all.dump(), "a restart would"));
    CHECK_FALSE(contains(all.dump(), jail.root));
  }
  const std::string file = jail.shop.path("recording.tar.gz");
  REQUIRE(run_tracso({"record", pid, "-o", file}).status == 0);
  const auto replayed = document({"--from", file});
  CHECK(node_named(replayed, "libx.so").at("path") == "/app/lib/libx.so");
  CHECK(first_edge_to(replayed, "libc.so.6").at("rule") == "default");
}

TEST_CASE("own root: without /proc in it $ORIGIN of the program has no value", "[live][own-root]") {
  const Jail jail;
  REQUIRE(jail.shop.run("mkdir jail/app/other && cp jail/app/lib/libx.so jail/app/other/"));
  jail.shop.reporter("jail/app/wanderer", "-Ljail/app/lib -lx -Wl,-rpath,'$ORIGIN/other:/app/lib'");
  const Reporter reporter({"chroot", jail.root, "/app/wanderer"});
  REQUIRE(reporter.ready);
  const auto all = document({std::to_string(reporter.child.pid())});
  // The loader's own word: it did not find the first.
  CHECK(node_named(all, "libx.so").at("path") == "/app/lib/libx.so");
  CHECK(first_edge_to(all, "libx.so").at("rule") == "runpath");
  CHECK_FALSE(contains(all.dump(), "a restart would"));
}

TEST_CASE("own root: a file that is gone from the tree is deleted, not current",
          "[live][own-root]") {
  const Jail jail;
  const Reporter reporter({"chroot", jail.root, "/app/program"});
  REQUIRE(reporter.ready);
  REQUIRE(jail.shop.run("rm jail/app/lib/libx.so"));
  const auto all = document({std::to_string(reporter.child.pid())});
  CHECK(node_named(all, "libx.so").at("path") == "/app/lib/libx.so");
  CHECK(node_named(all, "libx.so").at("state") == "deleted");
  CHECK(contains(all.dump(), "a restart would not find it"));
}

TEST_CASE("own root: who locks itself up after the start loaded from the outer root",
          "[live][own-root]") {
  const Jail jail;
  jail.shop.write("locker.c",
                  "#include <stdio.h>\n#include <unistd.h>\nint main(int n, char **w) {\n"
                  "  if (chroot(w[1]) || chdir(\"/\")) return n;\n"
                  "  puts(\"READY\"); fflush(stdout);\n"
                  "  char byte; while (read(0, &byte, 1) > 0) {}\n  return 0;\n}\n");
  REQUIRE(
      jail.shop.run("mkdir lib && cp jail/app/lib/libx.so lib/ && gcc -w -o locker locker.c "
                    "-Wl,--no-as-needed -Llib -lx -Wl,-rpath,'$ORIGIN/lib'"));
  const Reporter reporter({jail.shop.path("locker"), jail.shop.path("empty")});
  REQUIRE(reporter.ready);
  const auto all = document({std::to_string(reporter.child.pid())});
  CHECK(node_named(all, "libx.so").at("path") == jail.shop.path("lib/libx.so"));
  CHECK(first_edge_to(all, "libx.so").at("rule") == "runpath");
  CHECK(first_edge_to(all, "libc.so.6").at("rule") == "cache");
  CHECK_FALSE(contains(all.dump(), "a restart would"));
}

}  // namespace tracso::test
