// Every way to import, and the chain that must be told for it.

#include "base/text.hpp"
#include "support/catch.hpp"
#include "support/python_loads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace tracso;

namespace {

void check(const test::Chains& seen, const test::Chains& expected) {
  for (std::size_t i = 0; i < std::min(seen.size(), expected.size()); ++i) {
    CHECK(seen[i].first + ": " + seen[i].second == expected[i].first + ": " + expected[i].second);
  }
  CHECK(seen.size() == expected.size());
}

}  // namespace

TEST_CASE("import chain: every way to import is told with its line", "[live][python][chain]") {
  const test::Workshop workshop;
  REQUIRE(workshop.run("mkdir -p deep/er pack"));
  for (const auto* name : {"plain",
                           "by_name",
                           "by_function",
                           "by_exec",
                           "lazy",
                           "by_spec",
                           "in_class",
                           "in_thread",
                           "by_finder",
                           "pack/submodule",
                           "deep/er/leaf",
                           "größe",
                           "in_generator",
                           "second_line"}) {
    test::write_opener(
        workshop, fmt::format("{}.py", name), fmt::format("tag-{}", base_name(name)));
  }
  workshop.write("pack/__init__.py", "");
  workshop.write("deep/__init__.py", "");
  workshop.write("deep/er/__init__.py", "\n\nfrom . import inner\n");
  test::write_opener(workshop, "deep/er/inner.py", "tag-inner");
  workshop.write("main.py", R"(import sys, ctypes, importlib, importlib.util, threading
import plain
import deep.er.leaf
from pack import submodule
importlib.import_module("by_name")
__import__("by_function")
exec("\n\nimport by_exec")
def lazily():
    for _ in range(1):

        import lazy
lazily()
def load(name):
    spec = importlib.util.spec_from_file_location(name, sys.path[0] + "/" + name + ".py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
sys.modules["by_reload"] = load("by_spec")
sys.modules["by_spec"] = sys.modules["by_reload"]
importlib.reload(sys.modules["by_spec"])
class Inside:
    import in_class
thread = threading.Thread(target=lambda: __import__("in_thread"))
thread.start()
thread.join()
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "by_finder":
            try:
                ctypes.CDLL("tag-finder")
            except OSError:
                pass
sys.meta_path.insert(0, Finder)
import by_finder
import größe
def generator():
    yield 1
    import in_generator
    yield 2
list(generator())
from second_line import (
    ctypes)
def deep(depth):
    if depth:
        return deep(depth - 1)
    try:
        return ctypes.cdll["tag-recursion"]
    except (OSError, AttributeError):
        pass
deep(900)
for number in range(60):
    try:
        ctypes.CDLL("tag-often" if number == 59 else "often")
    except OSError:
        pass
)");
  const test::Chains expected = {
      {"plain", "main.py:2 (__main__) plain > plain.py:3 (plain) load"},
      {"inner",
       "main.py:3 (__main__) deep.er > deep/er/__init__.py:3 (deep.er) deep.er.inner > "
       "deep/er/inner.py:3 (deep.er.inner) load"},
      {"leaf", "main.py:3 (__main__) deep.er.leaf > deep/er/leaf.py:3 (deep.er.leaf) load"},
      {"submodule",
       "main.py:4 (__main__) pack.submodule > pack/submodule.py:3 (pack.submodule) load"},
      {"by_name", "main.py:5 (__main__) by_name > by_name.py:3 (by_name) load"},
      {"by_function", "main.py:6 (__main__) by_function > by_function.py:3 (by_function) load"},
      {"by_exec", "<string>:3 (__main__) by_exec > by_exec.py:3 (by_exec) load"},
      {"lazy", "main.py:11 (__main__) lazy > lazy.py:3 (lazy) load"},
      {"by_spec", "main.py:16 (__main__) by_spec > by_spec.py:3 (by_spec) load"},
      {"by_spec", "main.py:20 (__main__) by_spec > by_spec.py:3 (by_spec) load"},
      {"in_class", "main.py:22 (__main__) in_class > in_class.py:3 (in_class) load"},
      {"in_thread", "main.py:23 (__main__) in_thread > in_thread.py:3 (in_thread) load"},
      {"finder", "main.py:35 (__main__) by_finder > main.py:31 (__main__) load"},
      {"by_finder", "main.py:35 (__main__) by_finder > by_finder.py:3 (by_finder) load"},
      {"größe", "main.py:36 (__main__) größe > größe.py:3 (größe) load"},
      {"in_generator",
       "main.py:39 (__main__) in_generator > in_generator.py:3 (in_generator) load"},
      {"second_line", "main.py:42 (__main__) second_line > second_line.py:3 (second_line) load"},
      {"recursion", "main.py:48 (__main__) load"},
      // By then the interpreter calls __init__ by code of its own.
      {"often", "main.py:54 (__main__) load"},
  };
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    check(test::tagged(workshop, {python.program, workshop.path("main.py")}), expected);
  }
}

TEST_CASE("import chain: code in C that imports has a step without a line",
          "[live][python][chain]") {
  const test::Workshop workshop;
  // _decimal imports this one, by the name of a module of the library.
  workshop.write("numbers.py",
                 "import ctypes\n"
                 "try: ctypes.cdll.LoadLibrary('tag-from_c')\n"
                 "except OSError: pass\n"
                 "class Number:\n"
                 "    register = classmethod(lambda *all: None)\n"
                 "Rational = Number\n");
  workshop.write("main.py", "import decimal\n");
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    const auto seen = test::tagged(workshop, {python.program, workshop.path("main.py")});
    REQUIRE(seen.size() == 1);
    INFO(seen[0].second);
    CHECK(seen[0].second.starts_with("main.py:1 (__main__) decimal > "));
    CHECK(seen[0].second.find("/decimal.py:") != std::string::npos);
    CHECK(
        seen[0].second.ends_with(" (decimal) _decimal > :0 (_decimal) numbers > "
                                 "numbers.py:2 (numbers) load"));
  }
}

TEST_CASE("import chain: programs without a file of their own", "[live][python][chain]") {
  const test::Workshop workshop;
  REQUIRE(workshop.run("mkdir pack"));
  test::write_opener(workshop, "pack/__init__.py", "tag-pack");
  test::write_opener(workshop, "pack/__main__.py", "tag-main");
  test::write_opener(workshop, "zipped.py", "tag-zipped");
  test::write_opener(workshop, "sitecustomize.py", "tag-site");
  workshop.write("zip.py",
                 "import zipfile\n"
                 "with zipfile.ZipFile('archive.zip', 'w') as file: file.write('zipped.py')\n");
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    REQUIRE(workshop.run(python.program + " zip.py"));
    const auto path = "import sys; sys.path.insert(0, '" + workshop.path("") + "'); ";
    check(test::tagged(workshop, {python.program, "-c", path + "import pack"}),
          {{"pack", "<string>:1 (__main__) pack > pack/__init__.py:3 (pack) load"}});
    check(test::tagged(workshop,
                       {python.program,
                        "-c",
                        "import sys; sys.path.insert(0, '" + workshop.path("archive.zip") +
                            "')\n\nimport zipped"}),
          {{"zipped", "<string>:3 (__main__) zipped > archive.zip/zipped.py:3 (zipped) load"}});
    const auto seen = test::tagged(
        workshop, {"env", "PYTHONPATH=" + workshop.path(""), python.program, "-m", "pack"});
    REQUIRE(seen.size() == 3);
    CHECK(seen[0].second.find(" (site) sitecustomize > sitecustomize.py:3 (sitecustomize) load") !=
          std::string::npos);
    CHECK(seen[1].second.find(" (runpy) pack > pack/__init__.py:3 (pack) load") !=
          std::string::npos);
    CHECK(seen[2].second == "pack/__main__.py:3 (__main__) load");
  }
}

TEST_CASE("import chain: of very many imports those in the middle are left out",
          "[live][python][chain]") {
  const test::Workshop workshop;
  for (int i = 0; i < 220; ++i) {
    workshop.write(fmt::format("n{}.py", i), fmt::format("import n{}\n", i + 1));
  }
  test::write_opener(workshop, "n220.py", "tag-deep");
  workshop.write("main.py", "import sys\nsys.setrecursionlimit(100000)\nimport n0\n");
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    test::LoadWatch watch(workshop, {python.program, workshop.path("main.py")});
    std::vector<python::ImportStep> steps;
    while (const auto load = watch.next()) {
      steps = load->name == "tag-deep" ? load->steps : steps;
    }
    CHECK(watch.is_complete());
    REQUIRE(steps.size() == 200);
    CHECK(steps.front().module == "n0");
    CHECK(steps[99].module == "n99");
    CHECK(steps[100].module == "[23 imports left out]");
    CHECK(steps[101].module == "n123");
    CHECK(steps.back().module.empty());
    CHECK(steps.back().importer == "n220");
  }
}

// Code that is dropped leaves its place to the next, in a frame at the same place.
TEST_CASE("import chain: code in the place of other code is told apart", "[live][python][chain]") {
  const test::Workshop workshop;
  workshop.write("main.py", R"(import ctypes, os, sys
folder = os.path.dirname(os.path.abspath(__file__))
source = "import ctypes\ntry:\n    ctypes.CDLL('tag-%02d')\nexcept OSError:\n    pass\n"
for number in range(24):
    exec(compile(source % number, folder + "/part%02d" % number, "exec"), {"__name__": "part"})
for number in range(24):
    exec(compile("\n" * (number % 3) + source % number, folder + "/text%02d" % number, "exec"), {})
for number in range(24):
    with open(folder + "/again%02d.py" % number, "w") as file:
        file.write("\n" * (number % 2) + source % number)
    __import__("again%02d" % number)
    del sys.modules["again%02d" % number]
)");
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    test::LoadWatch watch(workshop, {python.program, workshop.path("main.py")});
    std::size_t seen = 0;
    while (const auto load = watch.next()) {
      if (!load->name.starts_with("tag-")) {
        continue;
      }
      const auto words = test::in_words(load->glance, workshop.path(""));
      CAPTURE(words);
      CHECK(words == test::in_words(load->steps, workshop.path("")));
      const auto number = load->name.substr(4);
      const std::string file = seen < 24   ? "part" + number + ":3"
                               : seen < 48 ? "text" + number + ":"
                                           : "again" + number + ".py:";
      CHECK(words.find(file) != std::string::npos);
      ++seen;
    }
    CHECK(seen == 72);
    CHECK(watch.is_complete());
  }
}

// An interpreter takes its importlib along, and other code gets the place.
TEST_CASE("import chain: what an interpreter that has ended left behind is not its importlib",
          "[live][python][chain]") {
  const test::Workshop workshop;
  constexpr int count = 60;
  for (int i = 0; i < count; ++i) {
    test::write_opener(workshop, fmt::format("m{}.py", i), fmt::format("tag-{:02}", i));
  }
  workshop.write("main.py", R"(import os, sys
folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, folder)
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
for number in range(60):
    source = "\n" * (number % 5) + "import m%d\n" % number
    if number % 3 == 0:
        __import__("m%d" % number)
    elif number % 3 == 1:
        exec(compile(source, folder + "/text%d" % number, "exec"), {"__name__": "text%d" % number})
    else:
        inner = interpreters.create()
        try:
            interpreters.run_string(inner, "import sys; sys.path.insert(0, %r)\n%s" % (folder, source))
        except Exception:
            pass
        finally:
            interpreters.destroy(inner)
)");
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    test::LoadWatch watch(workshop, {python.program, workshop.path("main.py")});
    int seen = 0;
    while (const auto load = watch.next()) {
      if (!load->name.starts_with("tag-")) {
        continue;
      }
      const auto words = test::in_words(load->glance, workshop.path(""));
      CAPTURE(load->name, words);
      CHECK(words == test::in_words(load->steps, workshop.path("")));
      const int number = std::stoi(load->name.substr(4));
      CHECK(words.find(fmt::format("m{}.py:3", number)) != std::string::npos);
      ++seen;
    }
    CHECK(seen >= 2 * count / 3);  // some releases open nothing in an inner one
    CHECK(watch.is_complete());
  }
}
