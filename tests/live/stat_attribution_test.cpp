// What `tracso stat --attribution` says of commands: injected amounts, and the moments of its
// looks.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace tracso::test {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t megabyte = 1024 * 1024;
constexpr const char* system_python = "/usr/bin/python3";

Json attribution_of(const ProgramRun& ran, int status = 0) {
  INFO(ran.out << ran.err);
  REQUIRE(ran.status == status);
  const Json all = Json::parse(ran.out, nullptr, false);
  REQUIRE(all.is_object());
  REQUIRE(all.at("attribution").is_object());
  return all.at("attribution");
}

Json attribution_of_script(const std::string& script, int status = 0) {
  return attribution_of(
      run_tracso({"stat", "--json", "--attribution=objects", system_python, "-c", script}), status);
}

std::int64_t growth(const Json& change) {
  REQUIRE(change.at("before").is_number());
  return change.at("after").get<std::int64_t>() - change.at("before").get<std::int64_t>();
}

std::int64_t growth_of_type(const Json& attribution, const std::string& type) {
  for (const Json& one : attribution.at("tracked_objects").at("types")) {
    if (one.at("type") == type) {
      return growth(one.at("objects"));
    }
  }
  return 0;
}

// It waits until the first look has been (a reader of its memory cannot be seen: it gives it time),
// grows by known amounts, and is killed, so that the last whole moment is its very end.
TEST_CASE("stat --attribution: what a command grew by, to its last whole moment",
          "[live][stat][objects]") {
  const auto run = [](const std::string& grow) {
    return run_tracso({"stat",
                       "--json",
                       "--attribution=objects",
                       "-o",
                       "-",
                       system_python,
                       "-c",
                       "import ctypes, mmap, os, time\n"
                       "class Marker: pass\n"
                       "libc = ctypes.CDLL(None)\n"
                       "libc.malloc.restype = ctypes.c_void_p\n"
                       "time.sleep(1)\n" +
                           grow + "\nos.kill(os.getpid(), 9)"});
  };
  const Json objects = attribution_of(run("x = [Marker() for _ in range(20000)]"), 128 + 9);
  CHECK(growth_of_type(objects, "__main__.Marker") == 20000);
  CHECK(growth(objects.at("parts").at("python_blocks")) >= 20000 * 48);
  CHECK(growth(objects.at("parts").at("python_pools")) >= 20000 * 48);
  CHECK(growth(objects.at("parts").at("heap")) < megabyte);
  const Json native = attribution_of(
      run("for _ in range(200): libc.memset(ctypes.c_void_p(libc.malloc(100000)), 1, 100000)"),
      128 + 9);
  CHECK(growth(native.at("parts").at("heap")) >= 200 * 100000 - megabyte / 4);
  CHECK(growth(native.at("parts").at("heap")) <= 200 * 100000 + megabyte);
  CHECK(growth(native.at("parts").at("python_pools")) < megabyte);
  const Json mapped =
      attribution_of(run("m = mmap.mmap(-1, 16 << 20, flags=mmap.MAP_PRIVATE|mmap.MAP_ANONYMOUS); "
                         "m.write(b'x' * (16 << 20))"),
                     128 + 9);
  CHECK(growth(mapped.at("parts").at("other_anonymous")) >= 16 * megabyte);
  for (const Json* one : {&objects, &native, &mapped}) {
    std::int64_t sum = 0;
    for (const char* part : {"python_pools", "heap", "other_anonymous", "rest"}) {
      sum += growth(one->at("parts").at(part));
    }
    CHECK(sum == growth(one->at("parts").at("resident")));
    CHECK(one->at("first_ns").get<std::int64_t>() < 1'000'000'000);
    CHECK(one->at("last_ns").get<std::int64_t>() > 1'000'000'000);
    CHECK(one->at("first_moment") == "Py_RunMain");
    CHECK(one->at("last_moment") == "exit stop");
  }
}

// Nobody tells that its end begins: the last look before counts, and that is said.
TEST_CASE("stat --attribution: without ptrace a Python is told as it was shortly before its end",
          "[live][stat][objects]") {
  const Json told =
      attribution_of(run_tracso({"stat",
                                 "--json",
                                 "--attribution=objects",
                                 "--no-ptrace",
                                 system_python,
                                 "-c",
                                 "import time\nclass Marker: pass\ntime.sleep(0.7)\n"
                                 "x = [Marker() for _ in range(20000)]\ntime.sleep(0.7)"}));
  CHECK(growth_of_type(told, "__main__.Marker") == 20000);
  CHECK(told.at("last_moment") == "look");
  CHECK(contains(told.at("not_told").dump(), "without ptrace"));
}

TEST_CASE("stat --attribution: a program in C has parts, and no objects", "[live][stat][objects]") {
  const ProgramRun ran =
      run_tracso({"stat", "--json", "--attribution=objects", "/bin/sleep", "0.3"});
  const Json told = attribution_of(ran);
  CHECK(told.at("tracked_objects").is_null());
  CHECK(told.at("parts").at("python_blocks").is_null());
  CHECK(contains(told.at("not_told").dump(), "no Python"));
  const ProgramRun text = run_tracso({"stat", "--attribution", "/bin/sleep", "0.3"});
  CHECK(contains(text.out, "other anonymous"));
  CHECK_FALSE(contains(text.out, "objects  "));
}

TEST_CASE("stat --attribution: words that are none are refused", "[live][stat][objects]") {
  const ProgramRun ran = run_tracso({"stat", "--attribution=lines", "/bin/true"});
  CHECK(ran.status == 2);
  CHECK(contains(ran.err, "--attribution=lines is no kind"));
  for (const char* empty : {"--attribution=", "--no-leaks="}) {
    const ProgramRun none = run_tracso({"stat", empty, "/bin/true"});
    CHECK(none.status == 2);
    CHECK(contains(none.err, "is empty"));
  }
}

// Its exit function is the last code that it runs before the look: what it counts must be there.
// It counts twice, so that what the counting itself makes is there the second time.
constexpr const char* counts_at_exit = R"(
import atexit, gc, os
class Marker: pass
markers = [Marker() for _ in range(5000)]
numbers = {}
names = {n: [n] for n in ("Marker", "type", "module", "function", "set", "cell")}
def count():
    for n in names: numbers[n] = 0
    for o in gc.get_objects():
        n = type(o).__name__
        if n in numbers: numbers[n] += 1
    del o
def tell():
    count(); count()
    os.write(2, "".join("%s %d\n" % one for one in numbers.items()).encode())
gc.disable()
atexit.register(tell)
)";

std::map<std::string, std::int64_t> numbers_in(const std::string& text) {
  std::map<std::string, std::int64_t> numbers;
  for (std::size_t at = 0; at < text.size();) {
    const auto space = text.find(' ', at);
    const auto end = text.find('\n', at);
    if (space == std::string::npos || end == std::string::npos) {
      break;
    }
    numbers[text.substr(at, space - at)] = std::atoll(text.c_str() + space);
    at = end + 1;
  }
  return numbers;
}

TEST_CASE("stat --attribution: a command shorter than one look, exact at its Python's last moment",
          "[live][stat][objects]") {
  for (const Python& python : pythons()) {
    if (python.label.find("free-threaded") != std::string::npos ||
        python.label.starts_with("3.15")) {
      continue;  // they keep no such lists
    }
    const ProgramRun ran = run_tracso({"stat",
                                       "--json",
                                       "--attribution=objects",
                                       "-o",
                                       "-",
                                       python.program,
                                       "-c",
                                       counts_at_exit});
    INFO(python.label << " " << python.program);
    const Json told = attribution_of(ran);
    CHECK(told.at("first_moment") == "Py_RunMain");
    CHECK(told.at("last_moment") == "Py_FinalizeEx");
    CHECK(growth_of_type(told, "__main__.Marker") == 5000);
    CHECK(told.at("stopped_ns").get<std::int64_t>() > 0);
    const auto own = numbers_in(ran.err);
    REQUIRE(own.size() == 6);
    CHECK(own.at("Marker") == 5000);
    for (const Json& one : told.at("tracked_objects").at("types")) {
      const std::string type = one.at("type");
      if (own.contains(type)) {
        INFO(type);
        CHECK(one.at("objects").at("after") == own.at(type));
      }
    }
  }
}

TEST_CASE("stat --attribution: an exit in an exit function is told at the exit stop",
          "[live][stat][objects]") {
  const Json told = attribution_of_script(
      "import atexit, os\nclass Marker: pass\n"
      "x = [Marker() for _ in range(700)]\natexit.register(os._exit, 3)",
      3);
  CHECK(told.at("last_moment") == "exit stop");
  CHECK(growth_of_type(told, "__main__.Marker") == 700);
}

TEST_CASE("stat --attribution: after an exec what counts is the new program's",
          "[live][stat][objects]") {
  const Json told = attribution_of_script(
      "import os, sys\nclass Old: pass\nx = [Old() for _ in range(700)]\n"
      "os.execv(sys.executable, [sys.executable, '-c', 'class New: pass\\n"
      "x = [New() for _ in range(900)]'])");
  CHECK(told.at("last_moment") == "Py_FinalizeEx");
  CHECK(growth_of_type(told, "__main__.New") == 900);
  CHECK(growth_of_type(told, "__main__.Old") == 0);
}

// A libpython that is loaded later is not among what is watched from the start.
TEST_CASE("stat --attribution: a Python that a program loads later has looks, and that is said",
          "[live][stat][objects]") {
  const Workshop shop;
  shop.write("later.c",
             "#include <dlfcn.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
             "int main(int n, char** words) {\n"
             "  void* python = n > 1 ? dlopen(words[1], RTLD_NOW | RTLD_GLOBAL) : 0;\n"
             "  if (!python) return 9;\n"
             "  ((void (*)(void))dlsym(python, \"Py_Initialize\"))();\n"
             "  ((int (*)(const char*))dlsym(python, \"PyRun_SimpleString\"))(\n"
             "      \"import time\\nclass Marker: pass\\nx = [Marker() for _ in range(700)]\\n\"\n"
             "      \"time.sleep(1)\");\n"
             "  return ((int (*)(void))dlsym(python, \"Py_FinalizeEx\"))();\n}\n");
  REQUIRE(shop.run("gcc -o later later.c -ldl"));
  std::size_t tried = 0;
  for (const Python& python : pythons()) {
    const std::string home = python.program.substr(0, python.program.rfind("/bin/"));
    const ProgramRun library = run_program(
        {python.program,
         "-c",
         "import os, sysconfig as s; p = os.path.join(s.get_config_var('LIBDIR'), "
         "s.get_config_var('INSTSONAME') or ''); print(p if os.path.isfile(p) and '.so' in p "
         "else '', end='')"});
    if (library.out.empty()) {
      continue;
    }
    INFO(python.label << " " << library.out);
    const Json told = attribution_of(run_tracso({"stat",
                                                 "--json",
                                                 "--attribution=objects",
                                                 "env",
                                                 "PYTHONHOME=" + home,
                                                 shop.path("later"),
                                                 library.out}));
    CHECK(told.at("last_moment") == "look");
    CHECK(contains(told.at("not_told").dump(), "no Python was among the libraries"));
    CHECK(contains(told.at("tracked_objects").dump(), "__main__.Marker"));
    ++tried;
    break;
  }
  if (tried == 0) {
    WARN("no Python with a shared library here: a program that loads one was not tried");
  }
}

}  // namespace
}  // namespace tracso::test
