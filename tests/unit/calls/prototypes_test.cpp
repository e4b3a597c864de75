#include "calls/prototypes.hpp"

#include "calls/prototype_finder.hpp"
#include "support/catch.hpp"

#include <string>

using namespace tracso;
using namespace tracso::calls;

TEST_CASE("prototypes: the built-in table is understood whole", "[calls]") {
  const auto& all = Prototypes::built_in();
  CHECK(all.size() > 700);
  for (const char* name :
       {"open", "printf", "malloc", "SSL_new", "inflate", "cos", "PyImport_ImportModule"}) {
    INFO(name);
    CHECK(all.find(name) != nullptr);
  }
  CHECK(all.find("no such function") == nullptr);
}

TEST_CASE("prototypes: what the agent copies is sorted, fits, and names registers", "[calls]") {
  const auto rules = PrototypeFinder().capture_rules();
  CHECK(rules.size() > 200);
  CHECK(rules.size() <= tracso_most_capture_rules);
  for (std::size_t i = 1; i < rules.size(); ++i) {
    CHECK(std::string(rules[i - 1].name) < std::string(rules[i].name));
  }
  const auto rule = [&](const std::string& name) {
    for (const auto& one : rules) {
      if (one.name == name) {
        return one;
      }
    }
    FAIL("no rule for " + name);
    return tracso_capture_rule{};
  };
  CHECK(rule("getenv").argument[0] == tracso_capture_text);
  CHECK(rule("getenv").result == tracso_capture_text);
  CHECK(rule("write").argument[1] == (tracso_capture_bytes | 3 << tracso_capture_length));
  CHECK(rule("read").argument[1] == (tracso_capture_bytes | tracso_capture_after |
                                     tracso_length_is_result << tracso_capture_length));
  CHECK(rule("SSL_read").argument[1] ==
        (tracso_capture_bytes | tracso_capture_after | tracso_capture_narrow |
         tracso_length_is_result << tracso_capture_length));
  CHECK((rule("BIO_write").argument[1] & tracso_capture_narrow) != 0);
  CHECK(rule("fprintf").argument[1] == tracso_capture_format);
  CHECK(rule("fprintf").stack == 1);
  CHECK(rule("deflateInit2_").stack == 1);  // eight arguments
  for (const auto& one : rules) {
    CHECK(std::string(one.name) != "malloc");  // points nowhere
  }
}

TEST_CASE("prototypes: a length counts integer registers, doubles have their own", "[calls]") {
  const auto parsed = Prototypes::parse("int f(double, ptr, buf:4, size)");
  REQUIRE(parsed);
  CHECK(parsed->find("f")->arguments[2].length == 3);
}

TEST_CASE("prototypes: lines that are wrong are named", "[calls]") {
  for (const char* wrong :
       {"int f",
        "int f(",
        "int (ptr)",
        "int f(what)",
        "int f(buf)",
        "int f(buf:0)",
        "int f(buf:9)",
        "int f(buf:2)",
        "int f(fmt, int)",
        "int f(enum:nothing)",
        "int f(void)",
        "int f(+int)",
        "+str f()",
        "int f(double, buf:1)",
        "set x: A",
        "set x",
        "int f()\nint f()",
        "int a_name_that_is_far_too_long_for_the_shared_memory_of_the_agents()"}) {
    INFO(wrong);
    const auto parsed = Prototypes::parse(wrong);
    CHECK_FALSE(parsed);
  }
  const auto second = Prototypes::parse("# first\nint f(what)\n");
  REQUIRE_FALSE(second);
  CHECK(second.error().subject == "line 2 of the prototypes");
}
