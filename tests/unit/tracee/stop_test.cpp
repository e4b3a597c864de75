#include "tracee/stop.hpp"

#include "support/catch.hpp"

#include <sys/ptrace.h>

#include <csignal>

using namespace tracso::tracee;

namespace {

// As wait(2) lays them out: a stop is 0x7f, its signal, and the event above that.
int stopped(int signal, int event = 0) {
  return event << 16 | signal << 8 | 0x7f;
}

}  // namespace

TEST_CASE("stop: ends carry their status or signal", "[tracee][stop]") {
  CHECK(decode_status(3 << 8) == Stop{StopKind::exited, 3});
  CHECK(decode_status(SIGKILL) == Stop{StopKind::killed, SIGKILL});
  CHECK(decode_status(SIGSEGV | 0x80) == Stop{StopKind::killed, SIGSEGV});
}

TEST_CASE("stop: a signal about to be delivered is no event", "[tracee][stop]") {
  CHECK(decode_status(stopped(SIGUSR1)) == Stop{StopKind::signal, SIGUSR1});
  CHECK(decode_status(stopped(SIGSTOP)) == Stop{StopKind::signal, SIGSTOP});
  CHECK(decode_status(stopped(SIGTRAP)) == Stop{StopKind::signal, SIGTRAP});
}

TEST_CASE("stop: a stop by job control differs from an interruption", "[tracee][stop]") {
  CHECK(decode_status(stopped(SIGTSTP, PTRACE_EVENT_STOP)) == Stop{StopKind::group_stop, SIGTSTP});
  CHECK(decode_status(stopped(SIGSTOP, PTRACE_EVENT_STOP)) == Stop{StopKind::group_stop, SIGSTOP});
  CHECK(decode_status(stopped(SIGTRAP, PTRACE_EVENT_STOP)) == Stop{StopKind::trap, SIGTRAP});
}

TEST_CASE("stop: events are told apart", "[tracee][stop]") {
  CHECK(decode_status(stopped(SIGTRAP, PTRACE_EVENT_FORK)).kind == StopKind::forked);
  CHECK(decode_status(stopped(SIGTRAP, PTRACE_EVENT_VFORK)).kind == StopKind::forked_shared);
  CHECK(decode_status(stopped(SIGTRAP, PTRACE_EVENT_CLONE)).kind == StopKind::cloned);
  CHECK(decode_status(stopped(SIGTRAP, PTRACE_EVENT_EXEC)).kind == StopKind::executed);
  CHECK(decode_status(stopped(SIGTRAP, PTRACE_EVENT_EXIT)).kind == StopKind::exiting);
  CHECK(decode_status(stopped(SIGTRAP, 99)).kind == StopKind::other);
  CHECK(decode_status(0xffff).kind == StopKind::other);  // "continued"
}
