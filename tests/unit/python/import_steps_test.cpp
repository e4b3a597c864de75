// From frames to imports, with frames made by hand.

#include "python/import_steps.hpp"

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace tracso;
using namespace tracso::python;

namespace {

// A frame's role and the name its first argument tells.
using Frames = std::vector<std::pair<FrameRole, std::string>>;

constexpr auto code = FrameRole::code;
constexpr auto import = FrameRole::import;
constexpr auto load = FrameRole::load;
constexpr auto execute = FrameRole::execute;
constexpr auto call = FrameRole::call;
constexpr auto machinery = FrameRole::machinery;
constexpr auto opener = FrameRole::opener;

std::vector<PlannedStep> plan(const Frames& frames) {
  std::vector<FrameRole> roles;
  for (const auto& frame : frames) {
    roles.push_back(frame.first);
  }
  return plan_steps(roles, [&](std::size_t frame) { return frames[frame].second; });
}

using Steps = std::vector<PlannedStep>;

}  // namespace

TEST_CASE("import steps: each _find_and_load was asked for by the code before it",
          "[python][chain]") {
  CHECK(plan({{code, ""},
              {import, "pkg"},
              {machinery, ""},
              {load, "pkg"},
              {execute, "pkg"},
              {call, ""},
              {code, ""},
              {code, ""},
              {import, "json"},
              {load, "json"}}) == Steps{{"pkg", 0, ""}, {"json", 7, "pkg"}});
}

TEST_CASE("import steps: the code of a module that an import runs is told from other code",
          "[python][chain]") {
  const Frames body = {
      {code, ""}, {import, "pkg"}, {load, "pkg"}, {execute, "pkg"}, {call, ""}, {code, ""}};
  auto frames = body;
  frames.emplace_back(import, "json");
  CHECK(plan(frames) == Steps{{"pkg", 0, ""}, {"json", 5, "pkg", true}});
  // A function that it calls, perhaps of another module.
  frames = body;
  frames.emplace_back(code, "");
  frames.emplace_back(import, "json");
  CHECK(plan(frames) == Steps{{"pkg", 0, ""}, {"json", 6, "pkg", false}});
  // What loads a module may give it another name.
  CHECK(plan({{code, ""}, {execute, "plugin"}, {call, ""}, {code, ""}}).back() ==
        PlannedStep{"", 3, "plugin", false});
}

TEST_CASE("import steps: code that imports nothing is the last step", "[python][chain]") {
  CHECK(plan({{code, ""}}) == Steps{{"", 0, ""}});
  CHECK(plan({{code, ""}, {opener, ""}, {opener, ""}}) == Steps{{"", 0, ""}});
  CHECK(plan({{opener, ""}}) == Steps{{"", 0, ""}});
  CHECK(plan({}).empty());
}

TEST_CASE("import steps: an opener can ask for an import itself", "[python][chain]") {
  CHECK(plan({{code, ""}, {opener, ""}, {import, "nt"}}) == Steps{{"nt", 1, ""}});
}

TEST_CASE("import steps: the packages of a module come first, by the same line",
          "[python][chain]") {
  CHECK(plan({{code, ""},
              {import, "a.b.c"},
              {call, ""},
              {import, "a.b"},
              {call, ""},
              {import, "a"}}) == Steps{{"a", 0, ""}});
  // A package that loads is no such thing: its code in C imports a package of the same name.
  CHECK(plan({{code, ""}, {import, "a.b"}, {load, "a.b"}, {import, "a"}}) ==
        Steps{{"a.b", 0, ""}, {"a", std::nullopt, "a.b"}});
  CHECK(plan({{code, ""}, {import, "ab"}, {import, "a"}}).size() == 2);
}

TEST_CASE("import steps: code in C has no frame", "[python][chain]") {
  CHECK(plan({{code, ""},
              {import, "fast"},
              {load, ""},
              {execute, ""},
              {call, ""},
              {import, "secrets"}}) == Steps{{"fast", 0, ""}, {"secrets", std::nullopt, "fast"}});
  CHECK(plan({{import, "encodings"}}) == Steps{{"encodings", std::nullopt, ""}});
}

TEST_CASE("import steps: a module in C that loads something while it is run", "[python][chain]") {
  CHECK(plan({{code, ""}, {import, "fast"}, {load, ""}, {execute, ""}, {call, ""}}) ==
        Steps{{"fast", 0, ""}, {"", std::nullopt, "fast"}});
  // While it is made, it is loaded itself.
  CHECK(plan({{code, ""}, {import, "fast"}, {load, ""}, {load, ""}, {call, ""}}) ==
        Steps{{"fast", 0, ""}});
}

TEST_CASE("import steps: a module loaded without import is named by its loader",
          "[python][chain]") {
  CHECK(plan({{code, ""}, {execute, "plugin"}, {call, ""}, {code, ""}, {import, "json"}}) ==
        Steps{{"plugin", 0, ""}, {"json", 3, "plugin"}});
  // Nobody knows its name: the code that loads it is the last that is known.
  CHECK(plan({{code, ""}, {load, ""}, {call, ""}}) == Steps{{"", 0, ""}});
}

TEST_CASE("import steps: a loader in Python is part of the import", "[python][chain]") {
  CHECK(plan({{code, ""},
              {import, "x"},
              {load, "x"},
              {code, ""},
              {execute, "x"},
              {call, ""},
              {code, ""}}) == Steps{{"x", 0, ""}, {"", 6, "x"}});
}

TEST_CASE("import steps: a name that cannot be read is a question mark", "[python][chain]") {
  CHECK(plan({{code, ""}, {import, ""}}) == Steps{{"?", 0, ""}});
  CHECK(plan({{FrameRole::unknown, ""}, {import, "x"}}) == Steps{{"x", std::nullopt, ""}});
}

TEST_CASE("import steps: functions are known by file and name", "[python][chain]") {
  CHECK(frame_role("<frozen importlib._bootstrap>", "_find_and_load") == import);
  CHECK(frame_role("/usr/lib/python3.12/importlib/_bootstrap.py", "_find_and_load") == import);
  CHECK(frame_role("<frozen importlib._bootstrap_external>", "exec_module") == execute);
  CHECK(frame_role("<frozen importlib._bootstrap>", "_call_with_frames_removed") == call);
  CHECK(frame_role("<frozen importlib._bootstrap>", "_handle_fromlist") == machinery);
  CHECK(frame_role("/usr/lib/python3.8/importlib/__init__.py", "import_module") == machinery);
  CHECK(frame_role("/usr/lib/python3.8/importlib/__init__.py", "<module>") == code);
  CHECK(frame_role("/usr/lib/python3.8/ctypes/__init__.py", "__init__") == opener);
  CHECK(frame_role("/usr/lib/python3.8/ctypes/__init__.py", "<module>") == code);
  CHECK(frame_role("/home/me/app.py", "_find_and_load") == code);
  CHECK(frame_role("__init__", "__init__") == machinery);  // _Py_InitCleanup
  CHECK(frame_role("/home/me/app.py", "__init__") == code);
  CHECK(frame_role("<frozen runpy>", "_run_code") == code);
  CHECK(frame_role("<frozen zipimport>", "exec_module") == code);
}

TEST_CASE("import steps: the middle of very many is left out and counted", "[python][chain]") {
  std::vector<ImportStep> steps(10);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].module = std::to_string(i);
  }
  CHECK(shorten(steps, 10) == steps);
  const auto short_ones = shorten(steps, 5);
  REQUIRE(short_ones.size() == 5);
  CHECK(short_ones[1].module == "1");
  CHECK(short_ones[2].module == "[6 imports left out]");
  CHECK(short_ones[3].module == "8");
  CHECK(short_ones[4].module == "9");
}
