#include "proc/paged_process.hpp"

#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <string>
#include <vector>

using namespace tracso;

namespace {

std::string read(const ProcessSource& process, std::uint64_t address, std::size_t bytes) {
  std::string text(bytes, '\0');
  const auto done = process.read_memory(address, std::as_writable_bytes(std::span(text)));
  return done ? text : done.error().reason + "!";
}

std::string numbered(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) {
    text[i] = static_cast<char>(i / 4096 + i);
  }
  return text;
}

}  // namespace

TEST_CASE("paged process: small reads of one page cost one read of the process", "[proc]") {
  test::FakeProcess process;
  process.read_ahead = true;
  process.memory[0x10000] = numbered(0x3000);
  const proc::PagedProcess paged(process);
  CHECK(read(paged, 0x10010, 8) == process.memory[0x10000].substr(0x10, 8));
  CHECK(read(paged, 0x10ff8, 8) == process.memory[0x10000].substr(0xff8, 8));
  CHECK(process.memory_reads == 1);
  CHECK(read(paged, 0x10ffc, 8) == process.memory[0x10000].substr(0xffc, 8));  // two pages
  CHECK(process.memory_reads == 2);
  CHECK(read(paged, 0x10000, 0x2001) == process.memory[0x10000].substr(0, 0x2001));
  CHECK(process.memory_reads == 3);
}

TEST_CASE("paged process: pages fetched together need no further read", "[proc]") {
  test::FakeProcess process;
  process.read_ahead = true;
  process.memory[0x10000] = numbered(0x3000);
  const proc::PagedProcess paged(process);
  const std::vector<std::uint64_t> wanted{0x10008, 0x10ff0, 0x12000, 0x90000};
  paged.fetch(wanted);
  const int reads = process.memory_reads;
  CHECK(read(paged, 0x10020, 8) == process.memory[0x10000].substr(0x20, 8));
  CHECK(read(paged, 0x12ff8, 8) == process.memory[0x10000].substr(0x2ff8, 8));
  CHECK(process.memory_reads == reads);
  CHECK(read(paged, 0x90000, 4) == read(process, 0x90000, 4));
  CHECK(read(paged, 0x11000, 4) == process.memory[0x10000].substr(0x1000, 4));
}

TEST_CASE("paged process: what is not there is told as the process tells it", "[proc]") {
  test::FakeProcess process;
  process.read_ahead = true;
  process.memory[0x10000] = numbered(0x1000);
  const proc::PagedProcess paged(process);
  CHECK(read(paged, 0x10ff8, 9) == read(process, 0x10ff8, 9));
  CHECK(read(paged, 0x10ff8, 8) == process.memory[0x10000].substr(0xff8, 8));
  CHECK(read(paged, ~std::uint64_t{0} - 3, 4) == read(process, ~std::uint64_t{0} - 3, 4));
}

TEST_CASE("paged process: no more than asked for where reading ahead is not wanted", "[proc]") {
  test::FakeProcess process;
  process.memory[0x10000] = numbered(0x10);
  const proc::PagedProcess paged(process);
  CHECK(read(paged, 0x10004, 4) == process.memory[0x10000].substr(4, 4));
}
