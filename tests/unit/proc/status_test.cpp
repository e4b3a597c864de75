#include "proc/status.hpp"

#include "support/catch.hpp"
#include "support/fake_target.hpp"

namespace tracso::proc {
namespace {

TEST_CASE("stat: a name with spaces and parentheses does not shift the fields", "[proc]") {
  const auto stat =
      parse_stat("42 (a) b (c)) S 7 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 9 10\n");
  REQUIRE(stat);
  CHECK(stat->name == "a) b (c)");
  CHECK(stat->state == 'S');
  CHECK(stat->parent == 7);
  CHECK(stat->start_time == 123456);
  CHECK_FALSE(stat->kernel_thread());
}

TEST_CASE("stat: a kernel thread is known by its flag", "[proc]") {
  const auto stat = parse_stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0");
  REQUIRE(stat);
  CHECK(stat->kernel_thread());
}

TEST_CASE("stat: cut texts are refused", "[proc]") {
  for (const char* text : {"", "1", "1 (", "1 (a", "1 (a)", "1 (a) S 1 2 3", ")1("}) {
    CAPTURE(text);
    CHECK_FALSE(parse_stat(text));
  }
}

TEST_CASE("environ: entries keep '=' in their values, and those without one are no variables",
          "[proc]") {
  const auto entries = parse_environment(std::string("A=1\0B=x=y\0broken\0C=\0", 20));
  REQUIRE(entries.size() == 3);
  CHECK(entries[1] == std::pair<std::string, std::string>("B", "x=y"));
  CHECK(entries[2].second.empty());
}

TEST_CASE("status: the value of a line is found by its whole name", "[proc]") {
  const std::string status = "Name:\tpython\nTracerPid:\t0\nTracer:\tno\n";
  CHECK(status_value(status, "TracerPid") == "0");
  CHECK(status_value(status, "Tracer") == "no");
  CHECK_FALSE(status_value(status, "Uid"));
}

TEST_CASE("children: those of all threads, once each", "[proc]") {
  test::FakeTarget fake;
  fake.process.lists["task"] = {"10", "11", "12"};
  fake.process.texts["task/10/children"] = "30 20 ";
  fake.process.texts["task/11/children"] = "20 25 nonsense ";
  CHECK(read_children(fake.process) == std::vector<std::int32_t>{20, 25, 30});
}

TEST_CASE("environ: what a program wrote over is told from what the kernel put there", "[proc]") {
  CHECK(is_environment_intact(""));
  CHECK(is_environment_intact(std::string("A=1\0B=\0", 7)));
  CHECK_FALSE(is_environment_intact(std::string("\0\0\0\0", 4)));               // cleared
  CHECK_FALSE(is_environment_intact(std::string("A=1\0\0\0", 6)));              // cleared in part
  CHECK_FALSE(is_environment_intact(std::string("orker process\0B=2\0", 18)));  // a long title
  CHECK_FALSE(is_environment_intact(std::string("=x\0", 3)));
  CHECK_FALSE(is_environment_intact("A=1"));  // its end is gone
}

}  // namespace
}  // namespace tracso::proc
