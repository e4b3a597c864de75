// Pythons that are hard to find: linked into a program, stripped, without section headers, two in
// one process.

#include "base/result.hpp"
#include "base/text.hpp"
#include "python/interpreter.hpp"
#include "python/memory_probe.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_truth.hpp"

#include <fmt/format.h>

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

using namespace tracso;

namespace {

namespace fs = std::filesystem;

// How a program with this Python inside is made.
struct Build {
  std::string home;
  std::vector<std::string> flags;  // include folder, static library, what it needs
  std::string shared;              // libpythonX.Y.so.1.0; empty: there is none
};

std::optional<Build> build_of(const test::Python& python) {
  test::Child asking({python.program,
                      "-c",
                      "import sys, os, glob, sysconfig\n"
                      "get = lambda name: sysconfig.get_config_var(name) or ''\n"
                      "archive = get('LIBPL') + '/' + get('LIBRARY')\n"
                      "print(sys.base_prefix)\n"
                      "print(''.join(glob.glob(sys.base_prefix + '/lib/' + get('INSTSONAME'))))\n"
                      "print('-I' + sysconfig.get_path('include'), archive, get('LIBS'),"
                      " get('SYSLIBS'), get('MODLIBS'), '-lm')\n"
                      "print(os.path.exists(archive), flush=True)"});
  Build build;
  build.home = asking.line().value_or("");
  const auto shared = asking.line().value_or("");
  build.shared = shared.ends_with(".a") ? "" : shared;
  const auto flags = asking.line().value_or("");
  for (const auto flag : split_words(flags, " ")) {
    build.flags.emplace_back(flag);
  }
  return asking.line() == "True" ? std::optional(build) : std::nullopt;
}

class Folder {
 public:
  Folder() : path_(fs::path(test::scratch_folder()) / "embedded") { fs::create_directories(path_); }

  ~Folder() { fs::remove_all(path_); }

  std::string file(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

bool run(std::vector<std::string> argv) {
  test::Child child(std::move(argv));
  return child.wait() == 0;
}

// libpython.a may be compiled for programs at a fixed address only.
bool link(const Build& build, const std::string& program) {
  for (const char* kind : {"-pie", "-no-pie"}) {
    std::vector<std::string> argv{"cc", "-w", kind, test::tests_file("support/python_embed.c")};
    argv.insert(argv.end(), build.flags.begin(), build.flags.end());
    argv.insert(argv.end(), {"-o", program});
    if (run(argv)) {
      return true;
    }
  }
  return false;
}

void forget_sections(const std::string& program) {
  std::FILE* file = std::fopen(program.c_str(), "r+b");
  REQUIRE(file != nullptr);
  Elf64_Ehdr header{};
  REQUIRE(std::fread(&header, sizeof header, 1, file) == 1);
  header.e_shoff = 0;
  header.e_shnum = header.e_shstrndx = 0;
  std::rewind(file);
  REQUIRE(std::fwrite(&header, sizeof header, 1, file) == 1);
  std::fclose(file);
}

// `how` empty: it cannot be found, and that must be said.
void check_program(const std::string& program, const Build& build, const std::string& how) {
  test::Child child(test::truth_command(program, {}, false), {"PYTHONHOME=" + build.home});
  const auto truth = test::read_truth(child);
  REQUIRE(truth);
  auto target = test::live_target(child.pid());
  REQUIRE(target);
  const auto found = python::find_interpreter(target->input);
  REQUIRE(found);
  const auto facts = python::make_memory_probe()->probe(target->input);
  if (how.empty()) {
    REQUIRE_FALSE(facts);
    CHECK(facts.error().kind == ErrorKind::unsupported);
    CHECK(facts.error().reason == "no CPython is mapped");
    return;
  }
  REQUIRE(found->runtimes.size() == 1);
  CHECK(found->runtimes[0].how == how);
  INFO((facts ? "" : sentence(facts.error())));
  REQUIRE(facts);
  CHECK(test::first_difference(facts->modules, *truth) == "");
}

std::uint64_t minor_of(const test::Python& python) {
  return parse_unsigned(split(python.label, '.')[1]).value();
}

}  // namespace

TEST_CASE("memory probe: a Python linked into a program is found, exported or not",
          "[live][python]") {
  int seen = 0;
  for (const auto& python : test::pythons()) {
    INFO(python.program << " " << python.label);
    const auto build = build_of(python);
    if (!build) {
      WARN(python.program << " " << python.label << " has no static library here");
      continue;
    }
    const Folder folder;
    const auto program = folder.file("application");
    REQUIRE(link(*build, program));
    const auto minor = minor_of(python);
    check_program(program, *build, minor >= 10 ? "section" : "symbol table");
    REQUIRE(run({"strip", "-s", program}));
    check_program(program, *build, minor >= 10 ? "section" : "");
    forget_sections(program);
    check_program(program, *build, minor >= 13 ? "cookie" : "");
    ++seen;
  }
  CHECK(seen > 0);
}

TEST_CASE("memory probe: two Pythons in one process are both read", "[live][python]") {
  std::vector<Build> builds;
  for (const auto& python : test::pythons()) {
    const auto build = build_of(python);
    if (build && !build->shared.empty()) {
      builds.push_back(*build);
    }
  }
  INFO("two shared libpythons are needed");
  REQUIRE(builds.size() >= 2);
  const Folder folder;
  const auto program = folder.file("pair");
  REQUIRE(run({"cc", "-w", test::tests_file("support/python_pair.c"), "-o", program, "-ldl"}));
  const auto& first = builds.front();
  const auto& second = builds.back();
  test::Child child({program,
                     first.shared,
                     first.home,
                     "import colorsys",
                     second.shared,
                     second.home,
                     "import wave"});
  REQUIRE(child.line() == "ready");
  auto target = test::live_target(child.pid());
  REQUIRE(target);
  const auto found = python::find_interpreter(target->input);
  REQUIRE(found);
  CHECK(found->runtimes.size() == 2);
  const auto facts = python::make_memory_probe()->probe(target->input);
  INFO((facts ? "" : sentence(facts.error())));
  REQUIRE(facts);
  for (const char* name : {"colorsys", "wave"}) {
    INFO(name);
    CHECK(std::count_if(facts->modules.begin(), facts->modules.end(), [&](const auto& module) {
            return module.name == name;
          }) == 1);
  }
}
