// Auditors: asked for by a variable, an option or the program, and by nothing else.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/scenario.hpp"

namespace tracso::test {
namespace {

struct Lab {
  Workshop shop;
  std::string program;

  Lab() {
    for (const std::string name : {"liba.so", "libb.so"}) {
      shop.write(name + ".c", "unsigned la_version(unsigned version) { return version; }\n");
      REQUIRE(
          shop.run("gcc -w -shared -fPIC -Wl,-soname," + name + " -o " + name + " " + name + ".c"));
    }
    program = shop.reporter("program");
  }
};

void check_only_audit(const nlohmann::json& all, const std::string& name, const std::string& from) {
  CAPTURE(name);
  const auto node = node_named(all, name);
  REQUIRE(node.is_object());
  const auto edges = edges_into(all, node.at("id"));
  REQUIRE(edges.size() == 1);
  CHECK(edges.front().at("relation") == "audit");
  CHECK(contains(edges.front().at("source").get<std::string>(), from));
  CHECK(edges.front().at("rule") != "preload");
}

}  // namespace

TEST_CASE("audit: LD_AUDIT is the one cause of an auditor", "[live][audit]") {
  const Lab lab;
  const std::string variable =
      "LD_AUDIT=" + lab.shop.path("liba.so") + ":" + lab.shop.path("libb.so");
  const Reporter reporter({lab.program}, {variable});
  REQUIRE(reporter.ready);
  const std::string pid = std::to_string(reporter.child.pid());
  const auto all = document({pid});
  for (const char* name : {"liba.so", "libb.so"}) {
    check_only_audit(all, name, "env:LD_AUDIT");
    CHECK(node_named(all, name).at("first_cause") == "audit");
  }
  CHECK_FALSE(contains(all.dump(), "a restart would"));
  const ProgramRun why = run_tracso({"--why", "liba.so", pid});
  INFO(why.out);
  CHECK(contains(why.out, "asks for it as auditor"));
  CHECK_FALSE(contains(why.out, "dlopen"));
  CHECK_FALSE(contains(why.out, "preload"));
  const auto file =
      document({lab.program}, ProgramOptions{{variable}, "", std::chrono::seconds{60}});
  check_only_audit(file, "liba.so", "env:LD_AUDIT");
  check_only_audit(file, "libb.so", "env:LD_AUDIT");
}

TEST_CASE("audit: an option of the loader and the program itself can ask for auditors",
          "[live][audit]") {
  const Lab lab;
  const Reporter by_option({"/lib64/ld-linux-x86-64.so.2",
                            "--audit",
                            lab.shop.path("liba.so") + ":" + lab.shop.path("libb.so"),
                            lab.program});
  REQUIRE(by_option.ready);
  const auto all = document({std::to_string(by_option.child.pid())});
  check_only_audit(all, "liba.so", "option:--audit");
  check_only_audit(all, "libb.so", "option:--audit");

  const std::string tagged = lab.shop.reporter(
      "tagged", "-Wl,--audit," + lab.shop.path("liba.so") + ":" + lab.shop.path("libb.so"));
  const Reporter by_tag({tagged});
  REQUIRE(by_tag.ready);
  for (const std::string& what : {std::to_string(by_tag.child.pid()), tagged}) {
    CAPTURE(what);
    const auto told = document({what});
    check_only_audit(told, "liba.so", "tagged");
    check_only_audit(told, "libb.so", "tagged");
  }
}

}  // namespace tracso::test
