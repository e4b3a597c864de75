#include "collect/descriptors.hpp"

#include "collect/resources.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

namespace tracso {
namespace {

test::FakeProcess process_with_sockets() {
  test::FakeProcess process;
  process.lists["fd"] = {"10", "3", "4", "5"};
  process.links = {{"fd/3", "socket:[4712]"},
                   {"fd/4", "anon_inode:[eventfd]"},
                   {"fd/10", "/tmp/x (deleted)"}};  // fd/5 is closed meanwhile
  process.texts["fdinfo/4"] = "flags:\t02\neventfd-count: 3\n";
  process.texts["fdinfo/10"] = "flags:\t0100000\n";
  process.texts["net/tcp"] =
      "   1: 0100007F:D3E2 0100007F:1F90 01 00000064:00000010 00:00000000 00000000  1000 0 4712 "
      "1\n";
  return process;
}

TEST_CASE("descriptors: in order of their numbers, what is closed meanwhile left out",
          "[collect][descriptors]") {
  const auto process = process_with_sockets();
  std::vector<Notice> notices;
  const auto all = collect_descriptors(process, nullptr, notices);
  REQUIRE(all);
  REQUIRE(all->size() == 3);
  CHECK((*all)[0].fd == 3);
  CHECK((*all)[1].detail == "count 3");
  CHECK((*all)[2].deleted);
  CHECK(notices.empty());
}

TEST_CASE("descriptors: what may not be read is there, and said", "[collect][descriptors]") {
  auto process = process_with_sockets();
  process.denied.insert("fd/4");
  std::vector<Notice> notices;
  const auto all = collect_descriptors(process, nullptr, notices);
  REQUIRE(all);
  REQUIRE(all->size() == 3);
  CHECK((*all)[1].fd == 4);
  CHECK((*all)[1].target == "?");
  CHECK((*all)[1].detail == "may not be read");
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].code == "descriptors-unreadable");
}

TEST_CASE("descriptors: without pidfd_getfd the tables of the namespace tell the endpoints",
          "[collect][descriptors]") {
  const auto process = process_with_sockets();
  std::vector<Notice> notices;
  const auto all = collect_descriptors(process, nullptr, notices);
  REQUIRE(all);
  CHECK((*all)[0].kind == DescriptorKind::tcp);
  CHECK((*all)[0].target == "127.0.0.1:54242 -> 127.0.0.1:8080");
  CHECK((*all)[0].bytes_waiting == 16U);
  CHECK((*all)[0].detail == "established");
}

TEST_CASE("descriptors: a socket that nothing tells of is said", "[collect][descriptors]") {
  auto process = process_with_sockets();
  process.texts.erase("net/tcp");
  std::vector<Notice> notices;
  const auto all = collect_descriptors(process, nullptr, notices);
  REQUIRE(all);
  CHECK((*all)[0].kind == DescriptorKind::socket);
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].code == "sockets-unknown");
}

TEST_CASE("descriptors: what the kernel tells of a borrowed one counts more",
          "[collect][descriptors]") {
  const auto process = process_with_sockets();
  std::vector<Notice> notices;
  const proc::Borrow borrow = [](std::int32_t fd, DescriptorKind) {
    proc::BorrowedFacts facts;
    facts.kind = DescriptorKind::unix_socket;
    facts.target = "(unnamed)";
    facts.waiting = 777;
    return fd == 3 ? std::optional(facts) : std::nullopt;
  };
  const auto all = collect_descriptors(process, borrow, notices);
  REQUIRE(all);
  CHECK((*all)[0].kind == DescriptorKind::unix_socket);
  CHECK((*all)[0].bytes_waiting == 777U);
}

TEST_CASE("resources: switches are those of all threads, io that of the process",
          "[collect][resources]") {
  test::FakeProcess process;
  process.lists["task"] = {"12", "11"};
  process.texts["task/11/status"] = "voluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t1\n";
  process.texts["task/12/status"] = "voluntary_ctxt_switches:\t6\nnonvoluntary_ctxt_switches:\t2\n";
  process.texts["task/11/comm"] = "main\n";
  process.texts["task/12/comm"] = "worker-1\n";
  process.texts["io"] = "rchar: 100\nwchar: 20\nread_bytes: 0\nwrite_bytes: 8192\n";
  const Activity now = collect_activity(process);
  CHECK(now.voluntary_switches == 10U);
  CHECK(now.forced_switches == 3U);
  Activity then;
  then.read_bytes = 40;
  CHECK(activity_since(now, then).read_bytes == 60U);
  CHECK_FALSE(activity_since(now, then).written_bytes);
  CHECK(collect_threads(process) == std::vector<ThreadInfo>{{11, "main"}, {12, "worker-1"}});
}

TEST_CASE("resources: a number that went to somebody else's process is no descendant",
          "[collect][resources]") {
  test::FakeProcess process;
  process.number = 10;
  process.lists["task"] = {"10"};
  process.texts["task/10/children"] = "20 30 ";
  const auto open = [](std::int32_t pid) -> std::unique_ptr<ProcessSource> {
    auto child = std::make_unique<test::FakeProcess>();
    child->number = pid;
    const char* parent = pid == 20 ? "10" : "1";
    child->texts["stat"] =
        std::to_string(pid) + " (x) Z " + parent + " 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99\n";
    return child;
  };
  const auto found = collect_descendants(process, open);
  REQUIRE(found.size() == 1);
  CHECK(found[0].pid == 20);
  CHECK(found[0].state == 'Z');
}

}  // namespace
}  // namespace tracso
