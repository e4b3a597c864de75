#include "python/path_probe.hpp"

#include "support/build_elf.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

using namespace tracso;
using namespace tracso::python;

namespace {

const std::string tag = ".cpython-311-x86_64-linux-gnu.so";

// Maps objects one after the other.
class FakeMaps {
 public:
  void map(const std::string& path, const std::vector<std::string>& exports = {}) {
    Mapping mapping;
    mapping.start = next_;
    mapping.end = next_ + 0x10000;
    mapping.device = 1;
    mapping.inode = ++inode_;
    mapping.readable = true;
    mapping.name = path;
    test::ElfSpec spec;
    for (const auto& name : exports) {
      spec.symbols.push_back({name});
    }
    fake.process.memory[next_] = build_elf(spec);
    input.mappings.push_back(mapping);
    next_ += 0x10000;
  }

  Result<PythonFacts> probe() {
    input.target = fake.target();
    return make_path_probe()->probe(input);
  }

  std::vector<std::string> names() {
    const auto facts = probe();
    REQUIRE(facts);
    std::vector<std::string> result;
    for (const auto& module : facts->modules) {
      result.push_back(module.name);
    }
    return result;
  }

  test::FakeTarget fake;
  ProbeInput input;

 private:
  std::uint64_t next_ = 0x7f0000000000, inode_ = 0;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("path probe: modules and their files, known to be a part", "[python][path]") {
  FakeMaps maps;
  maps.map("/usr/lib/libpython3.11.so.1.0", {"_PyRuntime"});
  maps.map("/usr/lib/python3.11/lib-dynload/_ssl" + tag);
  maps.map("/usr/lib/x86_64-linux-gnu/libssl.so.3");
  const auto facts = maps.probe();
  REQUIRE(facts);
  CHECK(facts->implementation == "cpython");
  CHECK(facts->version == "3.11");
  CHECK(facts->probe == "path");
  CHECK_FALSE(facts->complete);
  CHECK_FALSE(facts->code_executed);
  CHECK(facts->stopped.count() == 0);
  REQUIRE(facts->modules.size() == 1);
  CHECK(facts->modules[0] ==
        PythonModule{"_ssl", "/usr/lib/python3.11/lib-dynload/_ssl" + tag, ""});
}

TEST_CASE("path probe: a file that is mapped several times is one module", "[python][path]") {
  FakeMaps maps;
  maps.map("/usr/lib/libpython3.11.so.1.0", {"_PyRuntime"});
  maps.map("/x/site-packages/a" + tag);
  auto again = maps.input.mappings.back();
  again.start += 0x1000;
  again.offset = 0x1000;
  maps.input.mappings.push_back(again);
  CHECK(maps.names() == Names{"a"});
}

TEST_CASE("path probe: a plain name has to export what a module exports", "[python][path]") {
  FakeMaps maps;
  maps.map("/usr/lib/libpython3.11.so.1.0", {"_PyRuntime"});
  maps.map("/x/site-packages/pkg/real.so", {"PyInit_real"});
  maps.map("/x/site-packages/pkg/plugin.so", {"plugin_entry"});
  CHECK(maps.names() == Names{"pkg.real"});
}

TEST_CASE("path probe: PYTHONPATH of the process is a root", "[python][path]") {
  FakeMaps maps;
  maps.map("/usr/lib/libpython3.11.so.1.0", {"_PyRuntime"});
  maps.map("/srv/app/src/fast/_loop" + tag);
  SECTION("absolute") {
    maps.fake.process.texts["environ"] =
        std::string("A=1\0PYTHONPATH=/elsewhere:/srv/app/src\0", 40);
    CHECK(maps.names() == Names{"fast._loop"});
  }
  SECTION("relative to where the process is") {
    maps.fake.process.texts["environ"] = std::string("PYTHONPATH=src\0", 15);
    maps.fake.process.links["cwd"] = "/srv/app";
    CHECK(maps.names() == Names{"fast._loop"});
  }
  SECTION("not readable") {
    maps.fake.process.denied.insert("environ");
    CHECK(maps.names() == Names{"_loop"});
  }
}

TEST_CASE("path probe: elsewhere the files tell what is a package", "[python][path]") {
  FakeMaps maps;
  maps.map("/usr/lib/libpython3.11.so.1.0", {"_PyRuntime"});
  maps.map("/srv/app/fast/core/_loop" + tag);
  maps.fake.files.files["/srv/app/fast/core/__init__.py"] = "";
  maps.fake.files.files["/srv/app/fast/__init__.py"] = "";
  CHECK(maps.names() == Names{"fast.core._loop"});
}

TEST_CASE("path probe: PyPy's modules are found too", "[python][path]") {
  FakeMaps maps;
  maps.map("/opt/pypy/bin/libpypy3.9-c.so");
  maps.map("/opt/pypy/lib/pypy3.9/lib_pypy/_cffi.pypy39-pp73-x86_64-linux-gnu.so");
  const auto facts = maps.probe();
  REQUIRE(facts);
  CHECK(facts->implementation == "pypy");
  CHECK(facts->version == "3.9");
  REQUIRE(facts->modules.size() == 1);
  CHECK(facts->modules[0].name == "_cffi");
}

TEST_CASE("path probe: where there is no Python it says so", "[python][path]") {
  FakeMaps maps;
  maps.map("/usr/bin/cat");
  const auto facts = maps.probe();
  REQUIRE_FALSE(facts);
  CHECK(facts.error().kind == ErrorKind::unsupported);
}

TEST_CASE("path probe: closed memory leaves the names", "[python][path]") {
  FakeMaps maps;
  maps.fake.process.denied.insert("memory");
  SECTION("of the library") {
    maps.map("/usr/lib/libpython3.11.so.1.0");
    maps.map("/x/site-packages/a" + tag);
    maps.map("/x/site-packages/b.so");
    const auto facts = maps.probe();
    REQUIRE(facts);
    CHECK(facts->version == "3.11");
    CHECK(maps.names() == Names{"a", "b"});
  }
  SECTION("of the program") {
    maps.input.executable = "/usr/bin/python3.11";
    maps.map("/usr/bin/python3.11");
    CHECK(maps.probe());
  }
  SECTION("of a module") {
    maps.map("/usr/bin/embedder");
    maps.map("/x/site-packages/a" + tag);
    CHECK(maps.names() == Names{"a"});
  }
  SECTION("of nothing that is Python's") {
    maps.map("/usr/bin/cat");
    const auto facts = maps.probe();
    REQUIRE_FALSE(facts);
    CHECK(facts.error().kind == ErrorKind::denied);
  }
}
