// The memory probe on Pythons made of bytes: every row of the layouts, also those of versions that
// are not on this machine.

#include "python/memory_modules.hpp"

#include "python/memory_locate.hpp"
#include "support/catch.hpp"
#include "support/fake_python.hpp"

#include <fmt/format.h>

using namespace tracso;
using namespace tracso::python;
using test::FakePython;

namespace {

std::uint32_t version_of(const Layout& layout) {
  return 3U << 24U | layout.minor << 16U | 0x02f0U;
}

Runtime runtime_of(const FakePython& fake, std::uint32_t minor) {
  Runtime runtime;
  runtime.address = fake.runtime();
  runtime.minor = minor;
  return runtime;
}

std::string label(const Layout& layout) {
  return fmt::format("3.{}{}", layout.minor, layout.free_threaded ? "t" : "");
}

}  // namespace

TEST_CASE("memory modules: names, files and origins of every version", "[python]") {
  for (const auto& layout : layouts()) {
    INFO(label(layout));
    FakePython fake(layout);
    using Table = FakePython::Table;
    constexpr auto escaped = static_cast<char32_t>(0xdcff);  // PEP 383: the byte ff
    fake.add_module("plain",
                    fake.module({{"__name__", fake.text("plain")},
                                 {"__file__", fake.text("/x/plain.so")},
                                 {"__spec__", fake.spec("/x/origin.so")}}));
    fake.add_module("any",
                    fake.module({{"a", fake.integer(1)}, {"__file__", fake.text("/x/any.so")}},
                                Table::any_key));
    fake.add_module("split",
                    fake.module({{"b", fake.integer(1)}, {"__file__", fake.text("/x/split.so")}},
                                Table::split));
    fake.add_module(
        "wide",
        fake.module({{"__file__", fake.text(std::u32string(U"/x/\u4e2d\U0001F600") + escaped)}}));
    fake.add_module("latin", fake.module({{"__file__", fake.text(U"/x/\u00e9")}}));
    fake.add_module("number", fake.module({{"__file__", fake.integer(7)}}));
    fake.add_module("none", fake.module({}));
    test::FakeProcess process;
    fake.finish(process, version_of(layout));

    MemoryReader memory(process, {});
    Objects objects(memory, layout);
    const auto pass = read_modules(objects, fake.runtime());
    CHECK(pass.is_whole());
    std::vector<PythonModule> modules;
    for (const auto& row : pass.rows) {
      modules.push_back(row.module);
    }
    CHECK(modules == std::vector<PythonModule>{{"sys", std::nullopt, ""},
                                               {"plain", "/x/plain.so", "/x/origin.so"},
                                               {"any", "/x/any.so", ""},
                                               {"split", "/x/split.so", ""},
                                               {"wide",
                                                "/x/\u4e2d\U0001F600"
                                                "\xff",
                                                ""},
                                               {"latin", "/x/\u00e9", ""},
                                               {"number", std::nullopt, ""},
                                               {"none", std::nullopt, ""}});
  }
}

TEST_CASE("memory locate: the row of a version is found with and without a hint", "[python]") {
  for (const auto& layout : layouts()) {
    for (const std::uint32_t hint : {layout.minor, 0U, 9U}) {
      INFO(label(layout) << " hint " << hint);
      FakePython fake(layout);
      test::FakeProcess process;
      fake.finish(process, version_of(layout));
      MemoryReader memory(process, {});
      const auto located = locate(memory, runtime_of(fake, hint), Effort::tables);
      REQUIRE(located);
      CHECK(located->how == fmt::format("table 3.{}", layout.minor));
      CHECK(located->layout.minor == layout.minor);
      CHECK(located->version == version_of(layout));
    }
  }
}

TEST_CASE("memory locate: a moved field is found by looking at all words", "[python]") {
  for (const auto& layout : layouts()) {
    INFO(label(layout));
    FakePython fake(layout);
    test::FakeProcess process;
    fake.finish(process, version_of(layout), 200);
    MemoryReader memory(process, {});
    const auto runtime = runtime_of(fake, layout.minor);
    CHECK_FALSE(locate(memory, runtime, Effort::tables));
    const auto located = locate(memory, runtime, Effort::scan);
    REQUIRE(located);
    CHECK(located->how == "scan");
    CHECK(located->layout.interpreter.modules == layout.interpreter.modules + 200);
  }
}

TEST_CASE("memory locate: a version that does not fit its layout is not believed", "[python]") {
  const auto* layout = find_layout(11, false);
  FakePython fake(*layout);
  test::FakeProcess process;
  fake.finish(process, 0x030a00f0);
  MemoryReader memory(process, {});
  CHECK_FALSE(locate(memory, runtime_of(fake, 11), Effort::scan));
}

TEST_CASE("memory locate: zeros, noise and nothing are no Python", "[python]") {
  test::FakeProcess process;
  process.memory[0x100000] = std::string(0x10000, '\0');
  process.memory[0x200000] = std::string(0x10000, '\x11');
  Runtime runtime;
  for (const std::uint64_t address : {0x100000U, 0x200000U, 0x300000U}) {
    runtime.address = address;
    MemoryReader memory(process, {});
    CHECK_FALSE(locate(memory, runtime, Effort::scan));
  }
}
