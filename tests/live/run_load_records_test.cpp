// Who brought in each object, and what the loader refused.

#include "base/text.hpp"
#include "support/catch.hpp"
#include "support/plugin_programs.hpp"
#include "support/run_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

using namespace tracso;
using namespace tracso::test;

namespace {

using launch::FailedLoad;
using launch::LoadCause;
using launch::LoadRecord;

launch::RunResult record(const Arguments& argv) {
  const Native native = run_natively(argv);
  const SeenRun ran = run(argv, [](launch::RunOptions& options) { options.record_loads = true; });
  CAPTURE(argv, ran.err);
  REQUIRE(ran.result);
  CHECK(ran.out == native.out);
  CHECK(shell_status(*ran.result) == native.status);
  return *ran.result;
}

std::vector<LoadRecord> loads_of(const launch::RunResult& result, std::string_view file) {
  std::vector<LoadRecord> found;
  std::copy_if(result.loads.begin(),
               result.loads.end(),
               std::back_inserter(found),
               [&](const LoadRecord& load) { return base_name(load.name) == file; });
  return found;
}

// The name of the object with that dynamic section: "" is the program, "?" none.
std::string name_at(const launch::RunResult& result, std::uint64_t dynamic) {
  for (const LoadRecord& load : result.loads) {
    if (load.dynamic == dynamic) {
      return std::string(base_name(load.name));
    }
  }
  return "?";
}

bool has_notice(const launch::RunResult& result, std::string_view code) {
  return std::any_of(result.notices.begin(), result.notices.end(), [&](const Notice& notice) {
    return notice.code == code;
  });
}

void check_plugins(const PluginPrograms& made, const std::string& program_name) {
  const auto result = record({made.program,
                              "open:" + (made / "plugin.so"),
                              "plugin:" + (made / "inner.so"),
                              "symbol",
                              "open:" + (made / "leaf.so")});
  const auto start = loads_of(result, program_name);
  REQUIRE(start.size() == 1);
  CHECK(start[0].cause == LoadCause::startup);
  const auto plugin = loads_of(result, "plugin.so");
  REQUIRE(plugin.size() == 1);
  CHECK(plugin[0].cause == LoadCause::dlopen);
  CHECK(name_at(result, plugin[0].requester) == program_name);
  CHECK(plugin[0].thread == result.pid);
  CHECK(plugin[0].began <= plugin[0].ended);
  const auto inner = loads_of(result, "inner.so");
  REQUIRE(inner.size() == 1);
  CHECK(inner[0].cause == LoadCause::dlopen);
  CHECK(name_at(result, inner[0].requester) == "plugin.so");
  CHECK(inner[0].began >= plugin[0].ended);
  const auto leaf = loads_of(result, "leaf.so");
  REQUIRE(leaf.size() == 1);
  CHECK(leaf[0].cause == LoadCause::needed);
  CHECK(name_at(result, leaf[0].requester) == "inner.so");
  CHECK(leaf[0].dlopen == inner[0].dlopen);
  CHECK(leaf[0].dlopen != plugin[0].dlopen);
  CHECK(result.failed_loads.empty());
}

// What is dropped leaves its place to the next, and that to one like the first: of the very same
// bytes, before anybody has looked at them who waits until the thread runs on.
constexpr const char* places = R"(import _ctypes, importlib.util, sys
names = {"__name__": "part", "open": _ctypes.dlopen}

def code(number):  # two texts in turn
    exec(compile("\nopen(path, 2)\n", "ab"[number % 2], "exec"), names)

def line(number):  # the same text in three lines
    exec(compile("\n" * (number % 3) + "open(path, 2)\n", "a", "exec"), names)

class Loader:
    def find_spec(self, name, path, target=None):
        return importlib.util.spec_from_loader(name, self) if name.startswith("part") else None
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        _ctypes.dlopen(names["path"], 2)

def name(number):  # modules that are imported once
    __import__("part%03d" % number)
    del sys.modules["part%03d" % number]

sys.meta_path.insert(0, Loader())
for number in range(int(sys.argv[3])):
    names["path"] = "%s.%d" % (sys.argv[2], number)
    globals()[sys.argv[1]](number)
)";

// Of the load of that number in each of the three.
bool told_right(const std::string& what, int number, const std::vector<ImportStep>& imports) {
  if (imports.empty()) {
    return false;
  }
  const ImportStep& last = imports.back();
  return what == "code"   ? last.file == (number % 2 == 0 ? "a" : "b") && last.line == 2
         : what == "line" ? last.line == static_cast<std::uint32_t>(number % 3 + 1)
                          : imports.front().module == fmt::format("part{:03}", number);
}

}  // namespace

TEST_CASE("run loads: a plugin's plugin belongs to the plugin", "[live][run][loads]") {
  check_plugins(plugin_programs("records"), "");
  check_plugins(plugin_programs("records-narrow", "cc -m32"), "");
}

TEST_CASE("run loads: musl's dlopen is noted when it begins", "[live][run][loads]") {
  const auto made = plugin_programs("records-musl", "musl-gcc");
  check_plugins(made, "program");
  const auto result = record({made.program, "open:" + (made / "leaf.so")});
  CHECK(result.failed_loads.empty());
  CHECK_FALSE(has_notice(result, "failed-loads-not-seen"));
}

TEST_CASE("run loads: what musl refuses is told in its words", "[live][run][loads]") {
  const auto made = plugin_programs("refused-musl", "musl-gcc");
  // The symbol that is not there is dlsym's affair, and refuses no dlopen.
  const auto result = record({made.program,
                              "open:/nowhere.so",
                              "open:" + (made / "plugin.so"),
                              "symbol",
                              "plugin:" + (made / "needy.so"),
                              "open:" + (made / "undefined.so"),
                              "open:" + (made / "program.c"),
                              "thread:" + (made / "leaf.so"),
                              "open:libtracso_nowhere.so.7"});

  struct Expected {
    std::string asked, name, reason, requester;
  };

  const std::string missing = "No such file or directory";
  const std::vector<Expected> expected = {
      {"/nowhere.so", "/nowhere.so", missing, "program"},
      {made / "needy.so",
       "gone.so",
       missing + " (needed by " + (made / "needy.so") + ")",
       "plugin.so"},
      {made / "undefined.so", made / "undefined.so", "leaf: symbol not found", "program"},
      {made / "program.c", made / "program.c", "Exec format error", "program"},
      {"libtracso_nowhere.so.7", "libtracso_nowhere.so.7", missing, "program"}};
  REQUIRE(result.failed_loads.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const launch::FailedLoad& failed = result.failed_loads[i];
    CHECK(failed.asked == expected[i].asked);
    CHECK(failed.name == expected[i].name);
    CHECK(failed.reason == expected[i].reason);
    CHECK(name_at(result, failed.requester) == expected[i].requester);
  }
}

TEST_CASE("run loads: musl tells why a program cannot start", "[live][run][loads]") {
  const std::string dependency = write_file("dep.c", "");
  const std::string folder = dependency.substr(0, dependency.rfind('/'));
  const auto make = [&](const std::string& file, const std::string& text, const std::string& how) {
    write_file(file + ".c", text);
    const auto line = "cd '" + folder + "' && musl-gcc " + file + ".c " + how;
    REQUIRE(std::system(line.c_str()) == 0);
  };
  make("dep",
       "int dep(void) { return 0; }\nint extra(void) { return 0; }\n",
       "-shared -fPIC -o libdep.so");
  make("start",
       "int dep(void), extra(void);\nint main(void) { return dep() + extra(); }\n",
       "-o start -L. -ldep '-Wl,-rpath,$ORIGIN'");
  const std::string program = folder + "/start";
  CHECK(record({program}).failed_loads.empty());

  make("dep", "int dep(void) { return 0; }\n", "-shared -fPIC -o libdep.so");
  auto result = record({program});
  CHECK(result.exit_status == 127);
  REQUIRE(result.failed_loads.size() == 1);
  CHECK(result.failed_loads[0].name == program);
  CHECK(result.failed_loads[0].reason == "extra: symbol not found");

  REQUIRE(unlink((folder + "/libdep.so").c_str()) == 0);
  result = record({program});
  REQUIRE_FALSE(result.failed_loads.empty());
  CHECK(result.failed_loads[0].name == "libdep.so");
  CHECK(result.failed_loads[0].reason == "No such file or directory (needed by " + program + ")");
  CHECK_FALSE(has_notice(result, "start-unfinished"));
}

TEST_CASE("run loads: what is unloaded and comes back is another load", "[live][run][loads]") {
  const auto made = plugin_programs("again");
  const std::string inner = made / "inner.so";
  const auto result = record({made.program,
                              "open:" + (made / "plugin.so"),
                              "open:" + inner,
                              "close:" + inner,
                              "plugin:" + inner});
  for (const std::string file : {"inner.so", "leaf.so"}) {
    const auto both = loads_of(result, file);
    REQUIRE(both.size() == 2);
    REQUIRE(both[0].unloaded);
    CHECK(*both[0].unloaded >= both[0].ended);
    CHECK(*both[0].unloaded <= both[1].began);
    CHECK_FALSE(both[1].unloaded);
  }
  CHECK(name_at(result, loads_of(result, "inner.so")[0].requester) == "");
  CHECK(name_at(result, loads_of(result, "inner.so")[1].requester) == "plugin.so");
}

TEST_CASE("run loads: a namespace of its own is told", "[live][run][loads]") {
  const auto made = plugin_programs("space");
  const auto result =
      record({made.program, "open:" + (made / "inner.so"), "space:" + (made / "inner.so")});
  for (const std::string file : {"inner.so", "leaf.so"}) {
    const auto both = loads_of(result, file);
    REQUIRE(both.size() == 2);
    CHECK(both[0].link_namespace == 0);
    CHECK(both[1].link_namespace == 1);
    CHECK(both[0].dynamic != both[1].dynamic);
  }
  CHECK(loads_of(result, "inner.so")[1].cause == LoadCause::dlopen);
  CHECK(name_at(result, loads_of(result, "inner.so")[1].requester) == "");
}

TEST_CASE("run loads: what the loader refuses is told in its words", "[live][run][loads]") {
  const std::string compiler = GENERATE(as<std::string>{}, "cc", "cc -m32");
  const auto made = plugin_programs(compiler == "cc" ? "refused" : "refused-narrow", compiler);
  const auto result = record({made.program,
                              "open:" + (made / "plugin.so"),
                              "symbol",
                              "open:libtracso_nowhere.so.7",
                              "plugin:" + (made / "needy.so"),
                              "open:" + (made / "undefined.so"),
                              "open:" + (made / "old.so"),
                              "open:" + (made / "program.c"),
                              "space:/nowhere.so",
                              "open:libtracso_nowhere.so.7"});

  struct Expected {
    std::string asked, name, reason, requester;
  };

  const std::string missing = "cannot open shared object file: No such file or directory";
  const std::vector<Expected> expected = {
      {"libtracso_nowhere.so.7", "libtracso_nowhere.so.7", missing, ""},
      {made / "needy.so", "gone.so", missing, "plugin.so"},
      {made / "undefined.so", made / "undefined.so", "undefined symbol: leaf", ""},
      {made / "old.so",
       made / "version.so",
       "version `TWO' not found (required by " + (made / "old.so") + ")",
       ""},
      {made / "program.c", made / "program.c", "invalid ELF header", ""},
      {"/nowhere.so", "/nowhere.so", missing, ""},
      {"libtracso_nowhere.so.7", "libtracso_nowhere.so.7", missing, ""}};
  REQUIRE(result.failed_loads.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const launch::FailedLoad& failed = result.failed_loads[i];
    CHECK(failed.asked == expected[i].asked);
    CHECK(failed.name == expected[i].name);
    CHECK(failed.reason == expected[i].reason);
    CHECK(name_at(result, failed.requester) == expected[i].requester);
    CHECK(failed.thread == result.pid);
  }
}

TEST_CASE("run loads: a start that is refused is told", "[live][run][loads]") {
  const auto made = plugin_programs("start");
  const auto version = record({made / "refused"});
  REQUIRE(version.failed_loads.size() == 1);
  CHECK(version.failed_loads[0].name == made / "version.so");
  CHECK(version.failed_loads[0].reason ==
        "version `TWO' not found (required by " + (made / "old.so") + ")");
  CHECK(version.failed_loads[0].asked == "");

  const auto missing = record({made / "missing"});
  REQUIRE(missing.failed_loads.size() == 1);
  CHECK(missing.failed_loads[0].name == "gone.so");
  CHECK(missing.exit_status == 127);

  const auto preload = record({"env", "LD_PRELOAD=/nowhere.so", "/bin/true"});
  REQUIRE(preload.failed_loads.size() == 1);
  CHECK(preload.failed_loads[0].name == "/nowhere.so");
  CHECK(preload.exit_status == 0);
  CHECK(preload.loads.size() >= 3);
}

TEST_CASE("run loads: ctypes asks for what it opens", "[live][run][loads]") {
  const auto result = record({python(),
                              "-c",
                              "import ctypes\n"
                              "ctypes.CDLL('libutil.so.1')\n"
                              "try: ctypes.CDLL('libtracso_nowhere.so')\n"
                              "except OSError as e: print(e)\n"});
  REQUIRE(result.failed_loads.size() == 1);
  CHECK(result.failed_loads[0].asked == "libtracso_nowhere.so");
  const auto requester = name_at(result, result.failed_loads[0].requester);
  CHECK(requester.find("_ctypes") != std::string::npos);
  const auto util = loads_of(result, "libutil.so.1");
  REQUIRE(util.size() == 1);
  if (util[0].cause == LoadCause::dlopen) {  // before 3.13 some Pythons need it themselves
    CHECK(name_at(result, util[0].requester) == requester);
  }
}

TEST_CASE("run loads: what comes back to its place is told from what stood there meanwhile",
          "[live][run][loads]") {
  constexpr int loads = 100;
  const std::string library =
      compile("back.so", "int tracso_test_value = 1;\n", "cc -shared -fPIC");
  for (int i = 0; i < loads; ++i) {
    std::filesystem::copy_file(library,
                               fmt::format("{}.{}", library, i),
                               std::filesystem::copy_options::overwrite_existing);
  }
  const std::string script = write_file("back.py", places);
  const std::string what = GENERATE("code", "line", "name");
  for (const std::string& program : python_programs()) {
    CAPTURE(program, what);
    const auto result = record({program, script, what, library, std::to_string(loads)});
    CHECK_FALSE(has_notice(result, "imports-incomplete"));
    int wrong = 0;
    for (int i = 0; i < loads; ++i) {
      const auto found = loads_of(result, fmt::format("back.so.{}", i));
      REQUIRE(found.size() == 1);
      wrong += told_right(what, i, found[0].imports) ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("run loads: threads that load at once are told apart", "[live][run][loads]") {
  const auto made = plugin_programs("threads");
  const auto result = record({made.program, "thread:" + (made / "inner.so")});
  const auto loads = loads_of(result, "inner.so");
  REQUIRE_FALSE(loads.empty());
  std::set<std::int32_t> threads;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    threads.insert(loads[i].thread);
    CHECK(loads[i].cause == LoadCause::dlopen);
    CHECK(name_at(result, loads[i].requester) == "");
    CHECK(loads[i].unloaded);
  }
  CHECK(threads.count(result.pid) == 0);
  CHECK(loads_of(result, "leaf.so").size() == loads.size());
}

TEST_CASE("run loads: alarms in between change nothing", "[live][run][loads]") {
  const std::string script = write_file("alarmed.py", R"(
import signal
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
import ssl, decimal, ctypes, sqlite3
for i in range(50):
    try: ctypes.CDLL("libtracso_nowhere.so")
    except OSError: pass
signal.setitimer(signal.ITIMER_REAL, 0)
print("done")
)");
  const auto result = record({python(), script});
  CHECK(result.failed_loads.size() == 50);
  for (const LoadRecord& load : result.loads) {
    CAPTURE(load.name);
    CHECK((load.cause == LoadCause::startup || load.requester != 0));
  }
}

TEST_CASE("run loads: a child's loads are the child's", "[live][run][loads]") {
  const auto made = plugin_programs("fork");
  const auto result =
      record({made.program, "fork:" + (made / "inner.so"), "open:" + (made / "leaf.so")});
  CHECK(loads_of(result, "inner.so").empty());
  CHECK(loads_of(result, "leaf.so").size() == 1);
}

TEST_CASE("run loads: only the program that it becomes counts", "[live][run][loads]") {
  const auto made = plugin_programs("exec");
  const auto result =
      record({made.program, "open:" + (made / "plugin.so"), "exec:" + (made / "inner.so")});
  CHECK(loads_of(result, "plugin.so").empty());
  CHECK(loads_of(result, "inner.so").size() == 1);
  CHECK(record({"/bin/sh", "-c", "exec /bin/true"}).loads.size() >= 3);
}

TEST_CASE("run loads: a static program has none", "[live][run][loads]") {
  const std::string program =
      compile("static_loads", "int main(void) { return 0; }\n", "cc -static");
  CHECK(record({program}).loads.empty());
}

TEST_CASE("run loads: a program run by its loader is told too", "[live][run][loads]") {
  const auto made = plugin_programs("by-loader");
  const auto maps = record({made.program, "open:" + (made / "inner.so")});
  std::string loader;
  for (const LoadRecord& load : maps.loads) {
    if (base_name(load.name).starts_with("ld-")) {
      loader = load.name;
    }
  }
  REQUIRE_FALSE(loader.empty());
  const auto result = record({loader, made.program, "open:" + (made / "inner.so")});
  CHECK(loads_of(result, "inner.so").size() == 1);
  CHECK(loads_of(result, "inner.so")[0].cause == LoadCause::dlopen);
  CHECK(loads_of(result, "leaf.so").size() == 1);
}

TEST_CASE("run loads: there is room for a thousand failures", "[live][run][loads]") {
  const std::string program = compile("fails_often",
                                      R"(
#include <dlfcn.h>
int main(void) {
  for (int i = 0; i < 1010; ++i) dlopen("/nowhere.so", RTLD_NOW);
  return 0;
}
)",
                                      "cc -Wl,--no-as-needed -ldl");
  const auto result = record({program});
  CHECK(result.failed_loads.size() == 1000);
  CHECK(has_notice(result, "failed-loads-not-listed"));
}
