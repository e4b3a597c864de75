#include "launch/dlopen_call.hpp"

#include "support/catch.hpp"

using namespace tracso::launch;

namespace {

constexpr std::uint64_t mode = 0x80000002;  // RTLD_NOW, from dlopen
constexpr std::uint64_t name = 0x7000, caller = 0x5000, record = 0x9000;

bool any(const DlopenCall&) {
  return true;
}

}  // namespace

TEST_CASE("dlopen call: the arguments are found among other words", "[launch][dlopen]") {
  const std::vector<std::uint64_t> stack = {1, 2, name, mode, caller, record, 0, 5, 6};
  const auto call = find_dlopen_call(stack, any);
  REQUIRE(call);
  CHECK(call->name == name);
  CHECK(call->caller == caller);
  CHECK(call->record == record);
  CHECK(call->word == 2);
}

TEST_CASE("dlopen call: padding beside the mode is no part of it", "[launch][dlopen]") {
  const std::vector<std::uint64_t> stack = {name, 0x7ffe12340000'0000U | mode, caller, record, 0};
  CHECK(find_dlopen_call(stack, any));
}

TEST_CASE("dlopen call: an old glibc has one address more", "[launch][dlopen]") {
  const std::vector<std::uint64_t> stack = {name, mode, caller, 0x5001, record, 0, 1};
  const auto call = find_dlopen_call(stack, [](const DlopenCall& c) { return c.record == record; });
  REQUIRE(call);
  CHECK(call->caller == caller);
}

TEST_CASE("dlopen call: one that does not fit is passed over", "[launch][dlopen]") {
  const std::vector<std::uint64_t> stack = {
      0x7001, mode, 0x5001, 0x9001, 0, name, mode, caller, record, 0};
  const auto call = find_dlopen_call(stack, [](const DlopenCall& c) { return c.record == record; });
  REQUIRE(call);
  CHECK(call->word == 5);
}

TEST_CASE("dlopen call: other words are none", "[launch][dlopen]") {
  CHECK_FALSE(find_dlopen_call({}, any));
  const std::vector<std::vector<std::uint64_t>> stacks = {
      {name, mode, caller, record},                  // cut short
      {name, 2, caller, record, 0},                  // not from dlopen
      {name, 0x80000000, caller, record, 0},         // neither lazy nor now
      {name, mode | 0x00400000, caller, record, 0},  // a bit that no mode has
      {0, mode, caller, record, 0},                  // dlopen(NULL) opens nothing
      {name, mode, 0, record, 0},
      {name, mode, caller, record, 77}};  // no namespace
  for (const auto& stack : stacks) {
    CHECK_FALSE(find_dlopen_call(stack, any));
  }
}
