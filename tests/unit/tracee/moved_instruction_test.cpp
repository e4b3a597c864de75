#if defined(__x86_64__)

#include "tracee/moved_instruction.hpp"

#include "support/catch.hpp"

#include <initializer_list>
#include <vector>

using namespace tracso::tracee;

namespace {

// As it would be read from memory: with other code behind it.
std::optional<MovedInstruction> moved(std::initializer_list<std::uint8_t> bytes) {
  std::vector<std::uint8_t> code(bytes);
  code.resize(16, 0x90);
  return moved_instruction(code);
}

MovedInstruction with_distance(std::size_t at) {
  MovedInstruction instruction;
  instruction.distance_at = at;
  return instruction;
}

}  // namespace

TEST_CASE("moved instruction: most mean the same everywhere", "[tracee]") {
  const MovedInstruction plain;
  CHECK(moved({0x8d, 0x47, 0x01}) == plain);                          // lea 1(%rdi),%eax
  CHECK(moved({0x48, 0x89, 0xe5}) == plain);                          // mov %rsp,%rbp
  CHECK(moved({0x75, 0xef}) == plain);                                // jne: as far from the copy
  CHECK(moved({0x0f, 0x84, 0, 0, 0, 0}) == plain);                    // je
  CHECK(moved({0xf3, 0x48, 0xab}) == plain);                          // rep stos
  CHECK(moved({0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}) == plain);  // mov %fs:0,%rax
  CHECK(moved({0xc5, 0xf9, 0xef, 0xc0}) == plain);                    // vpxor
  CHECK(moved({0x66, 0x0f, 0xef, 0xc0}) == plain);                    // pxor
}

TEST_CASE("moved instruction: distances from the instruction are found", "[tracee]") {
  CHECK(moved({0x8b, 0x05, 1, 0, 0, 0}) == with_distance(2));              // mov X(%rip),%eax
  CHECK(moved({0x48, 0x8d, 0x3d, 1, 0, 0, 0}) == with_distance(3));        // lea X(%rip),%rdi
  CHECK(moved({0x83, 0x3d, 1, 0, 0, 0, 7}) == with_distance(2));           // cmpl $7,X(%rip)
  CHECK(moved({0xf2, 0x0f, 0x10, 0x05, 1, 0, 0, 0}) == with_distance(4));  // movsd X(%rip),%xmm0
  CHECK(moved({0x66, 0x0f, 0x38, 0x00, 0x05, 1, 0, 0, 0}) == with_distance(5));  // pshufb
  CHECK(moved({0xc5, 0xfb, 0x10, 0x05, 1, 0, 0, 0}) == with_distance(4));  // vmovsd X(%rip),%xmm0
  CHECK(moved({0xc4, 0xe2, 0x79, 0x00, 0x05, 1, 0, 0, 0}) == with_distance(5));  // vpshufb
}

TEST_CASE("moved instruction: returns, jumps and calls", "[tracee]") {
  const auto ret = moved({0xc3});
  REQUIRE(ret);
  CHECK(ret->absolute);
  CHECK_FALSE(ret->calls);
  const auto call = moved({0xe8, 1, 0, 0, 0});
  REQUIRE(call);
  CHECK_FALSE(call->absolute);
  CHECK(call->calls);
  const auto indirect = moved({0x41, 0xff, 0xd4});  // call *%r12
  REQUIRE(indirect);
  CHECK(indirect->absolute);
  CHECK(indirect->calls);
  const auto jump = moved({0xff, 0x25, 1, 0, 0, 0});  // jmp *X(%rip)
  REQUIRE(jump);
  CHECK(jump->absolute);
  CHECK(jump->distance_at == 2U);
  const auto pushed = moved({0xff, 0x35, 1, 0, 0, 0});  // push X(%rip)
  REQUIRE(pushed);
  CHECK_FALSE(pushed->absolute);
}

TEST_CASE("moved instruction: what goes into the kernel stays", "[tracee]") {
  CHECK_FALSE(moved({0x0f, 0x05}));
  CHECK_FALSE(moved({0x0f, 0x34}));
  CHECK_FALSE(moved({0xcd, 0x80}));
  CHECK_FALSE(moved({0xcc}));
  CHECK_FALSE(moved({0x0f, 0x0b}));
  CHECK_FALSE(moved({0xff, 0x2d, 0, 0, 0, 0}));  // a far jump
  CHECK_FALSE(moved_instruction({}));
  CHECK_FALSE(moved_instruction(std::vector<std::uint8_t>(16, 0x66)));
}

#endif
