// `tracso stat` on commands that take known amounts.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tracso::test {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t megabyte = 1024 * 1024;

// A program that does what its arguments say, and then ends as they say.
constexpr const char* source = R"(
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void *sleeper(void *name) { pthread_setname_np(pthread_self(), name); pause(); return 0; }
static void *nothing(void *x) { return x; }
int main(int argc, char **argv) {
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  for (int i = 1; i < argc; ++i) {
    const char *what = argv[i], *value = strchr(what, '=');
    long n = value ? atol(value + 1) : 0;
    if (!strncmp(what, "dirty=", 6)) memset(mmap(0, n << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, n << 20);
    if (!strncmp(what, "shared=", 7)) memset(mmap(0, n << 20, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0), 1, n << 20);
    if (!strncmp(what, "reserve=", 8)) mmap(0, n << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!strncmp(what, "spike=", 6)) { char *p = mmap(0, n << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); memset(p, 1, n << 20); munmap(p, n << 20); }
    if (!strncmp(what, "malloc=", 7)) memset(malloc(n << 20), 1, n << 20);
    if (!strncmp(what, "open=", 5)) { char name[64]; for (long k = 0; k < n; ++k) { snprintf(name, sizeof name, "leak-%ld", k); open(name, O_CREAT | O_RDWR, 0600); } }
    if (!strncmp(what, "dup=", 4)) { int fd = open("dup-target", O_CREAT | O_RDWR, 0600); for (long k = 1; k < n; ++k) dup(fd); }
    if (!strcmp(what, "deleted")) { open("gone", O_CREAT | O_RDWR, 0600); unlink("gone"); }
    if (!strcmp(what, "kinds")) { eventfd(3, 0); epoll_create1(0); memfd_create("my-memfd", 0); int p[2]; pipe(p); write(p[1], what, 5); }
    if (!strncmp(what, "threads=", 8)) { static char names[64][16]; pthread_t t; for (long k = 0; k < n; ++k) { snprintf(names[k], 16, "worker-%ld", k + 1); pthread_create(&t, 0, sleeper, names[k]); } usleep(100000); }
    if (!strcmp(what, "joined")) { pthread_t t; pthread_create(&t, 0, nothing, 0); pthread_join(t, 0); }
    if (!strncmp(what, "write=", 6)) { char b[1024]; memset(b, 1, sizeof b); int fd = open("written", O_CREAT | O_RDWR | O_TRUNC, 0600); for (long k = 0; k < n; ++k) write(fd, b, sizeof b); close(fd); }
    if (!strncmp(what, "cpu=", 4)) { clock_t end = clock() + n * (CLOCKS_PER_SEC / 1000); while (clock() < end) {} }
    if (!strncmp(what, "naps=", 5)) for (long k = 0; k < n; ++k) usleep(1000);
    if (!strcmp(what, "zombie") && fork() == 0) _exit(0);
    if (!strcmp(what, "child") && fork() == 0) { close(0); close(1); close(2); sleep(20); _exit(0); }
    if (!strcmp(what, "daemon")) { pid_t p = fork(); if (p == 0) { if (fork() == 0) { close(0); close(1); close(2); sleep(20); } _exit(0); } waitpid(p, 0, 0); usleep(100000); }
    if (!strcmp(what, "say")) { puts("output of the command"); fflush(stdout); }
    if (!strncmp(what, "exit=", 5)) return (int)n;
    if (!strncmp(what, "_exit=", 6)) _exit((int)n);
    if (!strncmp(what, "kill=", 5)) { usleep(50000); kill(getpid(), (int)n); pause(); }
  }
  usleep(20000);
  return 0;
}
)";

class Bench {
 public:
  Bench() {
    workshop_.write("subject.c", source);
    REQUIRE(workshop_.run("gcc -w -O0 subject.c -o subject -lpthread"));
  }

  ProgramRun run(std::vector<std::string> ours, const std::vector<std::string>& subject) const {
    std::vector<std::string> words{"stat"};
    words.insert(words.end(), ours.begin(), ours.end());
    words.push_back(workshop_.path("subject"));
    words.insert(words.end(), subject.begin(), subject.end());
    ProgramOptions options;
    options.directory = workshop_.path("");
    return run_tracso(words, options);
  }

  Json document(const std::vector<std::string>& subject, int status = 0) const {
    const ProgramRun ran = run({"--json"}, subject);
    INFO(ran.err);
    CHECK(ran.status == status);
    const Json parsed = Json::parse(ran.out, nullptr, false);
    REQUIRE(parsed.is_object());
    return parsed;
  }

  std::string path(const std::string& name) const { return workshop_.path(name); }

 private:
  Workshop workshop_;
};

std::uint64_t bytes(const Json& value) {
  REQUIRE(value.is_number());
  return value.get<std::uint64_t>();
}

// What the program takes without any of it: its own start.
std::uint64_t floor_of(const Bench& bench, const char* figure) {
  return bytes(bench.document({}).at("memory").at(figure));
}

bool between(std::uint64_t value, std::uint64_t least, std::uint64_t most) {
  UNSCOPED_INFO(value << " must lie between " << least << " and " << most);
  return value >= least && value <= most;
}

TEST_CASE("stat: 64 MB that were written to are private, dirty and resident", "[live][stat]") {
  const Bench bench;
  const std::uint64_t floor = floor_of(bench, "dirty");
  const Json memory = bench.document({"dirty=64"}).at("memory");
  CHECK(between(
      bytes(memory.at("dirty")) - floor, 64 * megabyte - 64 * 1024, 64 * megabyte + 64 * 1024));
  CHECK(bytes(memory.at("final")) >= 64 * megabyte);
  CHECK(bytes(memory.at("peak")) >= bytes(memory.at("final")));
  CHECK(bytes(memory.at("by_class").at("other").at("dirty")) >= 64 * megabyte);
}

TEST_CASE("stat: memory that is only reserved is virtual and nothing else", "[live][stat]") {
  const Bench bench;
  const std::uint64_t dirty = floor_of(bench, "dirty");
  const std::uint64_t virtual_ = floor_of(bench, "virtual");
  const Json memory = bench.document({"reserve=64"}).at("memory");
  CHECK(bytes(memory.at("virtual")) - virtual_ == 64 * megabyte);
  CHECK(bytes(memory.at("dirty")) <= dirty + 64 * 1024);
}

TEST_CASE("stat: shared memory is of its own class", "[live][stat]") {
  const Bench bench;
  const Json classes = bench.document({"shared=16"}).at("memory").at("by_class");
  CHECK(bytes(classes.at("shared").at("resident")) == 16 * megabyte);
}

TEST_CASE("stat: a spike that is over is in the peak and not at the end", "[live][stat]") {
  const Bench bench;
  const Json memory = bench.document({"spike=64"}).at("memory");
  CHECK(bytes(memory.at("peak")) >= 64 * megabyte);
  CHECK(bytes(memory.at("final")) < 16 * megabyte);
}

TEST_CASE("stat: a large block of malloc is counted once", "[live][stat]") {
  const Bench bench;
  const std::uint64_t floor = floor_of(bench, "dirty");
  const Json memory = bench.document({"malloc=32"}).at("memory");
  CHECK(between(bytes(memory.at("dirty")) - floor, 32 * megabyte, 32 * megabyte + 128 * 1024));
}

TEST_CASE("stat: the peak is the command's own, not that of who started it", "[live][stat]") {
  const ProgramRun ran = run_tracso({"stat", "--json", "/bin/true"});
  const Json parsed = Json::parse(ran.out, nullptr, false);
  REQUIRE(parsed.is_object());
  CHECK(bytes(parsed.at("memory").at("peak")) < 4 * megabyte);
}

TEST_CASE("stat: seven files left open are seven leaks with their paths", "[live][stat]") {
  const Bench bench;
  const Json fds = bench.document({"open=7"}).at("descriptors");
  REQUIRE(fds.at("leaked").size() == 7);
  CHECK(fds.at("after").get<int>() - fds.at("before").get<int>() == 7);
  for (std::size_t i = 0; i < 7; ++i) {
    CHECK(
        contains(fds.at("leaked")[i].at("target").get<std::string>(), "leak-" + std::to_string(i)));
  }
}

TEST_CASE("stat: duplicates are one target many times", "[live][stat]") {
  const Bench bench;
  const Json leaked = bench.document({"dup=10"}).at("descriptors").at("leaked");
  REQUIRE(leaked.size() == 10);
  for (const Json& one : leaked) {
    CHECK(one.at("target") == leaked[0].at("target"));
  }
}

TEST_CASE("stat: every kind of descriptor is named", "[live][stat]") {
  const Bench bench;
  const Json leaked = bench.document({"deleted", "kinds"}).at("descriptors").at("leaked");
  std::map<std::string, Json> by_kind;
  for (const Json& one : leaked) {
    by_kind[one.at("kind").get<std::string>()] = one;
  }
  REQUIRE(leaked.size() == 6);
  CHECK(by_kind.at("file").at("deleted") == true);
  CHECK(by_kind.at("eventfd").at("detail") == "count 3");
  CHECK(by_kind.count("epoll") == 1);
  CHECK(by_kind.at("memfd").at("target") == "my-memfd");
  CHECK(by_kind.at("pipe").at("bytes_waiting") == 5);
}

TEST_CASE("stat: three threads that still run at the end, by name", "[live][stat]") {
  const Bench bench;
  const Json threads = bench.document({"threads=3"}).at("threads");
  CHECK(threads.at("after") == 4);
  std::vector<std::string> names;
  for (const Json& one : threads.at("names")) {
    names.push_back(one.at("name").get<std::string>());
  }
  CHECK(names == std::vector<std::string>{"subject", "worker-1", "worker-2", "worker-3"});
}

TEST_CASE("stat: a thread that was joined is none", "[live][stat]") {
  const Bench bench;
  CHECK(bench.document({"joined"}).at("threads").at("after") == 1);
}

TEST_CASE("stat: children are counted that ended before an exec of the command", "[live][stat]") {
  const ProgramRun ran =
      run_tracso({"stat", "--json", "sh", "-c", "/bin/true; /bin/true; exec /bin/true"});
  const Json parsed = Json::parse(ran.out, nullptr, false);
  REQUIRE(parsed.is_object());
  CHECK(parsed.at("children").at("started") == 2);
}

TEST_CASE("stat: children that are left, zombies and orphans", "[live][stat]") {
  const Bench bench;
  const Json zombie = bench.document({"zombie", "naps=50"}).at("children");
  REQUIRE(zombie.at("left").size() == 1);
  CHECK(zombie.at("left")[0].at("zombie") == true);
  const Json child = bench.document({"child"}).at("children");
  REQUIRE(child.at("left").size() == 1);
  CHECK(child.at("left")[0].at("orphan") == false);
  CHECK(child.at("started") == 1);
  const Json daemon = bench.document({"daemon"}).at("children");
  REQUIRE(daemon.at("left").size() == 1);
  CHECK(daemon.at("left")[0].at("orphan") == true);
}

TEST_CASE("stat: bytes written, switches and processor time", "[live][stat]") {
  const Bench bench;
  const std::uint64_t before = bytes(bench.document({}).at("io").at("written_bytes"));
  const Json all = bench.document({"write=1024", "naps=50", "cpu=200"});
  CHECK(bytes(all.at("io").at("written_bytes")) - before == megabyte);
  CHECK(bytes(all.at("switches").at("voluntary")) >= 50);
  CHECK(bytes(all.at("switches").at("voluntary")) <= 120);
  CHECK(between(bytes(all.at("cpu_ns")), 195'000'000, 260'000'000));
  CHECK(bytes(all.at("wall_ns")) >= 200'000'000);
}

TEST_CASE("stat: however it ends, all is there", "[live][stat]") {
  const Bench bench;

  const struct {
    const char* word;
    int status;
  } ends[] = {{"_exit=3", 3}, {"kill=9", 137}, {"kill=11", 139}, {"exit=42", 42}};

  for (const auto& end : ends) {
    INFO(end.word);
    const Json all = bench.document({"open=3", "dirty=8", end.word}, end.status);
    CHECK(all.at("descriptors").at("leaked").size() == 3);
    CHECK(bytes(all.at("memory").at("dirty")) >= 8 * megabyte);
    CHECK(bytes(all.at("libraries").at("count")) >= 2);
    CHECK(all.at("moment") == "exit stop");
  }
}

TEST_CASE("stat: the command's output stays apart from the document", "[live][stat]") {
  const Bench bench;
  const ProgramRun json = bench.run({"--json"}, {"say"});
  CHECK(Json::parse(json.out, nullptr, false).is_object());
  CHECK(contains(json.err, "output of the command"));
  const ProgramRun text = bench.run({}, {"say"});
  CHECK(text.out.starts_with("output of the command\n"));
  CHECK(contains(text.out, "memory    peak"));
  const ProgramRun file = bench.run({"-o", bench.path("out.json")}, {"say"});
  CHECK(file.out == "output of the command\n");
  CHECK(Json::parse(read_file(bench.path("out.json")), nullptr, false).is_object());
}

TEST_CASE("stat: exit statuses of budgets and of the command", "[live][stat]") {
  const Bench bench;
  CHECK(bench.run({"--no-leaks=fds"}, {}).status == 0);
  const ProgramRun leak = bench.run({"--no-leaks=fds"}, {"open=1"});
  CHECK(leak.status == 1);
  CHECK(contains(leak.err, "failed: no-leaks=fds"));
  CHECK(contains(leak.err, "leak-0"));
  CHECK(bench.run({"--no-leaks=fds"}, {"open=1", "exit=42"}).status == 42);
  CHECK(bench.run({"--max-rss", "1K"}, {}).status == 1);
  CHECK(bench.run({"--deny", "libc.so*"}, {}).status == 1);
  CHECK(bench.run({"--max-libs", "100", "--max-threads", "1", "--max-children", "0"}, {}).status ==
        0);
  CHECK(run_tracso({"stat", "/no/such/program"}).status == 127);
  CHECK(run_tracso({"stat", "/etc/passwd"}).status == 126);
  CHECK(run_tracso({"stat", "-p", "999999999"}).status == 3);
}

TEST_CASE("stat: a baseline is kept to or not", "[live][stat]") {
  const Bench bench;
  const std::string file = bench.path("base.json");
  REQUIRE(bench.run({"--save-baseline", file}, {"dirty=32"}).status == 0);
  CHECK(bench.run({"--baseline", file, "--runs", "1"}, {"dirty=32"}).status == 0);
  CHECK(bench.run({"--baseline", file, "--runs", "1"}, {"dirty=40"}).status == 1);
  CHECK(bench.run({"--baseline", file, "--runs", "1", "--fail-on-regression", "50%"}, {"dirty=40"})
            .status == 0);
  CHECK(bench.run({"--baseline", file, "--runs", "1"}, {"dirty=32", "open=1"}).status == 1);
  CHECK(bench.run({"--baseline", bench.path("none.json")}, {}).status == 2);
  write_file(bench.path("odd.json"), "{}");
  CHECK(bench.run({"--baseline", bench.path("odd.json")}, {}).status == 2);
}

TEST_CASE("stat: budgets as a JUnit suite", "[live][stat]") {
  const Bench bench;
  const std::string file = bench.path("junit.xml");
  CHECK(bench.run({"--junit", file, "--no-leaks=fds", "--max-libs", "100"}, {"open=1"}).status ==
        1);
  const std::string xml = read_file(file);
  CHECK(contains(xml, "tests=\"2\" failures=\"1\""));
  CHECK(contains(xml, "<failure message="));
}

TEST_CASE("stat: without ptrace the last look counts, and that is said", "[live][stat]") {
  const Bench bench;
  const ProgramRun ran = bench.run({"--json", "--no-ptrace"}, {"dirty=16", "open=2", "naps=1000"});
  const Json all = Json::parse(ran.out, nullptr, false);
  REQUIRE(all.is_object());
  CHECK(all.at("exact") == false);
  CHECK(bytes(all.at("memory").at("peak")) >= 16 * megabyte);
  CHECK(all.at("descriptors").at("leaked").size() == 2);
  CHECK(all.at("notices").dump().find("not-traced") != std::string::npos);
}

TEST_CASE("stat: a running process, and what it opened meanwhile", "[live][stat]") {
  Child python({"/usr/bin/python3",
                "-c",
                "import sys, time; print('ready', flush=True); sys.stdin.readline(); "
                "keep = [open('/etc/passwd') for _ in range(4)]; print('done', flush=True); "
                "sys.stdin.read()"});
  REQUIRE(python.line() == "ready");
  const std::string pid = std::to_string(python.pid());
  const ProgramRun one = run_tracso({"stat", "--json", "-p", pid});
  INFO(one.err);
  REQUIRE(one.status == 0);
  const Json now = Json::parse(one.out, nullptr, false);
  CHECK(now.at("command").is_null());
  CHECK(bytes(now.at("memory").at("by_class").at("python").at("resident")) > 0);
  CHECK(now.at("descriptors").at("opened").empty());
  // The line reaches Python while the second look waits.
  python.write("\n");
  REQUIRE(python.line() == "done");
  const ProgramRun later = run_tracso({"stat", "-p", pid, "--for", "0.1"});
  CHECK(later.status == 0);
  CHECK(contains(later.out, "running"));
}

TEST_CASE("stat: the classes of memory sum to what the kernel counts", "[live][stat]") {
  Child python({"/usr/bin/python3",
                "-c",
                "import ssl, sqlite3, json, sys; print('ready', flush=True); sys.stdin.read()"});
  REQUIRE(python.line() == "ready");
  const ProgramRun ran = run_tracso({"stat", "--json", "-p", std::to_string(python.pid())});
  const Json all = Json::parse(ran.out, nullptr, false);
  REQUIRE(all.is_object());
  std::uint64_t resident = 0;
  for (const auto& [name, use] : all.at("memory").at("by_class").items()) {
    resident += bytes(use.at("resident"));
  }
  const std::string statm = read_file("/proc/" + std::to_string(python.pid()) + "/statm");
  const std::uint64_t pages = std::stoull(statm.substr(statm.find(' ') + 1));
  const std::uint64_t kernel = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  CHECK(between(resident, kernel - megabyte / 4, kernel + megabyte / 4));
}

}  // namespace
}  // namespace tracso::test
