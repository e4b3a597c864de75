// A process that was started as "ld.so OPTIONS ./program": the options decide, and the report says
// so.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/scenario.hpp"

#include <algorithm>

namespace tracso::test {
namespace {

constexpr const char* interpreter = "/lib64/ld-linux-x86-64.so.2";

// exe needs libx.so, which lies in one/ and two/, and has no path of its own.
struct Lab {
  Workshop shop;
  std::string exe;

  Lab() {
    REQUIRE(shop.run("mkdir one two three"));
    shop.library("one/libx.so", "-Wl,-soname,libx.so");
    shop.library("two/libx.so", "-Wl,-soname,libx.so");
    shop.library("libp.so", "-Wl,-soname,libp.so");
    exe = shop.reporter("exe", "-Lone -lx");
  }
};

struct Look {
  Reporter reporter;
  nlohmann::json all;

  Look(const std::vector<std::string>& argv, const std::vector<std::string>& environment = {})
      : reporter(argv, environment) {
    REQUIRE(reporter.ready);
    all = document({pid()});
  }

  std::string pid() { return std::to_string(reporter.child.pid()); }

  nlohmann::json edge_to(const std::string& name) {
    const auto node = node_named(all, name);
    REQUIRE(node.is_object());
    const auto edges = edges_into(all, node.at("id"));
    REQUIRE(!edges.empty());
    return edges.front();
  }

  bool has_verdict() { return contains(all.dump(), "a restart would"); }
};

}  // namespace

TEST_CASE("loader options: --library-path takes the place of LD_LIBRARY_PATH and is named",
          "[live][loader-options]") {
  const Lab lab;
  Look look({interpreter,
             "--argv0",
             "other",
             "--library-path",
             "/nonexistent:" + lab.shop.path("two"),
             lab.exe},
            {"LD_LIBRARY_PATH=" + lab.shop.path("one")});
  CHECK(node_named(look.all, "libx.so").at("path") == lab.shop.path("two/libx.so"));
  const auto edge = look.edge_to("libx.so");
  CHECK(edge.at("rule") == "env");
  CHECK_FALSE(look.has_verdict());
  const ProgramRun why = run_tracso({"--why", "libx.so", look.pid()});
  INFO(why.out);
  CHECK(contains(why.out, "--library-path entry 2"));
  CHECK(!contains(why.out, "LD_LIBRARY_PATH"));
  CHECK(!contains(why.out, "restart"));
}

TEST_CASE("loader options: --inhibit-cache is why the cache was not asked",
          "[live][loader-options]") {
  const Lab lab;
  Look look({interpreter, "--inhibit-cache", "--library-path", lab.shop.path("one"), lab.exe});
  CHECK(look.edge_to("libc.so.6").at("rule") == "default");
  CHECK_FALSE(look.has_verdict());
  const ProgramRun why = run_tracso({"--why", "libc.so.6", look.pid()});
  INFO(why.out);
  CHECK(contains(why.out, "--inhibit-cache"));
}

TEST_CASE("loader options: --preload is the source of what it brought in",
          "[live][loader-options]") {
  const Lab lab;
  Look look({interpreter,
             "--library-path",
             lab.shop.path("one"),
             "--preload",
             lab.shop.path("libp.so") + " /nonexistent/q.so",
             lab.exe});
  const auto node = node_named(look.all, "libp.so");
  REQUIRE(node.is_object());
  CHECK(node.at("first_cause") == "preload");
  CHECK(node.at("sources") == nlohmann::json::array({"option:--preload"}));
  const auto codes = notice_codes(look.all);
  CHECK(std::find(codes.begin(), codes.end(), "preload-missing") != codes.end());
  const ProgramRun why = run_tracso({"--why", "libp.so", look.pid()});
  INFO(why.out);
  CHECK(contains(why.out, "option:--preload"));
}

TEST_CASE("loader options: a preload satisfies a need that alone would give another file",
          "[live][loader-options]") {
  const Lab lab;
  Look look({interpreter,
             "--library-path",
             lab.shop.path("two"),
             "--preload",
             lab.shop.path("one/libx.so"),
             lab.exe});
  const auto node = node_named(look.all, "libx.so");
  CHECK(node.at("path") == lab.shop.path("one/libx.so"));
  CHECK_FALSE(look.has_verdict());
  for (const auto& edge : edges_into(look.all, node.at("id"))) {
    const bool is_need = edge.at("relation") == "needed";
    CHECK(edge.at("rule") == (is_need ? "already-loaded" : "preload"));
    CHECK(edge.at("fragile") == is_need);
    CHECK(edge.at("first") == !is_need);
  }
}

TEST_CASE("loader options: the hwcaps options and --inhibit-rpath decide too",
          "[live][loader-options]") {
  const Lab lab;
  REQUIRE(lab.shop.run("mkdir -p two/glibc-hwcaps/mine && cp two/libx.so two/glibc-hwcaps/mine"));
  Look prepended({interpreter,
                  "--glibc-hwcaps-prepend",
                  "mine",
                  "--library-path",
                  lab.shop.path("two"),
                  lab.exe});
  CHECK(node_named(prepended.all, "libx.so").at("path") ==
        lab.shop.path("two/glibc-hwcaps/mine/libx.so"));
  CHECK(prepended.edge_to("libx.so").at("detail") == "hwcaps mine");
  CHECK_FALSE(prepended.has_verdict());

  const std::string exe = lab.shop.reporter("exe2", "-Lone -lx -Wl,-rpath,'$ORIGIN/one'");
  // The l_name of a program is empty.
  Look inhibited({interpreter, "--inhibit-rpath", "", "--library-path", lab.shop.path("two"), exe});
  CHECK(node_named(inhibited.all, "libx.so").at("path") == lab.shop.path("two/libx.so"));
  Look plain({interpreter, "--library-path", lab.shop.path("three"), exe});
  CHECK(node_named(plain.all, "libx.so").at("path") == lab.shop.path("one/libx.so"));
  CHECK(plain.edge_to("libx.so").at("rule") == "runpath");
}

TEST_CASE("loader options: $ORIGIN is that of the name the loader was given",
          "[live][loader-options]") {
  const Lab lab;
  lab.shop.reporter("one/app", "-Lone -lx -Wl,-rpath,'$ORIGIN'");
  REQUIRE(lab.shop.run("ln -s ../one/app two/app"));
  Look look({interpreter, lab.shop.path("two/app")});
  CHECK(node_named(look.all, "libx.so").at("path") == lab.shop.path("two/libx.so"));
  CHECK(look.edge_to("libx.so").at("rule") == "runpath");
  CHECK_FALSE(look.has_verdict());
}

TEST_CASE("loader options: a command line that was written over is not believed",
          "[live][loader-options]") {
  const Lab lab;
  // The option's name, two texts before the program's own, becomes another.
  lab.shop.write("titled.c",
                 "#include <stdio.h>\n#include <unistd.h>\n"
                 "int main(int count, char **words) {\n"
                 "  char *at = words[0];\n"
                 "  for (int n = 0; n < 2 && count; n++) { at--; while (at[-1]) at--; }\n"
                 "  at[2] = 'x';\n"
                 "  puts(\"READY\"); fflush(stdout);\n"
                 "  char byte; while (read(0, &byte, 1) > 0) {}\n  return 0;\n}\n");
  REQUIRE(lab.shop.run("gcc -w -o titled titled.c -Wl,--no-as-needed -Lone -lx"));
  Look look({interpreter, "--library-path", lab.shop.path("two"), lab.shop.path("titled")});
  const auto codes = notice_codes(look.all);
  CHECK(std::find(codes.begin(), codes.end(), "loader-options-unknown") != codes.end());
  CHECK_FALSE(look.has_verdict());
}

TEST_CASE("loader options: a recording keeps them, and not the program's words",
          "[live][loader-options]") {
  const Lab lab;
  Look look({interpreter, "--library-path", lab.shop.path("two"), lab.exe, "libm.so.6"});
  const std::string file = lab.shop.path("recording.tar.gz");
  REQUIRE(run_tracso({"record", look.pid(), "-o", file}).status == 0);
  const auto all = document({"--from", file});
  const auto node = node_named(all, "libx.so");
  REQUIRE(node.is_object());
  CHECK(edges_into(all, node.at("id")).front().at("rule") == "env");
  CHECK(contains(run_tracso({"--why", "libx.so", "--from", file}).out, "--library-path entry 1"));
  CHECK(all.at("process").at("command").size() == 4);
  CHECK_FALSE(contains(all.dump(), "a restart would"));
}

}  // namespace tracso::test
