#include "proc/thread_call.hpp"

#include "support/catch.hpp"

#include <sys/syscall.h>

namespace tracso::proc {
namespace {

TEST_CASE("thread call: the three forms the kernel writes", "[proc][dump]") {
  CHECK(parse_thread_call("running\n")->running);
  const auto fault = parse_thread_call("-1 0x7ffc5a0 0x7f0012\n");
  REQUIRE(fault);
  CHECK(fault->number == -1);
  CHECK(fault->stack_pointer == 0x7ffc5a0);
  CHECK(fault->program_counter == 0x7f0012);
  const auto call = parse_thread_call("202 0x55d0 0x80 0x2 0x0 0x0 0x0 0x7ffc 0x7f01\n");
  REQUIRE(call);
  CHECK(call->number == 202);
  CHECK(call->arguments[0] == 0x55d0);
  CHECK(call->arguments[2] == 2);
  CHECK(call->program_counter == 0x7f01);
}

TEST_CASE("thread call: anything else is refused", "[proc][dump]") {
  for (const char* text : {"",
                           "\n",
                           "walking",
                           "202 0x1",
                           "202 0x1 0x2",
                           "-1 0x1",
                           "0 1 2 3 4 5 6 7 8",
                           "0 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0xffffffffffffffffff",
                           "0 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 0x9"}) {
    INFO(text);
    CHECK_FALSE(parse_thread_call(text));
  }
}

TEST_CASE("thread call: names and roles", "[proc][dump]") {
  CHECK(call_kind(SYS_futex).role == CallRole::futex);
  CHECK(call_kind(SYS_read).name == "read");
  CHECK(call_kind(99999).name == "call 99999");
}

}  // namespace
}  // namespace tracso::proc
