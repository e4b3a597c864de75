// Targets that another way of looking would disturb, wait for, or never reach.

#include "base/result.hpp"
#include "base/text.hpp"
#include "python/interpreter.hpp"
#include "python/memory_probe.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_truth.hpp"
#include "support/thread_stop.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

using namespace tracso;

namespace {

Result<PythonFacts> probe(pid_t pid) {
  auto target = test::live_target(pid);
  if (!target) {
    return Error{ErrorKind::not_found, "look at", std::to_string(pid), "it is gone", ""};
  }
  return python::make_memory_probe()->probe(target->input);
}

void check_same(const Result<PythonFacts>& facts, const std::vector<PythonModule>& truth) {
  if (!facts) {
    FAIL_CHECK(sentence(facts.error()));
    return;
  }
  CHECK(test::first_difference(facts->modules, truth) == "");
}

// The truth of a child and the probe's view of it agree; `before` is done between the two.
template <class Before>
void check_child(std::vector<std::string> argv, std::vector<std::string> settings, Before before) {
  test::Child child(std::move(argv), std::move(settings));
  const auto truth = test::read_truth(child);
  REQUIRE(truth);
  before(child);
  check_same(probe(child.pid()), *truth);
}

const auto nothing = [](test::Child&) {};

bool has_module(const PythonFacts& facts, std::string_view name) {
  return std::any_of(facts.modules.begin(), facts.modules.end(), [&](const PythonModule& module) {
    return module.name == name;
  });
}

// Runs a script that says "ready" and waits for a line; what it does then is `after`.
struct Script {
  Script(const std::string& program, const std::string& text, const std::string& after = "")
      : child({program, "-c", text + "\nprint('ready', flush=True)\ninput()\n" + after}),
        is_ready(child.line() == "ready") {}

  test::Child child;
  bool is_ready;
};

char state_of(pid_t pid) {
  const auto target = test::live_target(pid);
  const auto text = target ? *target->process->read("stat") : std::string();
  const auto name_end = text.rfind(')');
  return name_end == std::string::npos ? '?' : text[name_end + 2];
}

}  // namespace

TEST_CASE("memory probe: a stopped target is read and stays stopped", "[live][python]") {
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    check_child(test::truth_command(python.program, {}, false), {}, [](test::Child& child) {
      ::kill(child.pid(), SIGSTOP);
      for (int i = 0; i < 1000 && state_of(child.pid()) != 'T'; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      CHECK(probe(child.pid()));
      CHECK(state_of(child.pid()) == 'T');
    });
  }
}

TEST_CASE("memory probe: a target that another debugger holds is read", "[live][python]") {
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    std::unique_ptr<python::Stop> debugger;
    check_child(test::truth_command(python.program, {}, false), {}, [&](test::Child& child) {
      auto held = test::stop_threads(child.pid());
      REQUIRE(held);
      debugger = std::move(*held);
    });
  }
}

TEST_CASE("memory probe: a lock held in C for ever is no obstacle", "[live][python]") {
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    test::Child child({python.program,
                       "-c",
                       "import ctypes, colorsys\n"
                       "print('ready', flush=True)\n"
                       "ctypes.PyDLL(None).pause()"});
    REQUIRE(child.line() == "ready");
    const auto facts = probe(child.pid());
    REQUIRE(facts);
    CHECK(has_module(*facts, "colorsys"));
    CHECK(has_module(*facts, "_ctypes"));
  }
}

TEST_CASE("memory probe: a forked child has its own modules", "[live][python]") {
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    test::Child child({python.program,
                       "-c",
                       "import os, sys, time\n"
                       "read, write = os.pipe()\n"
                       "forked = os.fork()\n"
                       "if not forked:\n"
                       "    import colorsys\n"
                       "    os.write(write, b'x')\n"
                       "    sys.stdin.read()\n"
                       "    os._exit(0)\n"
                       "os.read(read, 1)\n"
                       "print(forked, flush=True)\n"
                       "sys.stdin.read()"});
    const auto forked = child.line();
    REQUIRE(forked);
    const auto of_child = probe(static_cast<pid_t>(parse_unsigned(*forked).value()));
    const auto of_parent = probe(child.pid());
    REQUIRE(of_child);
    REQUIRE(of_parent);
    CHECK(has_module(*of_child, "colorsys"));
    CHECK_FALSE(has_module(*of_parent, "colorsys"));
  }
}

TEST_CASE("memory probe: sub-interpreters bring their own modules", "[live][python]") {
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    const Script script(python.program,
                        "import importlib\n"
                        "for name in '_xxsubinterpreters', '_interpreters':\n"
                        "    try:\n"
                        "        sub = importlib.import_module(name)\n"
                        "    except ImportError:\n"
                        "        continue\n"
                        "    one, two = sub.create(), sub.create()\n"
                        "    sub.run_string(one, 'import colorsys')\n"
                        "    sub.run_string(two, 'import wave')\n"
                        "    break");
    REQUIRE(script.is_ready);
    const auto facts = probe(script.child.pid());
    REQUIRE(facts);
    CHECK(has_module(*facts, "colorsys"));
    CHECK(has_module(*facts, "wave"));
    // What all three have in the same form is there once.
    CHECK(std::count_if(facts->modules.begin(), facts->modules.end(), [](const auto& module) {
            return module.name == "builtins";
          }) == 1);
  }
}

TEST_CASE("memory probe: a sys.modules put in place of the first is read too", "[live][python]") {
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    const Script script(python.program,
                        "import sys, types, colorsys\n"
                        "first = sys.modules\n"
                        "sys.modules = dict(sys.modules)\n"
                        "sys.modules['only_new'] = types.ModuleType('only_new')\n"
                        "first['only_old'] = types.ModuleType('only_old')");
    REQUIRE(script.is_ready);
    const auto facts = probe(script.child.pid());
    REQUIRE(facts);
    CHECK(has_module(*facts, "only_new"));
    CHECK(has_module(*facts, "only_old"));
    CHECK(has_module(*facts, "colorsys"));
  }
}

TEST_CASE("memory probe: sys put into sys.modules anew is still found", "[live][python]") {
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    const Script script(python.program, "import sys\nsys.modules['sys'] = sys.modules.pop('sys')");
    REQUIRE(script.is_ready);
    const auto facts = probe(script.child.pid());
    REQUIRE(facts);
    CHECK(facts->modules.back().name == "sys");
  }
}

TEST_CASE("memory probe: another allocator changes nothing", "[live][python]") {
  for (const auto& python : test::pythons()) {
    for (const char* allocator : {"malloc", "debug", "malloc_debug", "pymalloc"}) {
      INFO(python.label << " " << allocator);
      check_child(test::truth_command(python.program, {"--zoo"}, false),
                  {std::string("PYTHONMALLOC=") + allocator},
                  nothing);
    }
  }
}

TEST_CASE("memory probe: a program that was deleted since is read", "[live][python]") {
  const std::filesystem::path folder =
      std::filesystem::path(test::scratch_folder()) / "deleted-python";
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    test::Child asking({python.program,
                        "-c",
                        "import sys, os, glob\n"
                        "print(os.path.realpath(sys.executable))\n"
                        "print(sys.base_prefix)\n"
                        "name = '/lib/libpython%d.%d*.so.1.0' % sys.version_info[:2]\n"
                        "print(''.join(glob.glob(sys.base_prefix + name)), flush=True)"});
    const auto program = asking.line(), home = asking.line(), library = asking.line();
    REQUIRE(library);
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(*program, folder / "program");
    if (!library->empty()) {
      const auto name = std::filesystem::path(*library).filename();
      std::filesystem::copy_file(*library, folder / name);
    }
    check_child(test::truth_command(folder / "program", {}, false),
                {"PYTHONHOME=" + *home, "LD_LIBRARY_PATH=" + folder.string()},
                [&](test::Child& child) {
                  std::filesystem::remove_all(folder);
                  const auto target = test::live_target(child.pid());
                  REQUIRE(target);
                  const auto found = python::find_interpreter(target->input);
                  REQUIRE(found);
                  REQUIRE(found->runtimes.size() == 1);
                  const auto& mappings = target->input.mappings;
                  CHECK(std::any_of(mappings.begin(), mappings.end(), [&](const Mapping& mapping) {
                    return mapping.deleted && mapping.start == found->runtimes[0].header;
                  }));
                });
  }
}

TEST_CASE("memory probe: the loader may be the program", "[live][python]") {
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    auto argv = test::truth_command(python.program, {}, false);
    argv.insert(argv.begin(), "/lib64/ld-linux-x86-64.so.2");
    check_child(std::move(argv), {}, nothing);
  }
}

TEST_CASE("memory probe: other namespaces are no border", "[live][python]") {
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    auto argv = test::truth_command(python.program, {}, false);
    const std::vector<std::string> unshare{"unshare", "--user", "--map-root-user", "--mount"};
    argv.insert(argv.begin(), unshare.begin(), unshare.end());
    check_child(std::move(argv), {}, nothing);
  }
}

TEST_CASE("memory probe: an ended target is an error, not garbage", "[live][python]") {
  for (const auto& python : test::pythons()) {
    INFO(python.label);
    const Script script(python.program, "");
    REQUIRE(script.is_ready);
    const pid_t pid = script.child.pid();
    auto target = test::live_target(pid);
    REQUIRE(target);
    ::kill(pid, SIGKILL);
    for (int i = 0; i < 1000 && state_of(pid) != 'Z'; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const auto of_zombie = python::make_memory_probe()->probe(target->input);
    REQUIRE_FALSE(of_zombie);
    CHECK(of_zombie.error().kind == ErrorKind::interrupted);
    const auto from_anew = probe(pid);  // its maps are empty by now
    REQUIRE_FALSE(from_anew);
    CHECK(from_anew.error().kind == ErrorKind::interrupted);
  }
}

TEST_CASE("memory probe: a target that goes while it is read does no harm", "[live][python]") {
  const auto pythons = test::pythons();
  std::mt19937 chance(1);
  int read = 0, refused = 0;
  for (int i = 0; i < 60; ++i) {
    const auto& python = pythons[static_cast<std::size_t>(i) % pythons.size()];
    // Every other one becomes another program instead of ending.
    const std::string change =
        i % 2 == 0 ? "os._exit(0)" : "os.execv('/bin/sleep', ['sleep', '9'])";
    Script script(python.program, "import os, json, decimal, asyncio", change);
    REQUIRE(script.is_ready);
    auto target = test::live_target(script.child.pid());
    REQUIRE(target);
    std::thread ending([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(chance() % 40000));
      script.child.write("\n");
    });
    const auto facts = python::make_memory_probe()->probe(target->input);
    ending.join();
    INFO(python.label << " " << change);
    if (facts) {
      ++read;
      CHECK(has_module(*facts, "decimal"));
    } else {
      ++refused;
      INFO(sentence(facts.error()));
      CHECK(facts.error().kind == ErrorKind::interrupted);
    }
  }
  WARN(read << " read before they went, " << refused << " refused");
}

TEST_CASE("memory probe: a target that has only just started does no harm", "[live][python]") {
  const auto pythons = test::pythons();
  int read = 0, refused = 0;
  for (int i = 0; i < 100; ++i) {
    const auto& python = pythons[static_cast<std::size_t>(i) % pythons.size()];
    test::Child child({python.program, "-c", "input()"});
    std::this_thread::sleep_for(std::chrono::milliseconds(i));
    const auto facts = probe(child.pid());
    if (facts) {
      ++read;
      CHECK(has_module(*facts, "sys"));
    } else {
      ++refused;
      INFO(sentence(facts.error()));
      const auto kind = facts.error().kind;
      CHECK((kind == ErrorKind::interrupted || kind == ErrorKind::unsupported));
    }
  }
  WARN(read << " read, " << refused << " refused");
  CHECK(read > 0);
}

TEST_CASE("memory probe: what is no Python is refused by name", "[live][python]") {
  test::Child child({"/bin/sleep", "100"});
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto facts = probe(child.pid());
  REQUIRE_FALSE(facts);
  CHECK(facts.error().kind == ErrorKind::unsupported);
  CHECK(facts.error().reason == "no CPython is mapped");
}
