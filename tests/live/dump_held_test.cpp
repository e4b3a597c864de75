// What a thread that tracso dump --native holds must not notice, and threads that cannot be held.

#include "support/catch.hpp"
#include "support/dumped.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/run_support.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace tracso;
using test::has_native;
using test::native_dump;

// Without care each of these calls fails with EINTR when its thread was held (signal(7)).
TEST_CASE("dump --native: a call that waits is not interrupted", "[live][dump][native]") {
  if (!has_native()) {
    return;
  }
  const auto program =
      test::compile("waits_in_calls",
                    R"(
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <unistd.h>
static int go[2];
static pthread_t threads[6];
static void *in_epoll(void *a) {
  struct epoll_event v = {EPOLLIN, {0}};
  int e = epoll_create1(0);
  epoll_ctl(e, EPOLL_CTL_ADD, go[0], &v);
  return (void *)(long)(epoll_wait(e, &v, 1, -1) == 1 ? 0 : errno);
}
static void *in_poll(void *a) { struct pollfd p = {go[0], POLLIN, 0}; return (void *)(long)(poll(&p, 1, -1) == 1 ? 0 : errno); }
static int sem;
static void *in_sem(void *a) { struct sembuf b = {0, -1, 0}; return (void *)(long)(semop(sem, &b, 1) == 0 ? 0 : errno); }
static void *in_sigwait(void *a) { sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR2); return (void *)(long)(sigwaitinfo(&s, 0) == SIGUSR2 ? 0 : errno); }
static int pair[2];
static void *in_recv(void *a) {
  struct timeval t = {600, 0}; char c;
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
  return (void *)(long)(recv(pair[0], &c, 1, 0) == 1 ? 0 : errno);
}
static void *in_inotify(void *a) {
  char room[4096]; int i = inotify_init1(0);
  inotify_add_watch(i, (char *)a, IN_ATTRIB);
  return (void *)(long)(read(i, room, sizeof room) > 0 ? 0 : errno);
}
int main(int argc, char **argv) {
  sigset_t s; char c; int failed = 0;
  sigemptyset(&s); sigaddset(&s, SIGUSR2); pthread_sigmask(SIG_BLOCK, &s, 0);
  pipe(go); socketpair(AF_UNIX, SOCK_STREAM, 0, pair); sem = semget(IPC_PRIVATE, 1, 0600);
  void *(*all[])(void *) = {in_epoll, in_poll, in_sem, in_sigwait, in_recv, in_inotify};
  for (int i = 0; i < 6; ++i) pthread_create(&threads[i], 0, all[i], argv[0]);
  usleep(300000);
  puts("ready"); fflush(stdout);
  if (read(0, &c, 1) != 1) failed = errno;
  struct sembuf b = {0, 1, 0};
  semop(sem, &b, 1); kill(getpid(), SIGUSR2); write(pair[1], "x", 1); chmod(argv[0], 0700); write(go[1], "x", 1);
  for (int i = 0; i < 6; ++i) { void *e = 0; pthread_join(threads[i], &e); if (e) { fprintf(stderr, "thread %d: %ld\n", i, (long)e); failed = 10 + i; } }
  semctl(sem, 0, IPC_RMID);
  return failed;
}
)",
                    "cc -O1 -pthread -D_GNU_SOURCE -include sys/stat.h -include sys/time.h");
  test::Child child({program});
  REQUIRE(child.line() == "ready");
  REQUIRE(child.rests());
  const auto pid = std::to_string(child.pid());
  const auto looks =
      test::run_tracso({"dump", "--native", "--json", "--count", "20", "--interval", "0", pid});
  CHECK(looks.status == 0);
  CHECK(std::count(looks.out.begin(), looks.out.end(), '\n') == 20);
  const auto first = nlohmann::json::parse(looks.out.substr(0, looks.out.find('\n')));
  CHECK(first["held"]["threads"] == 7);
  child.write("\n");
  CHECK(child.wait() == 0);
}

TEST_CASE("dump --native: a stopped process stays stopped", "[live][dump][native]") {
  if (!has_native()) {
    return;
  }
  test::Child child({"cat"});
  REQUIRE(child.rests());
  REQUIRE(kill(child.pid(), SIGSTOP) == 0);
  int status = 0;
  REQUIRE(waitpid(child.pid(), &status, WUNTRACED) == child.pid());
  const auto pid = std::to_string(child.pid());
  for (int i = 0; i < 3; ++i) {
    const auto dump = native_dump(pid);
    CHECK(dump["threads"][0]["state"] == "T");
    CHECK(dump["threads"][0]["native"]["frames"].size() > 2);
  }
  const auto stat = test::read_file("/proc/" + pid + "/stat");
  CHECK(stat.find(") T ") != std::string::npos);
  REQUIRE(kill(child.pid(), SIGCONT) == 0);
  child.write("x\n");
  CHECK(child.line() == "x");
}

TEST_CASE("dump --native: threads that end and begin meanwhile", "[live][dump][native]") {
  if (!has_native()) {
    return;
  }
  const auto program = test::compile("short_threads", R"(
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *ends(void *a) { usleep((long)a); return a; }
int main(void) {
  puts("ready"); fflush(stdout);
  for (long i = 0;; ++i) {
    pthread_t t[8];
    for (int k = 0; k < 8; ++k) pthread_create(&t[k], 0, ends, (void *)(i % 500));
    for (int k = 0; k < 8; ++k) pthread_join(t[k], 0);
  }
}
)");
  test::Child child({program});
  REQUIRE(child.line() == "ready");
  const auto pid = std::to_string(child.pid());
  const auto looks =
      test::run_tracso({"dump", "--native", "--json", "--count", "50", "--interval", "0", pid});
  CHECK(looks.status == 0);
  CHECK(std::count(looks.out.begin(), looks.out.end(), '\n') == 50);
  CHECK(looks.out.find("native-denied") == std::string::npos);
  CHECK(test::read_file("/proc/" + pid + "/status").find("TracerPid:\t0") != std::string::npos);
}

TEST_CASE("dump --native: who may not be held is told, with the rest", "[live][dump][native]") {
  if (!has_native()) {
    return;
  }
  const auto program = test::compile("traced", R"(
#include <stdio.h>
#include <sys/ptrace.h>
#include <unistd.h>
int main(void) {
  int child = fork();
  if (child == 0) { ptrace(PTRACE_TRACEME, 0, 0, 0); char c; read(0, &c, 1); _exit(0); }
  usleep(200000);
  printf("%d\n", child); fflush(stdout);
  char c[8]; read(0, c, 8);
}
)");
  test::Child child({program});
  const auto traced = child.line();
  REQUIRE(traced);
  const auto dump = native_dump(*traced);
  REQUIRE(dump["threads"].size() == 1);
  CHECK(dump["threads"][0]["native"].is_null());
  CHECK(dump["threads"][0]["syscall"] == "read");
  CHECK(test::notice_codes(dump) == std::vector<std::string>{"native-denied"});
  const auto text = test::run_tracso({"dump", "--native", *traced});
  CHECK(test::contains(text.out, "held by another tracer, process " + std::to_string(child.pid())));
  CHECK(test::contains(text.out, "no thread could be held; read in "));
}
