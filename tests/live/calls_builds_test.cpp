// tracso calls on what other compilers, linkers and C libraries make, and on runtimes that do
// things of their own with signals and stacks.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

#include <string>
#include <vector>

using namespace tracso;
using test::calls_of;
using test::contains;
using test::trace_table;
using test::Words;

namespace {

struct Tools {
  std::string name, needs, c, cpp;
};

bool have(const std::string& program) {
  return test::run_program({"/bin/sh", "-c", "command -v " + program}).status == 0;
}

// plain.c and its library; empty: they cannot be built so here.
std::string built(const Tools& tools) {
  const auto folder = test::scratch_folder() + "/builds-" + tools.name;
  ::mkdir(folder.c_str(), 0755);
  const auto run = test::run_program(
      {"/bin/sh",
       "-c",
       fmt::format("cd {0} && {3} -O2 -fPIC -shared {1}/library.cpp -o libfirst.so -pthread && "
                   "{2} -O1 -w -fno-builtin {1}/plain.c -o plain -L. -lfirst -Wl,-rpath,'$ORIGIN'",
                   folder,
                   test::tests_file("live/calls"),
                   tools.c,
                   tools.cpp)});
  INFO(run.err);
  CHECK(run.status == 0);
  return run.status == 0 ? folder + "/plain" : "";
}

}  // namespace

TEST_CASE("calls builds: other compilers, other linkers, stripped", "[live][calls][builds]") {
  const std::vector<Tools> all{
      {"clang", "clang++", "clang", "clang++"},
      {"gold", "ld.gold", "gcc -fuse-ld=gold", "g++ -fuse-ld=gold"},
      {"gold-now", "ld.gold", "gcc -fuse-ld=gold -Wl,-z,now", "g++ -fuse-ld=gold"},
      {"lld", "ld.lld", "gcc -fuse-ld=lld", "g++ -fuse-ld=lld"},
      {"stripped", "strip", "gcc -s", "g++ -s"},
      {"packed", "gcc", "gcc -Wl,-z,pack-relative-relocs", "g++ -Wl,-z,pack-relative-relocs"},
      {"no-pie", "gcc", "gcc -no-pie -fno-pie", "g++"}};
  for (const auto& tools : all) {
    INFO(tools.name);
    if (!have(tools.needs)) {
      WARN("not here: " << tools.needs);
      continue;
    }
    const auto program = built(tools);
    const auto native = test::run_program({program});
    for (const Words& options : {Words{}, Words{"--count"}, Words{"--intra"}}) {
      const auto traced = trace_table(options, {program});
      CHECK(traced.run.status == 3);
      CHECK(traced.run.out == native.out);
      CHECK(traced.run.err == native.err);
      CHECK(calls_of(traced.document, "add_one") == 1);
      CHECK(calls_of(traced.document, "sum_of_doubles") == 1);
      CHECK(calls_of(traced.document, "getenv") == 1);
      CHECK(calls_of(traced.document, "printf") == 1);
    }
  }
}

TEST_CASE("calls builds: a program of musl", "[live][calls][builds]") {
  if (!have("musl-gcc")) {
    WARN("no musl-gcc here");
    return;
  }
  const auto folder = test::scratch_folder();
  test::write_file(folder + "/musl.c",
                   "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
                   "int main(void) { for (int i = 0; i < 50; ++i) free(strdup(\"text\"));\n"
                   "puts(getenv(\"LD_PRELOAD\") ? \"seen\" : \"unseen\"); return 6; }\n");
  test::shell("cd " + folder + " && musl-gcc -fno-builtin musl.c -o musl");
  for (const Words& options : {Words{}, Words{"--exact"}, Words{"--count"}}) {
    const auto traced = trace_table(options, {folder + "/musl"});
    CHECK(traced.run.status == 6);
    CHECK(traced.run.out == "unseen\n");
    CHECK(traced.run.err.empty());
    CHECK(calls_of(traced.document, "strdup") == 50);
    for (const auto& row : traced.document["calls"]) {
      CHECK((contains(row["callee"], "musl") || row["callee"] == "libc.so"));
    }
  }
}

TEST_CASE("calls builds: sanitizers of threads and of leaks are refused", "[live][calls][builds]") {
  const auto folder = test::scratch_folder();
  test::write_file(folder + "/say.c",
                   "#include <stdio.h>\nint main(void) { puts(\"ran\"); return 5; }\n");
  int tried = 0;
  for (const std::string compiler : {"gcc", "clang"}) {
    for (const std::string kind : {"thread", "leak", "address"}) {
      INFO(compiler << " " << kind);
      const auto program = fmt::format("{}/say-{}-{}", folder, compiler, kind);
      const auto made = test::run_program(
          {"/bin/sh",
           "-c",
           fmt::format("{} -fsanitize={} {}/say.c -o {}", compiler, kind, folder, program)});
      if (made.status != 0) {
        continue;
      }
      ++tried;
      const auto refused = test::run_tracso({"calls", program});
      CHECK(refused.status == 4);
      CHECK(refused.out.empty());
      CHECK(contains(refused.err, "sanitizer"));
    }
  }
  if (tried == 0) {
    WARN("no compiler here has a sanitizer");
  }
}

TEST_CASE("calls builds: Java, whose null pointers are SIGSEGV, and natives looked up",
          "[live][calls][builds]") {
  if (!have("javac")) {
    WARN("no JDK here");
    return;
  }
  const auto folder = test::scratch_folder();
  test::write_file(
      folder + "/Nulls.java",
      "public class Nulls { public static void main(String[] words) { int sum = 0;\n"
      "for (int i = 0; i < 20000; i++) { try { String s = i % 2 == 0 ? null : \"x\";\n"
      "sum += s.length(); } catch (NullPointerException e) { sum += 2; } }\n"
      "System.gc(); System.out.println(sum); System.exit(sum == 30000 ? 4 : 1); } }\n");
  test::shell("cd " + folder + " && javac Nulls.java");
  const auto traced = trace_table({}, {"java", "-cp", folder, "Nulls"});
  CHECK(traced.run.out == "30000\n");
  CHECK(traced.run.err.empty());
  CHECK(traced.run.status == 4);
  CHECK(calls_of(traced.document, "JNI_CreateJavaVM") == 1);
}

TEST_CASE("calls: a command whose libraries are not found ended before the agent was there",
          "[live][calls]") {
  const auto folder = test::scratch_folder();
  const auto built = test::run_program(
      {"/bin/sh",
       "-c",
       "cd " + folder +
           " && echo 'int f(void) { return 1; }' > f.c && gcc -shared f.c -o libgone.so && "
           "echo 'int f(void); int main(void) { return f() - 1; }' > user.c && "
           "gcc user.c -L. -lgone -o user && rm libgone.so && "
           "echo 'int main(void) { return 127; }' > own.c && gcc own.c -o own"});
  INFO(built.err);
  REQUIRE(built.status == 0);
  const auto missing = test::run_tracso({"calls", folder + "/user"});
  INFO(missing.err);
  CHECK(missing.status == 127);
  CHECK(contains(missing.err, "libgone.so"));  // ld.so's words
  CHECK(contains(missing.err, "the command ended before its libraries were loaded"));
  CHECK_FALSE(contains(missing.err, "forbids LD_PRELOAD"));
  const auto own = test::run_tracso({"calls", folder + "/own"});
  CHECK(own.status == 127);
  CHECK_FALSE(contains(own.err, "before its libraries were loaded"));
}
