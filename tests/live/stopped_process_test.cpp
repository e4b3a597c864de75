// Stopping a running process for a short look.

#include "tracee/stopped_process.hpp"

#include "support/catch.hpp"
#include "support/run_support.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>

using namespace tracso;
using namespace tracso::test;
using std::chrono::milliseconds;
using tracee::StoppedProcess;

namespace {

class Child {
 public:
  explicit Child(const std::string& program) : pid_(fork()) {
    if (pid_ == 0) {
      execl(program.c_str(), program.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    usleep(150'000);
  }

  ~Child() { end(SIGKILL); }

  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int end(int signal) {
    int status = 0;
    if (pid_ > 0) {
      kill(pid_, signal);
      waitpid(pid_, &status, 0);
      pid_ = 0;
    }
    return status;
  }

  pid_t pid() const { return pid_; }

  // The states of its threads, and the jiffies they have used.
  std::string activity() const {
    std::string all;
    for (const pid_t thread : {pid_}) {
      std::ifstream file("/proc/" + std::to_string(thread) + "/stat");
      std::getline(file, all);
    }
    return all;
  }

  char state() const { return activity()[activity().rfind(')') + 2]; }

 private:
  pid_t pid_;
};

std::string counting_program() {
  return compile("counting", R"(
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static volatile sig_atomic_t usr1;
static void on_usr1(int n) { (void)n; ++usr1; }
static void on_term(int n) { (void)n; _exit(usr1 > 100 ? 100 : usr1); }
static void *spin(void *a) { for (volatile long i = 0;; ++i) {} return a; }
static void *churn(void *a) {
  for (;;) { pthread_t t; if (pthread_create(&t, 0, (void *(*)(void *))usleep, (void *)100) == 0) pthread_join(t, 0); }
  return a;
}
int main(void) {
  signal(SIGUSR1, on_usr1);
  signal(SIGTERM, on_term);
  pthread_t t;
  for (int i = 0; i < 3; ++i) pthread_create(&t, 0, spin, 0);
  pthread_create(&t, 0, churn, 0);
  for (;;) pause();
}
)");
}

}  // namespace

TEST_CASE("stopped process: stands still until it is let go", "[live][tracee]") {
  Child child(counting_program());
  for (int round = 0; round < 30; ++round) {
    auto stopped = StoppedProcess::stop(child.pid(), milliseconds(20'000));
    REQUIRE(stopped);
    CHECK(stopped->threads() >= 5);
    CHECK(child.state() == 't');
    const std::string before = child.activity();
    usleep(5'000);
    CHECK(child.activity() == before);
    const auto time = stopped->release();
    CHECK(time > milliseconds(5));
    CHECK(stopped->release() == time);
  }
  usleep(50'000);
  CHECK(child.state() != 't');
}

TEST_CASE("stopped process: no signal gets lost", "[live][tracee]") {
  Child child(counting_program());
  for (int round = 0; round < 20; ++round) {
    auto stopped = StoppedProcess::stop(child.pid(), milliseconds(20'000));
    REQUIRE(stopped);
    kill(child.pid(), SIGUSR1);
    stopped->release();
    usleep(20'000);
  }
  const int status = child.end(SIGTERM);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 20);
}

TEST_CASE("stopped process: a process stopped by job control stays so", "[live][tracee]") {
  Child child(counting_program());
  kill(child.pid(), SIGSTOP);
  usleep(50'000);
  {
    const auto stopped = StoppedProcess::stop(child.pid(), milliseconds(20'000));
    REQUIRE(stopped);
  }
  usleep(50'000);
  CHECK(child.state() == 'T');
  kill(child.pid(), SIGCONT);
  usleep(50'000);
  CHECK(child.state() != 'T');
}

TEST_CASE("stopped process: a thread that cannot stop is waited for, then left", "[live][tracee]") {
  const std::string program = compile("in_vfork", R"(
#define _GNU_SOURCE
#include <unistd.h>
int main(void) { if (vfork() == 0) { usleep(900000); _exit(0); } for (;;) pause(); }
)");
  Child child(program);
  const auto stopped = StoppedProcess::stop(child.pid(), milliseconds(100));
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().kind == ErrorKind::interrupted);
  usleep(1'000'000);
  CHECK(child.state() == 'S');  // it went on, nobody holds it
}

TEST_CASE("stopped process: who is not there or already traced is told", "[live][tracee]") {
  CHECK(StoppedProcess::stop(0x3ffffff, milliseconds(100)).error().kind == ErrorKind::not_found);
  Child child(counting_program());
  auto first = StoppedProcess::stop(child.pid(), milliseconds(20'000));
  REQUIRE(first);
  const auto second = StoppedProcess::stop(child.pid(), milliseconds(100));
  REQUIRE_FALSE(second);
  CHECK(second.error().kind == ErrorKind::denied);
}
