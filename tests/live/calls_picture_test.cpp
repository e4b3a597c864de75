// tracso calls -o x.dot and its like: a picture of which library calls which, as Graphviz takes it.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>

#include <string>

using namespace tracso;
using test::contains;
using test::Words;

namespace {

test::ProgramRun draw(const std::string& file, const Words& options = {}) {
  Words words{"calls", "-o", file};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"sort", "-r", "/etc/passwd"});
  return test::run_tracso(words);
}

bool has_graphviz() {
  return test::run_program({"/bin/sh", "-c", "command -v dot"}).status == 0;
}

}  // namespace

TEST_CASE("calls picture: edges from caller to callee, with calls and time",
          "[live][calls][picture]") {
  const auto file = test::scratch_folder() + "/sort.dot";
  const auto native = test::run_program({"sort", "-r", "/etc/passwd"});
  const auto run = draw(file);
  CHECK(run.status == 0);
  CHECK(run.out == native.out);
  CHECK(run.err.empty());
  const auto dot = test::read_file(file);
  CHECK(dot.starts_with("digraph calls {"));
  CHECK(contains(dot, "[label=\"sort\",tooltip=\"/usr/bin/sort\",shape=box,style=\"filled,bold\""));
  CHECK(contains(dot, "[label=\"libc.so.6\""));
  CHECK(contains(dot, "n0 -> n1 [label=\""));
  CHECK(contains(dot, " calls\\n"));
  CHECK((contains(dot, " us\"") || contains(dot, " ms\"")));
  if (has_graphviz()) {
    const auto plain = test::run_program({"dot", "-Tplain", file});
    CHECK(plain.status == 0);
    CHECK(contains(plain.out, "edge n0 n1"));
  }
}

TEST_CASE("calls picture: without times the calls weigh", "[live][calls][picture]") {
  const auto file = test::scratch_folder() + "/count.gv";
  CHECK(draw(file, {"--count", "--limit", "1"}).status == 0);
  const auto dot = test::read_file(file);
  CHECK(contains(dot, " calls\",penwidth=5.00"));
  CHECK_FALSE(contains(dot, " us\""));
  CHECK_FALSE(contains(dot, "n1 -> n2"));
}

TEST_CASE("calls picture: Graphviz makes a file of it", "[live][calls][picture]") {
  if (!has_graphviz()) {
    WARN("no Graphviz here");
    return;
  }
  for (const auto& [name, magic] :
       {std::pair("x.svg", "<?xml"), std::pair("x.png", "\x89PNG"), std::pair("x.pdf", "%PDF")}) {
    INFO(name);
    const auto file = test::scratch_folder() + "/" + name;
    const auto run = draw(file);
    CHECK(run.status == 0);
    CHECK(run.err.empty());
    CHECK(test::read_file(file).starts_with(magic));
  }
}

TEST_CASE("calls picture: it shows libraries and nothing else", "[live][calls][picture]") {
  const auto refused = draw("x.svg", {"--group", "thread"});
  CHECK(refused.status == 2);
  CHECK(contains(refused.err, "a picture shows libraries"));
  CHECK(test::run_tracso({"calls", "-o", "x.html", "true"}).status == 2);
}
