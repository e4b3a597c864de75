// Processes that look as if they had nothing to show: the first thread gone, no memory, a kernel
// thread; and a tracso that lacks descriptors.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <string>
#include <vector>

namespace tracso::test {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Its first thread ends; then it looks like a zombie until the other one ends.
constexpr const char* leader_leaves = R"(
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_t first;
static void *other(void *unused) {
  pthread_join(first, 0);
  puts("ready");
  fflush(stdout);
  getchar();
  return unused;
}
int main(void) {
  pthread_t thread;
  first = pthread_self();
  pthread_create(&thread, 0, other, 0);
  pthread_exit(0);
}
)";

}  // namespace

TEST_CASE("odd processes: one whose first thread has ended still lives", "[live]") {
  const Workshop shop;
  shop.write("leaves.c", leader_leaves);
  REQUIRE(shop.run("gcc leaves.c -o leaves -pthread"));
  Child child({shop.path("leaves")});
  REQUIRE(child.line() == std::optional<std::string>("ready"));
  const std::string pid = std::to_string(child.pid());
  // The kernel may need a moment to make it a zombie: what counts is what is said then.
  for (int tries = 0; tries < 1000 && !has(read_file("/proc/" + pid + "/stat"), ") Z "); ++tries) {
    ::usleep(1000);
  }
  REQUIRE(has(read_file("/proc/" + pid + "/stat"), ") Z "));
  const auto report = run_tracso({"--json", pid});
  INFO(report.err);
  REQUIRE(report.status == 0);
  CHECK(has(report.out, "libc.so.6"));
  CHECK_FALSE(has(report.out, "target-ended"));
  CHECK(nlohmann::json::parse(report.out).at("process").at("pid") == child.pid());
  const std::vector<std::vector<std::string>> others{
      {"fds", pid}, {"stat", "-p", pid}, {"dump", pid}, {"--bindings", pid}, {"--files", pid}};
  for (const auto& words : others) {
    const auto ran = run_tracso(words);
    INFO(words.front() << ": " << ran.out << ran.err);
    CHECK(ran.status == 0);
    CHECK_FALSE(has(ran.err, "ended"));
  }
}

TEST_CASE("odd processes: a kernel thread is called one", "[live]") {
  if (read_file("/proc/2/comm") != "kthreadd\n") {
    WARN("NOT TRIED: no kernel threads are to be seen here");
    return;
  }
  const std::vector<std::vector<std::string>> questions{
      {"2"}, {"fds", "2"}, {"stat", "-p", "2"}, {"watch", "2"}, {"dump", "2"}};
  for (const auto& words : questions) {
    const auto ran = run_tracso(words);
    INFO(words.front() << ": " << ran.out << ran.err);
    CHECK(ran.status == 4);
    CHECK(ran.out.empty());
    CHECK(has(ran.err, "kernel thread"));
  }
}

#ifndef __SANITIZE_ADDRESS__  // whose checks need descriptors themselves
TEST_CASE("odd processes: a lack of descriptors is no missing process", "[live]") {
  Child child({"/bin/sh", "-c", "echo ready; read line"});
  REQUIRE(child.line() == std::optional<std::string>("ready"));
  for (const std::string limit : {"4", "5", "6"}) {
    const auto ran = run_program({"/bin/sh",
                                  "-c",
                                  "exec 3>&- 4>&- 5>&-; ulimit -n " + limit + "; exec " +
                                      tracso_binary() + " fds " + std::to_string(child.pid())});
    INFO(limit << ": " << ran.out << ran.err);
    CHECK_FALSE(has(ran.err, "no such process"));
    CHECK((ran.status == 0 || has(ran.err, "too many open files")));
  }
}
#endif

}  // namespace tracso::test
