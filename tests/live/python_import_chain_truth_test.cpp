// The imports under way at every dlopen of a living program: as it tells them itself, in odd
// threads and interpreters, and where there is no Python.

#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_loads.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace tracso;

TEST_CASE("import chain: of an interpreter within another, and of many threads",
          "[live][python][chain]") {
  const test::Workshop workshop;
  workshop.write("inner.py", "\nimport mmap\n");
  workshop.write("sub.py", R"(import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
path = "import sys; sys.path.insert(0, %r)\n" % sys.path[0]
interpreters.run_string(interpreters.create(), path + "import inner")
)");
  workshop.write("threads.py", R"(import ctypes, threading
def work(number):
    try:
        ctypes.CDLL("tag-%d" % number)
    except OSError:
        pass
threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
for thread in threads: thread.start()
for thread in threads: thread.join()
)");
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    test::LoadWatch watch(workshop, {python.program, workshop.path("sub.py")});
    std::string seen = "nothing";
    while (const auto load = watch.next()) {
      seen = load->name.find("/mmap.") != std::string::npos
                 ? test::in_words(load->steps, workshop.path(""))
                 : seen;
    }
    const std::string inside = ":2 (__main__) inner > inner.py:2 (inner) mmap";
    CHECK((seen == "nothing" || seen.ends_with(inside)));
    CHECK(watch.is_complete());
    if (seen == "nothing") {
      WARN(python.label << " has mmap built in: nothing is loaded by its inner interpreter");
    }
    const auto all = test::tagged(workshop, {python.program, workshop.path("threads.py")});
    CHECK(all.size() == 20);
    for (const auto& [tag, chain] : all) {
      CHECK(chain == "threads.py:4 (__main__) load");
    }
  }
}

TEST_CASE("import chain: a program without Python has none", "[live][python][chain]") {
  const test::Workshop workshop;
  test::LoadWatch watch(workshop, {workshop.reporter("reporter"), "libm.so.6", "libm.so.6"});
  int loads = 0;
  while (const auto load = watch.next()) {
    CHECK(load->steps.empty());
    ++loads;
    if (loads == 3) {
      break;  // now it waits for its stdin to end
    }
  }
  CHECK(loads == 3);
  CHECK(watch.is_complete());
}

TEST_CASE("import chain: every load is told as the program tells it", "[live][python][chain]") {
  const auto pythons = test::pythons();
  REQUIRE_FALSE(pythons.empty());
  const test::Workshop workshop;
  for (const auto& python : pythons) {
    INFO(python.label);
    std::vector<std::string> argv{python.program, test::tests_file("live/python_import_truth.py")};
    for (const auto* name : {"json",
                             "decimal",
                             "ssl",
                             "ctypes.util",
                             "sqlite3",
                             "asyncio",
                             "uuid",
                             "multiprocessing.pool",
                             "xml.etree.ElementTree",
                             "curses",
                             "lzma",
                             "unittest.mock",
                             "zoneinfo",
                             "http.server",
                             "readline",
                             "csv"}) {
      argv.emplace_back(name);
    }
    test::LoadWatch watch(workshop, argv);
    int compared = 0;
    std::vector<std::chrono::nanoseconds> took;
    while (const auto load = watch.next()) {
      INFO(load->name);
      took.push_back(load->took);
      if (!load->truth.empty()) {
        CHECK(test::in_words(load->steps) == load->truth);
        ++compared;
      }
    }
    CHECK(watch.is_complete());
    CHECK(compared >= 8);
    std::sort(took.begin(), took.end());
    WARN(python.label << ": " << compared << " loads, " << took[took.size() / 2].count() / 1000
                      << " us each, at most " << took.back().count() / 1000);
  }
}
