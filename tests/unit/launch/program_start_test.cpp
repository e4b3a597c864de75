#include "launch/program_start.hpp"

#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <cstdint>
#include <string>

using namespace tracso;
using namespace tracso::launch;

namespace {

template <class Word>
std::string words(std::initializer_list<std::uint64_t> values) {
  std::string bytes;
  for (const std::uint64_t value : values) {
    const Word word = static_cast<Word>(value);
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return bytes;
}

}  // namespace

TEST_CASE("auxv: entry, loader and program headers are found", "[launch][auxv]") {
  const std::string wide =
      words<std::uint64_t>({3, 0x400040, 5, 13, 7, 0x7f0000000000, 9, 0x401000, 0, 0});
  const StartFacts facts = parse_auxv(wide, 8);
  CHECK(facts.headers == 0x400040);
  CHECK(facts.header_count == 13);
  CHECK(facts.loader == 0x7f0000000000);
  CHECK(facts.entry == 0x401000);
  const StartFacts narrow = parse_auxv(words<std::uint32_t>({9, 0x8048000, 7, 0xf7f00000}), 4);
  CHECK(narrow.entry == 0x8048000);
  CHECK(narrow.loader == 0xf7f00000);
}

TEST_CASE("auxv: an incomplete last entry is not read", "[launch][auxv]") {
  CHECK(parse_auxv(words<std::uint64_t>({9}), 8).entry == 0);
  CHECK(parse_auxv(std::string(15, '\x09'), 8).entry == 0);
  CHECK(parse_auxv("", 8).loader == 0);
}

TEST_CASE("loader hook: the list is consistent only when its state says so", "[launch][hook]") {
  test::FakeProcess process;
  const auto state_of = [&](std::uint32_t state) {
    process.memory[0x1018] = words<std::uint32_t>({state});
    return loader_state(process, {1, 0x1000, 0, 8});
  };
  CHECK(state_of(0) == LoaderState::consistent);
  CHECK(state_of(1) == LoaderState::adding);
  CHECK(state_of(2) == LoaderState::removing);
  CHECK(state_of(77) == LoaderState::unknown);
  CHECK(loader_state(process, {1, 0x9000, 0, 8}) == LoaderState::unknown);  // unreadable
}

TEST_CASE("loader hook: the record may be named by a pointer", "[launch][hook]") {
  test::FakeProcess process;
  process.memory[0x5000] = words<std::uint64_t>({0x1000});
  process.memory[0x1018] = words<std::uint32_t>({2});
  CHECK(loader_state(process, {1, 0, 0x5000, 8}) == LoaderState::removing);
  process.memory[0x6000] = words<std::uint32_t>({0x2000});
  process.memory[0x200c] = words<std::uint32_t>({1});
  CHECK(loader_state(process, {1, 0, 0x6000, 4}) == LoaderState::adding);
}

TEST_CASE("loader hook: there is none where nothing is mapped", "[launch][hook]") {
  const test::FakeProcess process;
  CHECK_FALSE(find_loader_hook(process, {0, 0x7000, 0, 0}, ElfClass::elf64));
  CHECK_FALSE(find_loader_hook(process, {}, ElfClass::elf64));
}
