// Every instruction of some modules of the library has the line that CPython itself gives it.

#include "base/text.hpp"
#include "support/catch.hpp"
#include "support/line_tables.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"

#include <string>

using namespace tracso;

TEST_CASE("line tables: read as each CPython reads its own", "[live][python][chain]") {
  const auto pythons = test::pythons();
  REQUIRE_FALSE(pythons.empty());
  for (const auto& python : pythons) {
    INFO(python.label);
    test::Child folder({python.program, "-c", "import os; print(os.path.dirname(os.__file__))"});
    const auto library = folder.line();
    REQUIRE(library);
    test::Child printing({python.program,
                          test::tests_file("live/python_line_tables.py"),
                          *library + "/argparse.py",
                          *library + "/inspect.py",
                          *library + "/_pydecimal.py",
                          *library + "/keyword.py",
                          test::tests_file("live/python_import_truth.py")});
    std::size_t instructions = 0;
    auto line = printing.line();
    for (; line && *line != "end"; line = printing.line()) {
      const auto check = test::check_line_table(*line);
      CHECK(check.difference == "");
      instructions += check.instructions;
    }
    CHECK(line == "end");
    CHECK(instructions > 10000);
  }
}
