#include "proc/descriptors.hpp"

#include "support/catch.hpp"

namespace tracso::proc {
namespace {

using Kind = DescriptorKind;

TEST_CASE("descriptors: the link says what a descriptor is open on", "[proc][descriptors]") {
  CHECK(parse_descriptor_link("/var/log/x").kind == Kind::file);
  CHECK(parse_descriptor_link("/dev/pts/3").kind == Kind::terminal);
  CHECK(parse_descriptor_link("pipe:[4711]") == DescriptorLink{Kind::pipe, "pipe:[4711]", 4711});
  CHECK(parse_descriptor_link("socket:[12]").inode == 12);
  CHECK(parse_descriptor_link("anon_inode:[eventfd]").kind == Kind::eventfd);
  CHECK(parse_descriptor_link("anon_inode:[eventpoll]").kind == Kind::epoll);
  CHECK(parse_descriptor_link("anon_inode:[timerfd]").kind == Kind::timerfd);
  CHECK(parse_descriptor_link("anon_inode:[signalfd]").kind == Kind::signalfd);
  CHECK(parse_descriptor_link("anon_inode:inotify").kind == Kind::inotify);
  CHECK(parse_descriptor_link("anon_inode:[pidfd]").kind == Kind::pidfd);
  CHECK(parse_descriptor_link("pidfd:[99]").kind == Kind::pidfd);
  CHECK(parse_descriptor_link("anon_inode:[io_uring]").kind == Kind::other);
}

TEST_CASE("descriptors: deleted files and memfds", "[proc][descriptors]") {
  const auto gone = parse_descriptor_link("/tmp/a b (deleted)");
  CHECK(gone.deleted);
  CHECK(gone.target == "/tmp/a b");
  const auto memory = parse_descriptor_link("/memfd:my memory (deleted)");
  CHECK(memory.kind == Kind::memfd);
  CHECK(memory.target == "my memory");
  CHECK_FALSE(memory.deleted);
  CHECK(parse_descriptor_link("/memfd:x").kind == Kind::file);  // a file may be called that
}

TEST_CASE("descriptors: hostile links are only text", "[proc][descriptors]") {
  for (const char* text : {"", "pipe:[", "pipe:[x]", "socket:[]", "pipe:[99999999999999999999]"}) {
    CHECK(parse_descriptor_link(text).kind == Kind::other);
    CHECK(parse_descriptor_link(text).inode == 0);
  }
}

TEST_CASE("descriptors: fdinfo tells counts, watches, pids and locks", "[proc][descriptors]") {
  const auto event =
      parse_descriptor_info("pos:\t0\nflags:\t02\nmnt_id:\t15\neventfd-count:      1f\n");
  CHECK(event.count == 31U);
  CHECK(event.flags == 2U);
  CHECK(describe(Kind::eventfd, event) == "count 31");

  const auto epoll = parse_descriptor_info(
      "pos:\t0\nflags:\t02\ntfd:        5 events:       19 data: 5\ntfd:        7 events: 1 data: "
      "7\n");
  CHECK(epoll.watched == std::vector<std::int32_t>{5, 7});
  CHECK(describe(Kind::epoll, epoll) == "watches 5, 7");
  CHECK(describe(Kind::epoll, {}) == "watches nothing");

  CHECK(describe(Kind::pidfd, parse_descriptor_info("flags:\t02\nPid:\t4711\nNSpid:\t4711\n")) ==
        "pid 4711");
  CHECK(describe(Kind::pidfd, parse_descriptor_info("Pid:\t-1\n")) == "its process has ended");
  CHECK(describe(Kind::file,
                 parse_descriptor_info("lock:\t1: FLOCK  ADVISORY  WRITE 12 08:01:1 0 EOF\n")) ==
        "locked (FLOCK WRITE)");
  CHECK(describe(Kind::file, {}).empty());
}

TEST_CASE("descriptors: an epoll that watches very many is cut short", "[proc][descriptors]") {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "tfd: " + std::to_string(i) + " events: 1\n";
  }
  const auto info = parse_descriptor_info(text);
  CHECK(info.watched.size() == 64);
  CHECK(info.watched_count == 1000);
  CHECK(describe(Kind::epoll, info).find("936 more") != std::string::npos);
}

}  // namespace
}  // namespace tracso::proc
