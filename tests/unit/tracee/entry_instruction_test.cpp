#if defined(__x86_64__)

#include "support/catch.hpp"
#include "tracee/architecture.hpp"

#include <sys/user.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace tracso::tracee;

namespace {

using Code = std::vector<std::uint8_t>;

}  // namespace

TEST_CASE("entry instruction: pushes name their register", "[tracee]") {
  const auto rbp = entry_instruction(Code{0x55, 0x48}, 8);
  REQUIRE(rbp);
  CHECK(rbp->bytes == 1);
  CHECK(rbp->lowers_stack == 8);
  CHECK(rbp->pushes == offsetof(user_regs_struct, rbp));
  const auto r15 = entry_instruction(Code{0x41, 0x57, 0x41}, 8);
  REQUIRE(r15);
  CHECK(r15->bytes == 2);
  CHECK(r15->pushes == offsetof(user_regs_struct, r15));
  const auto esi = entry_instruction(Code{0x56}, 4);
  REQUIRE(esi);
  CHECK(esi->lowers_stack == 4);
  CHECK(esi->pushes == 3 * 4);
  CHECK_FALSE(entry_instruction(Code{0x41, 0x57}, 4));  // inc %ecx there
}

TEST_CASE("entry instruction: room on the stack", "[tracee]") {
  const auto small = entry_instruction(Code{0x48, 0x83, 0xec, 0x18, 0x90}, 8);
  REQUIRE(small);
  CHECK(*small == EntryInstruction{4, 0x18, std::nullopt, std::nullopt});
  const auto large = entry_instruction(Code{0x48, 0x81, 0xec, 0x00, 0x01, 0x00, 0x00}, 8);
  REQUIRE(large);
  CHECK(*large == EntryInstruction{7, 0x100, std::nullopt, std::nullopt});
  const auto narrow = entry_instruction(Code{0x83, 0xec, 0x1c}, 4);
  REQUIRE(narrow);
  CHECK(*narrow == EntryInstruction{3, 0x1c, std::nullopt, std::nullopt});
  CHECK_FALSE(entry_instruction(Code{0x48, 0x83, 0xec, 0x80}, 8));  // gives room back
  CHECK_FALSE(entry_instruction(Code{0x48, 0x83, 0xc4, 0x08}, 8));  // add
}

TEST_CASE("entry instruction: a mark for branches, a call", "[tracee]") {
  CHECK(entry_instruction(Code{0xf3, 0x0f, 0x1e, 0xfa, 0x55}, 8) ==
        EntryInstruction{4, 0, std::nullopt, std::nullopt});
  CHECK_FALSE(entry_instruction(Code{0xf3, 0x0f, 0x1e, 0xfa}, 4));
  const auto call = entry_instruction(Code{0xe8, 0xf0, 0xff, 0xff, 0xff}, 4);
  REQUIRE(call);
  CHECK(call->bytes == 5);
  CHECK(call->lowers_stack == 4);
  REQUIRE(call->calls);
  CHECK(static_cast<std::int64_t>(*call->calls) == -16);
}

TEST_CASE("entry instruction: what is cut short or unknown is none", "[tracee]") {
  for (const std::size_t word : {4U, 8U}) {
    for (const Code& code : {Code{},
                             Code{0x41},
                             Code{0x48},
                             Code{0x48, 0x83},
                             Code{0x48, 0x81, 0xec, 1},
                             Code{0xe8, 1, 2},
                             Code{0xf3, 0x0f},
                             Code{0xc3},
                             Code{0xcc}}) {
      CHECK_FALSE(entry_instruction(code, word));
    }
  }
}

TEST_CASE("entry instruction: jumps and calls through a word of the GOT", "[tracee]") {
  const auto jump = entry_instruction(Code{0xff, 0x25, 0x10, 0, 0, 0}, 8);
  REQUIRE(jump);
  CHECK(jump->bytes == 6);
  CHECK(jump->through == 16);
  CHECK_FALSE(jump->calls);
  const auto prefixed = entry_instruction(Code{0xf2, 0xff, 0x25, 0xf0, 0xff, 0xff, 0xff}, 8);
  REQUIRE(prefixed);
  CHECK(prefixed->bytes == 7);
  CHECK(prefixed->through == -16);
  const auto call = entry_instruction(Code{0xff, 0x15, 0, 1, 0, 0}, 8);
  REQUIRE(call);
  CHECK(call->lowers_stack == 8);
  CHECK(call->calls == 0U);
  CHECK(call->through == 256);
  CHECK_FALSE(entry_instruction(Code{0xff, 0x25, 0x10, 0, 0}, 8));  // cut off
  CHECK_FALSE(entry_instruction(Code{0xff, 0x25, 0x10, 0, 0, 0}, 4));
}

TEST_CASE("variable arguments: registers first, then the stack", "[tracee]") {
  VariableArguments list{};
  const std::uint32_t offset = 32;
  const std::uint64_t overflow = 0x7000, saved = 0x5000;
  std::memcpy(list.data(), &offset, sizeof offset);
  std::memcpy(list.data() + 8, &overflow, sizeof overflow);
  std::memcpy(list.data() + 16, &saved, sizeof saved);
  CHECK(places_of_arguments(list, 4) == std::vector<std::uint64_t>{0x5020, 0x5028, 0x7000, 0x7008});
}

TEST_CASE("thread offset: only of a function that does nothing else", "[tracee]") {
  Code code = {0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x83, 0xc0, 0x34, 0xc3, 0x66, 0x90};
  CHECK(returned_thread_offset(code) == 0x34);
  code[13] = 0x90;
  CHECK_FALSE(returned_thread_offset(code));
  code[13] = 0xc3;
  code[12] = 0x80;  // below the thread pointer
  CHECK_FALSE(returned_thread_offset(code));
  code.resize(13);
  CHECK_FALSE(returned_thread_offset(code));
}

#endif
