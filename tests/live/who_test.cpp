// --who: a library that only our own children have.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/scenario.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace tracso::test {
namespace {

struct Lab {
  Workshop shop;
  std::string name;

  Lab() : name("libwho" + std::to_string(::getpid())) {
    shop.write("w.c", "int w(void){return 1;}\n");
    shop.write("main.c",
               "#include <stdio.h>\n#include <unistd.h>\nint w(void);int main(void){"
               "printf(\"ready %d\\n\",w());fflush(stdout);pause();return 0;}\n");
    const std::string file = name + ".so.4";
    REQUIRE(shop.run("gcc -shared -fPIC w.c -Wl,-soname," + file + " -o " + file +
                     ".2.7 && ln -s " + file + ".2.7 " + file));
    REQUIRE(shop.run("gcc main.c ./" + file + " -Wl,-rpath,$PWD -Wl,-z,now -o program"));
  }

  std::string file() const { return shop.path(name + ".so.4.2.7"); }
};

std::vector<nlohmann::json> rows(const std::string& name, int status = 0) {
  const auto ran = run_tracso({"--who", name, "--json"});
  INFO(ran.err);
  REQUIRE(ran.status == status);
  return nlohmann::json::parse(ran.out).at("processes").get<std::vector<nlohmann::json>>();
}

TEST_CASE("who: every process that has it, with version and source", "[live][who]") {
  const Lab lab;
  Child one({lab.shop.path("program")});
  Child two({lab.shop.path("program")});
  REQUIRE(one.line() == "ready 1");
  REQUIRE(two.line() == "ready 1");
  const auto found = rows(lab.name);
  REQUIRE(found.size() == 2);
  CHECK(found[0].at("command") == "program");
  CHECK(found[0].at("version") == "4.2.7");
  CHECK(found[0].at("version_source") == "file name");
  CHECK(found[0].at("state") == "current");
  CHECK(found[0].at("node") == lab.name + ".so.4");
  CHECK(rows(lab.name + ".so.4").size() == 2);
  CHECK(rows(lab.file()).size() == 2);
  const auto text = run_tracso({"--who", lab.name});
  CHECK(text.status == 0);
  CHECK(contains(text.out, "2 processes"));
  CHECK(rows(lab.name + ".so.9", 1).empty());
  CHECK(run_tracso({"--who", lab.name, "1"}).status == 2);
}

TEST_CASE("who: replaced, deleted and rewritten are told apart", "[live][who]") {
  const Lab lab;
  Child child({lab.shop.path("program")});
  REQUIRE(child.line() == "ready 1");
  SECTION("touched only") {
    REQUIRE(lab.shop.run("touch " + lab.file()));
    CHECK(rows(lab.name).front().at("state") == "current");
  }
  SECTION("replaced") {
    REQUIRE(lab.shop.run("cp " + lab.file() + " new && mv new " + lab.file()));
    CHECK(rows(lab.name).front().at("state") == "replaced");
  }
  SECTION("deleted") {
    REQUIRE(lab.shop.run("rm " + lab.file()));
    CHECK(rows(lab.name).front().at("state") == "deleted");
  }
  SECTION("rewritten") {
    REQUIRE(lab.shop.run("cp " + lab.file() + " keep && cp keep " + lab.file()));
    CHECK(rows(lab.name).front().at("state") == "rewritten");
    const auto all = document({std::to_string(child.pid())});
    CHECK(node_named(all, lab.name + ".so.4").at("state") == "rewritten");
    CHECK(contains(all.at("findings").dump(), "overwritten in place"));
  }
}

TEST_CASE("who: what may not be looked at is said, and is no failure", "[live][who]") {
  const Lab lab;
  TemporaryFolder folder;
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  REQUIRE(run_program({"cp", test::tracso_binary(), folder / "tracso"}).status == 0);
  const auto ran = run_program({"setpriv",
                                "--reuid=65534",
                                "--regid=65534",
                                "--clear-groups",
                                "/bin/sh",
                                "-c",
                                folder / "tracso --who libc.so.6; exit $?"});
  INFO(ran.err);
  CHECK(ran.status == 0);  // the shell has it; the released tracso has not
  CHECK(contains(ran.err, "may not be looked at"));
}

TEST_CASE("as child: a process that has ended starts nothing", "[live][who]") {
  Child parent(zombie_keeper());
  const auto zombie = parent.line();
  REQUIRE(zombie);
  const ProgramRun ran = run_tracso({"--as-child", "true", *zombie});
  CHECK(ran.status == 3);
  CHECK(ran.out.empty());
  CHECK(contains(ran.err, "zombie"));
}

TEST_CASE("as child: a program gets the library of the AppImage that starts it", "[live][who]") {
  const Scenario scenario("17-appimage-child.sh");
  const auto text = run_tracso({"--as-child", "browser", "--as-child", "plain", scenario.pid()});
  INFO(text.out << text.err);
  CHECK(text.status == 1);
  CHECK(contains(text.out, "would not start"));
  CHECK(contains(text.out, "Z_2"));
  CHECK(contains(text.out, scenario.lab() + "/app/lib/libzed.so.1  (LD_LIBRARY_PATH)"));
  CHECK(contains(text.out, "the same as without these variables"));
  const auto json = run_tracso({"--as-child", "browser", "--json", scenario.pid()});
  const auto all = nlohmann::json::parse(json.out);
  CHECK(all.at("kind") == "as-child");
  CHECK(all.at("programs").at(0).at("differences").at(0).at("without_variables") ==
        scenario.lab() + "/system/libzed.so.1");
  CHECK(run_tracso({"--as-child", "plain", scenario.pid()}).status == 0);
  CHECK(run_tracso({"--as-child", "no-such-program", scenario.pid()}).status == 1);
  CHECK(run_tracso({"--as-child", "plain"}).status == 2);
}

TEST_CASE("as child: a script stands for its interpreter", "[live][who]") {
  const Workshop shop;
  shop.write("shell", "#!/bin/sh -e\ntrue\n");
  shop.write("python", "#!/usr/bin/env -S FOO=1 python3 -I\n");
  shop.write("bare", "true\n");
  shop.write("gone", "#!/no/such/interpreter\n");
  shop.write("lost", "#!/usr/bin/env no-such-program\n");
  shop.write("nameless", "#!\n");
  shop.write("windows", "#!/bin/sh\r\ntrue\r\n");
  shop.write("nested", "#!" + shop.path("shell") + "\n");
  REQUIRE(
      shop.run("chmod +x shell python bare gone lost nameless nested windows; ln -s shell linked"));
  Child child({"sleep", "600"}, {"PATH=/usr/bin:/bin"});
  const auto program = [&](const std::string& name) {
    const auto json = run_tracso({"--as-child", name, "--json", std::to_string(child.pid())});
    INFO(json.out << json.err);
    return nlohmann::json::parse(json.out).at("programs").at(0);
  };
  const auto shell = program("/bin/sh");
  CHECK(shell.at("interpreter") == nullptr);
  for (const char* name : {"shell", "bare", "linked", "nested"}) {
    INFO(name);
    const auto script = program(shop.path(name));
    CHECK(script.at("interpreter") == "/bin/sh");
    CHECK(script.at("path") == shop.path(name));
    CHECK(script.at("libraries") == shell.at("libraries"));
  }
  CHECK(contains(program(shop.path("python")).at("interpreter"), "/python3"));
  CHECK(program(shop.path("python")).at("libraries") > 2);
  CHECK(contains(program(shop.path("gone")).at("problem"),
                 "a script for /no/such/interpreter, which is not found"));
  CHECK(contains(program(shop.path("lost")).at("problem"),
                 "no-such-program, which is not found in the PATH"));
  CHECK(contains(program(shop.path("nameless")).at("problem"), "names no interpreter"));
  CHECK(contains(program(shop.path("windows")).at("problem"), "for /bin/sh\r, which is not found"));
  shop.write("plain", "#!/bin/sh\ntrue\n");
  shop.write("through", "#!" + shop.path("plain") + "\n");
  REQUIRE(
      shop.run("chmod -x plain; chmod +x through; cp /bin/true elf; chmod -x elf; mkdir folder"));
  CHECK(contains(program(shop.path("plain")).at("problem"), "it is not executable"));
  CHECK(contains(program(shop.path("elf")).at("problem"), "it is not executable"));
  CHECK(contains(program(shop.path("through")).at("problem"), "plain: it is not executable"));
  CHECK(contains(program(shop.path("folder")).at("problem"), "it is no regular file"));
  const ProgramRun windows = run_tracso({shop.path("windows")});
  CHECK(contains(windows.err, "it is a script"));
  CHECK(contains(windows.err, "ends in \\r, which is a part of the interpreter's name"));
  const auto text = run_tracso({"--as-child", shop.path("shell"), std::to_string(child.pid())});
  CHECK(text.status == 0);
  CHECK(contains(text.out, "/shell\n  a script, run by /bin/sh\n"));
  const auto gone = run_tracso({"--as-child", shop.path("gone"), std::to_string(child.pid())});
  CHECK(gone.status == 1);
}

}  // namespace
}  // namespace tracso::test
