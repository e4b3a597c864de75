#include "python/memory_reader.hpp"

#include "support/catch.hpp"
#include "support/fake_target.hpp"

using namespace tracso;
using namespace tracso::python;

namespace {

std::string numbered(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) {
    text[i] = static_cast<char>(i / 512 + i);
  }
  return text;
}

std::string read(MemoryReader& memory, std::uint64_t address, std::size_t bytes) {
  std::string text(bytes, '\0');
  return memory.read(address, std::as_writable_bytes(std::span(text))) ? text : "unreadable";
}

}  // namespace

TEST_CASE("memory reader: pieces of any size and place are what they are", "[python]") {
  test::FakeProcess process;
  const std::string content = numbered(0x20000);
  process.memory[0x100000] = content;
  MemoryReader memory(process, {});
  for (const std::size_t bytes : {1U, 8U, 511U, 512U, 513U, 5000U, 40000U}) {
    for (const std::uint64_t offset : {0U, 1U, 510U, 4095U, 70000U}) {
      CHECK(read(memory, 0x100000 + offset, bytes) == content.substr(offset, bytes));
    }
  }
}

TEST_CASE("memory reader: what is not mapped is not read, its neighbours are", "[python]") {
  test::FakeProcess process;
  process.memory[0x100000] = numbered(0x1000);
  MemoryReader memory(process, {});
  CHECK(read(memory, 0x100ff8, 8) != "unreadable");
  CHECK(read(memory, 0x100ff8, 9) == "unreadable");
  CHECK(read(memory, 0xfffff, 2) == "unreadable");
  CHECK(read(memory, 0x100ff8, 40000) == "unreadable");
  CHECK(read(memory, 0, 8) == "unreadable");
  CHECK(read(memory, ~std::uint64_t{0} - 4, 8) == "unreadable");
  CHECK_FALSE(memory.exhausted());
}

TEST_CASE("memory reader: a line is read once in a pass and again in the next", "[python]") {
  test::FakeProcess process;
  process.memory[0x100000] = std::string(0x1000, 'a');
  MemoryReader memory(process, {});
  CHECK(read(memory, 0x100000, 4) == "aaaa");
  const int reads = process.memory_reads;
  process.memory[0x100000] = std::string(0x1000, 'b');
  CHECK(read(memory, 0x100100, 4) == "aaaa");
  CHECK(process.memory_reads == reads);
  memory.forget();
  CHECK(read(memory, 0x100000, 4) == "bbbb");
}

TEST_CASE("memory reader: a page is read where a line was asked for, if the process lets us",
          "[python]") {
  test::FakeProcess process;
  const std::string content = numbered(0x3000);
  process.memory[0x100000] = content;
  process.read_ahead = true;
  MemoryReader memory(process, {});
  CHECK(read(memory, 0x100800, 4) == content.substr(0x800, 4));
  const int reads = process.memory_reads;
  CHECK(read(memory, 0x100000, 4) == content.substr(0, 4));
  CHECK(read(memory, 0x100ffc, 4) == content.substr(0xffc, 4));
  CHECK(process.memory_reads == reads);
  CHECK(read(memory, 0x101000, 4) == content.substr(0x1000, 4));
  CHECK(process.memory_reads == reads + 1);
  CHECK(read(memory, 0x103000, 4) == "unreadable");
  memory.forget();
  process.memory[0x100000] = std::string(0x3000, 'b');
  CHECK(read(memory, 0x101000, 4) == "bbbb");
}

TEST_CASE("memory reader: what was planned is fetched at once", "[python]") {
  test::FakeProcess process;
  process.memory[0x100000] = numbered(0x10000);
  MemoryReader memory(process, {});
  memory.plan(0x100000, 600);
  memory.plan(0x108000, 8);
  memory.plan(0x900000, 8);         // not mapped
  memory.plan(8, 8);                // no address
  memory.plan(0x100000, 1U << 30);  // absurd
  memory.fetch();
  const int reads = process.memory_reads;
  CHECK(read(memory, 0x100010, 500) != "unreadable");
  CHECK(read(memory, 0x108000, 8) != "unreadable");
  CHECK(read(memory, 0x900000, 8) == "unreadable");
  CHECK(process.memory_reads == reads);
}

TEST_CASE("memory reader: every limit ends all reading", "[python]") {
  test::FakeProcess process;
  process.memory[0x100000] = numbered(0x100000);
  ReadLimits limits;
  SECTION("bytes") {
    limits.bytes = 2048;
  }
  SECTION("lines") {
    limits.lines = 4;
  }
  SECTION("time") {
    limits.deadline = std::chrono::steady_clock::time_point::min();
  }
  MemoryReader memory(process, limits);
  for (std::uint64_t at = 0; at < 0x10000; at += 512) {
    (void)read(memory, 0x100000 + at, 8);
  }
  CHECK(memory.exhausted());
  CHECK(read(memory, 0x100000, 8) == "unreadable");
  CHECK(memory.bytes_read() <= 4096);
}

TEST_CASE("memory reader: texts end at their NUL or are none", "[python]") {
  test::FakeProcess process;
  std::string content(0x1000, 'x');
  content.replace(100, 6, std::string("short\0", 6));
  content[700] = '\0';
  process.memory[0x100000] = content;
  MemoryReader memory(process, {});
  CHECK(memory.text(0x100064, 16) == "short");
  CHECK(memory.text(0x100064, 4) == std::nullopt);
  CHECK(memory.text(0x10006a, 4096) == std::string(700 - 106, 'x'));
  CHECK(memory.text(0x1002bd, 65536) == std::nullopt);  // runs out of memory
  CHECK(memory.text(0x1002bc, 10) == "");
}

TEST_CASE("memory reader: what the last pass asked for is read again at once, and afresh",
          "[python]") {
  test::FakeProcess process;
  process.read_ahead = false;
  process.memory[0x100000] = std::string(0x10000, 'a');
  MemoryReader memory(process, {});
  CHECK(read(memory, 0x100000, 4) == "aaaa");
  CHECK(read(memory, 0x104000, 4) == "aaaa");
  memory.plan(0x108000, 4);  // nobody asks for it
  memory.fetch();
  memory.forget();
  memory.forget();
  process.memory[0x100000] = std::string(0x10000, 'b');
  memory.fetch_as_before();
  const int reads = process.memory_reads;
  CHECK(read(memory, 0x100000, 4) == "bbbb");
  CHECK(read(memory, 0x104000, 4) == "bbbb");
  CHECK(process.memory_reads == reads);
  CHECK(read(memory, 0x108000, 4) == "bbbb");
  CHECK(process.memory_reads == reads + 1);
}

TEST_CASE("memory reader: what is supposed is confirmed, or not", "[python]") {
  test::FakeProcess process;
  process.read_ahead = false;
  process.memory[0x100000] = std::string(0x4000, 'a');
  MemoryReader memory(process, {});
  Evidence evidence;
  memory.note(&evidence);
  CHECK(read(memory, 0x100000, 4) == "aaaa");
  CHECK(read(memory, 0x1021fe, 8) == "aaaaaaaa");
  CHECK(read(memory, 0x100004, 4) == "aaaa");
  memory.note(nullptr);
  CHECK(read(memory, 0x103000, 4) == "aaaa");
  CHECK(evidence.size() == 16);
  CHECK(evidence.lines() ==
        std::vector<std::uint64_t>{0x100000 / 512, 0x102000 / 512, 0x102200 / 512});
  memory.restart({});
  const int reads = process.memory_reads;
  SECTION("it is as it was") {
    const bool is_ahead = GENERATE(true, false);
    if (is_ahead) {
      memory.prefetch();
    }
    memory.suppose(evidence);
    memory.suppose(evidence);
    CHECK(memory.confirm());
    CHECK(process.memory_reads == reads + 2);  // a piece in each of two pages
  }
  SECTION("something else has changed") {
    process.memory[0x100000].replace(8, 100, std::string(100, 'b'));
    memory.suppose(evidence);
    CHECK(memory.confirm());
  }
  SECTION("what this pass has read counts as it was then, and is not read again") {
    memory.suppose(evidence);
    memory.fetch();
    process.memory.clear();
    CHECK(memory.confirm());
    CHECK(process.memory_reads == reads + 2);
  }
  SECTION("it has changed before this pass has read it") {
    process.memory[0x100000][0] = 'b';
    CHECK(read(memory, 0x100000, 4) == "baaa");
    process.memory[0x100000][0] = 'a';
    memory.suppose(evidence);
    CHECK_FALSE(memory.confirm());
  }
  SECTION("it has changed") {
    process.memory[0x100000][0x2200] = 'b';
    memory.suppose(evidence);
    CHECK_FALSE(memory.confirm());
    CHECK(memory.confirm());  // nothing is supposed any more
  }
  SECTION("it is gone") {
    process.memory.clear();
    memory.suppose(evidence);
    CHECK_FALSE(memory.confirm());
  }
  SECTION("a new pass supposes nothing") {
    process.memory.clear();
    memory.suppose(evidence);
    memory.forget();
    CHECK(memory.confirm());
  }
}

TEST_CASE("memory reader: what is kept is read ahead of the next pass", "[python]") {
  test::FakeProcess process;
  process.read_ahead = false;
  process.memory[0x100000] = std::string(0x10000, 'a');
  MemoryReader memory(process, {});
  Evidence evidence;
  CHECK(read(memory, 0x100000, 4) == "aaaa");
  memory.keep(true);
  CHECK(read(memory, 0x100000, 4) == "aaaa");
  CHECK(read(memory, 0x103000, 4) == "aaaa");
  memory.keep(false);
  CHECK(read(memory, 0x108000, 4) == "aaaa");
  memory.note(&evidence);
  CHECK(read(memory, 0x106000, 4) == "aaaa");
  memory.note(nullptr);
  process.memory[0x100000] = std::string(0x10000, 'b');
  memory.restart({});
  int reads = process.memory_reads;
  memory.prefetch();
  CHECK(memory.knows(0x100000, 4));
  CHECK(memory.knows(0x103000, 512));
  CHECK_FALSE(memory.knows(0x103000, 513));
  CHECK(memory.knows(0x106000, 4));
  CHECK_FALSE(memory.knows(0x108000, 4));
  CHECK(process.memory_reads == reads + 3);
  CHECK(read(memory, 0x100000, 4) == "bbbb");
  CHECK(read(memory, 0x103000, 4) == "bbbb");
  CHECK(process.memory_reads == reads + 3);
  memory.suppose(evidence);
  CHECK_FALSE(memory.confirm());
  memory.forget();
  reads = process.memory_reads;
  memory.prefetch();  // of the last pass only what was supposed
  CHECK(process.memory_reads == reads + 1);
  CHECK(memory.knows(0x106000, 4));
}
