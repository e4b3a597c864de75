#include "calls/filter.hpp"

#include "calls/filter_match.hpp"
#include "calls/packages.hpp"
#include "support/catch.hpp"

namespace tracso::calls {
namespace {

Filter parsed(std::string_view expression) {
  Filter filter;
  const auto done = add_expression(filter, expression);
  REQUIRE(done);
  return filter;
}

TEST_CASE("filter: ltrace's expressions", "[calls]") {
  CHECK(parsed("malloc").rules == std::vector<Rule>{{0, false, false, "malloc", "*"}});
  CHECK(parsed("malloc+free-@libc.so*").rules ==
        std::vector<Rule>{{0, false, false, "malloc", "*"},
                          {0, false, false, "free", "*"},
                          {0, true, false, "*", "libc.so*"}});
  CHECK(parsed("-free").rules == std::vector<Rule>{{0, true, false, "free", "*"}});
  CHECK(parsed("SSL_*@MAIN").rules == std::vector<Rule>{{0, false, false, "SSL_*", "MAIN"}});
  CHECK(parsed("@/usr/lib/*").rules == std::vector<Rule>{{0, false, false, "*", "/usr/lib/*"}});
}

TEST_CASE("filter: each option is a chain of its own", "[calls]") {
  Filter filter;
  REQUIRE(add_expression(filter, "a+b"));
  REQUIRE(add_library(filter, "libz*"));
  REQUIRE(add_expression(filter, "-c"));
  REQUIRE(filter.rules.size() == 4);
  CHECK(filter.rules[1].chain == 0);
  CHECK(filter.rules[2] == Rule{1, false, true, "*", "libz*"});
  CHECK(filter.rules[3].chain == 2);
}

TEST_CASE("filter: what is refused", "[calls]") {
  Filter filter;
  CHECK_FALSE(add_expression(filter, ""));
  CHECK_FALSE(add_expression(filter, "@"));
  CHECK_FALSE(add_expression(filter, "malloc+"));
  CHECK_FALSE(add_expression(filter, "/mal.*/"));
  CHECK_FALSE(add_library(filter, std::string(200, 'x')));
  for (int i = 0; i < 64; ++i) {
    static_cast<void>(add_expression(filter, "x"));
  }
  CHECK_FALSE(add_expression(filter, "one-too-many"));
}

TEST_CASE("filter: what is selected here is what the agent selects", "[calls]") {
  const FilterParty program{"/bin/prog", true};
  const FilterParty library{"/lib/libfirst.so.1", false};
  const auto selected =
      [&](const std::string& expression, const std::string& symbol, const FilterParty& caller) {
        Filter filter;
        REQUIRE(add_expression(filter, expression));
        return selects(filter, symbol, caller, library);
      };
  CHECK(selected("malloc+free-@libfirst*", "malloc", program));
  CHECK_FALSE(selected("malloc+free-@libfirst*", "malloc", library));
  CHECK_FALSE(selected("malloc+free-@libfirst*", "calloc", program));
  CHECK(selected("-free", "malloc", library));
  CHECK_FALSE(selected("-free", "free", library));
  CHECK(selected("@MAIN", "x", program));
  CHECK_FALSE(selected("@MAIN", "x", library));
  CHECK(selected("*@/lib/*", "x", library));
  CHECK_FALSE(selected("*@/lib/*", "x", program));
  Filter filter;
  CHECK(selects(filter, "x", program, library));
  CHECK(may_select(filter, program));
  REQUIRE(add_library(filter, "libfirst*"));
  CHECK(selects(filter, "x", program, library));
  CHECK_FALSE(selects(filter, "x", library, program));
  CHECK(may_select(filter, program));
  filter.caller = "libother*";
  CHECK_FALSE(selects(filter, "x", program, library));
  CHECK_FALSE(may_select(filter, program));
  Filter main_only;
  REQUIRE(add_expression(main_only, "@MAIN"));
  CHECK(may_select(main_only, program));
  CHECK_FALSE(may_select(main_only, library));
}

TEST_CASE("filter: a pattern that no library fits is told, with one that does", "[calls]") {
  const auto told = [](const Filter& filter) {
    CallsReport report;
    report.objects = {{"/usr/bin/prog", 0, true}, {"/lib/libssl.so.3", 0x1000, false}};
    add_unfit_libraries(filter, report);
    std::string all;
    for (const Notice& notice : report.notices) {
      all += notice.text + " (" + notice.try_ + ")\n";
    }
    return all;
  };
  const auto of_library = [](std::string_view pattern) {
    Filter filter;
    REQUIRE(add_library(filter, pattern));
    return filter;
  };
  CHECK(told(Filter()).empty());
  CHECK(told(of_library("libssl*")).empty());
  CHECK(told(of_library("MAIN")).empty());
  CHECK(told(of_library("/lib/*")).empty());
  CHECK(told(parsed("-x@nosuch*")).empty());
  CHECK(told(of_library("nosuch*")) == "no library fits 'nosuch*' ()\n");
  CHECK(told(of_library("libssl")) == "no library fits 'libssl' (libssl.so.3 does: 'libssl*')\n");
  CHECK(told(of_library("ssl")) == "no library fits 'ssl' (libssl.so.3 does: 'libssl*')\n");
  CHECK(told(parsed("read@prog.so")) == "no library fits 'prog.so' ()\n");
  Filter narrowed;
  narrowed.callee = "libssl";
  CHECK(told(narrowed) == "no library fits 'libssl' (libssl.so.3 does: 'libssl*')\n");
  CallsReport empty;
  add_unfit_libraries(of_library("nosuch*"), empty);
  CHECK(empty.notices.empty());
}

TEST_CASE("packages: by the folder a library lies in", "[calls]") {
  CHECK(package_of("/v/lib/python3.11/site-packages/numpy/core/_m.cpython-311.so") == "numpy");
  CHECK(package_of("/v/lib/python3.11/site-packages/numpy.libs/libopenblas.so") == "numpy");
  CHECK(package_of("/usr/lib/python3/dist-packages/apt_pkg.cpython-311.so") == "apt_pkg");
  CHECK(package_of("/usr/lib/python3.11/lib-dynload/_ssl.cpython-311-x86_64-linux-gnu.so") ==
        "_ssl");
  CHECK(package_of("/usr/lib/libssl.so.3").empty());
}

}  // namespace
}  // namespace tracso::calls
