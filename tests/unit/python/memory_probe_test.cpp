#include "python/memory_probe.hpp"

#include "base/result.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

using namespace tracso;

namespace {

Mapping mapped(std::uint64_t start, std::string name) {
  Mapping mapping;
  mapping.start = start;
  mapping.end = start + 0x1000;
  mapping.inode = start >> 12U;
  mapping.readable = true;
  mapping.name = std::move(name);
  return mapping;
}

// A living process that has only these files mapped, all of zeros.
struct Fixture {
  explicit Fixture(const std::vector<std::string>& names) {
    fake.process.texts["stat"] = "4711 (x) S";
    std::uint64_t start = 0x400000;
    for (const auto& name : names) {
      fake.process.memory[start] = std::string(0x1000, '\0');
      input.mappings.push_back(mapped(start, name));
      start += 0x100000;
    }
    input.target = fake.target();
    input.executable = names.empty() ? "" : names.front();
  }

  Error refusal() const {
    const auto facts = python::make_memory_probe()->probe(input);
    REQUIRE_FALSE(facts);
    return facts.error();
  }

  test::FakeTarget fake;
  ProbeInput input;
};

}  // namespace

TEST_CASE("memory probe: no Python is said so", "[python]") {
  const auto error = Fixture({"/usr/bin/nginx"}).refusal();
  CHECK(error.kind == ErrorKind::unsupported);
  CHECK(sentence(error) ==
        "tracso: cannot read the Python modules of process 4711: no CPython is mapped");
}

TEST_CASE("memory probe: PyPy is refused with what helps", "[python]") {
  const auto error = Fixture({"/opt/bin/pypy3", "/opt/lib/libpypy3.10-c.so"}).refusal();
  CHECK(error.kind == ErrorKind::unsupported);
  CHECK(error.reason.find("PyPy") != std::string::npos);
  CHECK(error.hint.find("--probe path") != std::string::npos);
}

TEST_CASE("memory probe: memory that may not be read is denied, not 'no Python'", "[python]") {
  Fixture fixture({"/usr/bin/python3.11"});
  fixture.fake.process.denied.insert("memory");
  CHECK(fixture.refusal().kind == ErrorKind::denied);
}

TEST_CASE("memory probe: a target that is gone is interrupted", "[python]") {
  SECTION("its memory") {
    Fixture fixture({"/usr/bin/python3.11"});
    fixture.fake.process.memory.clear();
    CHECK(fixture.refusal().kind == ErrorKind::interrupted);
  }
  SECTION("its number") {
    Fixture fixture({"/usr/bin/python3.11"});
    fixture.fake.process.texts.clear();
    CHECK(fixture.refusal().kind == ErrorKind::interrupted);
  }
  SECTION("a zombie maps nothing") {
    CHECK(Fixture({}).refusal().kind == ErrorKind::interrupted);
  }
}

TEST_CASE("memory probe: what is known of the interpreter is not looked for again", "[python]") {
  const Fixture fixture({"/usr/bin/nginx"});
  python::Interpreter known;
  known.implementation = python::Implementation::pypy;
  const auto facts = python::make_memory_probe({}, known)->probe(fixture.input);
  REQUIRE_FALSE(facts);
  CHECK(facts.error().reason.find("PyPy") != std::string::npos);
  CHECK(fixture.fake.process.memory_reads == 0);
}

TEST_CASE("memory probe: without a process there is nothing to read", "[python]") {
  const auto facts = python::make_memory_probe()->probe({});
  REQUIRE_FALSE(facts);
  CHECK(facts.error().kind == ErrorKind::unsupported);
}
