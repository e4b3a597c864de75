// "ld.so ./program" where the loader's records may not be read: maps and the command line are all.

#include "tracso/snapshot.hpp"

#include "support/build_elf.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <fmt/format.h>

namespace tracso {
namespace {

constexpr std::uint64_t step = 0x100000;

struct Started {
  test::FakeTarget fake;
  std::uint64_t next = 0x7f0000000000;

  void map(const std::string& path, const test::ElfSpec& spec) {
    fake.process.texts["maps"] += fmt::format(
        "{:x}-{:x} r-xp 00000000 08:01 {} {}\n", next, next + 0x1000, next / step, path);
    fake.process.mapped[next] = test::build_elf(spec);
    next += step;
  }

  Started() {
    fake.process.texts["stat"] = "4711 (ld.so) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0";
    fake.process.texts["environ"] = std::string("A=1\0", 4);
    fake.process.links["exe"] = "/lib64/ld-linux-x86-64.so.2";
    fake.process.links["cwd"] = "/";
    fake.process.denied = {"memory"};
    test::ElfSpec library;
    library.interp = "/lib64/ld-linux-x86-64.so.2";  // as libc has it
    library.dynamic = {test::soname("libc.so.6")};
    map("/lib/libc.so.6", library);
  }

  void add_program(const std::string& path) {
    test::ElfSpec program;
    program.interp = "/lib64/ld-linux-x86-64.so.2";
    program.dynamic = {test::needed("libc.so.6")};
    map(path, program);
  }

  void add_loader() {
    test::ElfSpec loader;
    loader.dynamic = {test::soname("ld-linux-x86-64.so.2")};
    map("/lib64/ld-linux-x86-64.so.2", loader);
  }

  void say(const std::string& program) {
    fake.process.texts["cmdline"] =
        "/lib64/ld-linux-x86-64.so.2" + std::string(1, '\0') + program + std::string(1, '\0');
  }

  Trace trace() const {
    auto taken = take_snapshot(fake.target(), {});
    REQUIRE(taken);
    return std::move(*taken);
  }
};

ObjectFile::Role role_of(const Trace& trace, const std::string& path) {
  for (const Node& node : trace.graph.nodes()) {
    const ObjectFile* file = object(node);
    if (file != nullptr && file->path.text == path) {
      return file->role;
    }
  }
  FAIL("no node " << path);
  return {};
}

}  // namespace

TEST_CASE("started by name: the program is told by the memory map where records are denied",
          "[collect]") {
  Started started;
  started.add_program("/opt/app");
  started.add_loader();
  started.say("/opt/app");
  const Trace trace = started.trace();
  REQUIRE(trace.process);
  CHECK(trace.process->exe == "/opt/app");
  CHECK(trace.interpreter == "/opt/app");
  CHECK(role_of(trace, "/opt/app") == ObjectFile::Role::executable);
  CHECK(role_of(trace, "/lib64/ld-linux-x86-64.so.2") == ObjectFile::Role::loader);
  CHECK(role_of(trace, "/lib/libc.so.6") == ObjectFile::Role::library);
}

TEST_CASE("started by name: of two programs the one on the command line", "[collect]") {
  Started started;
  started.add_program("/opt/plugin");
  started.add_program("/opt/app");
  started.add_loader();
  started.say("./app");
  CHECK(started.trace().process->exe == "/opt/app");
}

TEST_CASE("started by name: a loader alone stays what it is", "[collect]") {
  Started started;
  started.add_loader();
  started.say("--help");
  CHECK(started.trace().process->exe == "/lib64/ld-linux-x86-64.so.2");
}

}  // namespace tracso
