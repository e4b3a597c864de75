// tracso calls: libraries that come and go thousands of times, until there is no room for what they
// import; and what is said then.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>

#include <string>

using namespace tracso;
using test::calls_of;
using test::trace_table;
using test::Words;

namespace {

std::string built() {
  const auto folder = test::scratch_folder();
  test::shell(fmt::format(
      "cd {0} && g++ -O1 -fPIC -shared {1}/library.cpp -o libfirst.so -pthread && "
      "gcc -O1 -fPIC -shared {1}/second.c -o libsecond.so -L. -lfirst -Wl,-rpath,'$ORIGIN' && "
      "gcc -O1 -fPIC -shared {1}/plugin.c -o libplugin.so && "
      "gcc -O0 -DLIBRARY -fPIC -shared {1}/loads.c -o libcells.so && "
      "gcc -O1 {1}/loads.c -o loads -ldl -Wl,-rpath,'$ORIGIN'",
      folder,
      test::tests_file("live/calls")));
  return folder;
}

}  // namespace

TEST_CASE("calls room: a library of which nothing is asked takes no room each time it comes",
          "[live][calls]") {
  const auto folder = built();
  const auto traced = trace_table({"-e", "tripled"}, {folder + "/loads", "libplugin.so", "5000"});
  CHECK(traced.run.out == "20006\n");
  CHECK(calls_of(traced.document, "tripled") == 1);  // of a library that came after all these
  CHECK(traced.document["untraced"]["no_room"] == 0);
  CHECK(test::notice_codes(traced.document).empty());
}

TEST_CASE("calls room: what has none is counted by functions, not by loads", "[live][calls]") {
  const auto folder = built();
  const Words filter{"-e", "free@libcells.so+malloc@libcells.so"};
  const auto few = trace_table(filter, {folder + "/loads", "libcells.so", "50"});
  CHECK(few.run.out == "56\n");
  CHECK(calls_of(few.document, "free") == 50);
  CHECK(calls_of(few.document, "malloc") == 50);
  CHECK(few.document["untraced"]["no_room"] == 0);
  const auto many = trace_table(filter, {folder + "/loads", "libcells.so", "2200"});
  CHECK(many.run.out == "2206\n");
  CHECK(calls_of(many.document, "free") >= 1500);
  CHECK(calls_of(many.document, "free") < 2200);
  CHECK(many.document["untraced"]["no_room"] == 2);
}
