#include "os/gdb_guardian.hpp"

#include "tracso/gdb_session.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>

// What a signal does to a target depends on what gdb is doing to it (seen with gdb 13):
//   starting   SIGKILL is safe, but the SIGSTOP of a half-done attach may stay behind: SIGCONT
//   attached   gdb stands at a gate and leaves by itself when the gate is closed
//   waiting    a SIGWINCH to the target stops it for gdb, which takes its breakpoint out and goes
//   on
//              with the script. SIGINT to gdb does the same by passing a SIGINT to the target,
//              which would end it if the breakpoint is hit at that very moment; a late SIGWINCH is
//              ignored. SIGKILL would leave the breakpoint in the code, and the target dies of it
//              later
//   busy       a function of the target is being called on a thread's stack: any signal kills the
//              target, so the only thing to do is to wait

namespace tracso::os {
namespace {

enum class Stage : unsigned char { starting, attached, waiting, busy };

constexpr int lines_fd = 8, relay_fd = 9, lines_out_fd = 10;
constexpr int again_ms = 2000;  // SIGWINCH is blocked or not permitted: then SIGINT

// Follows the stages through the pieces in which the output comes.
class StageReader {
 public:
  Stage stage() const { return stage_; }

  void take(std::string_view piece) {
    for (const char letter : piece) {
      if (letter == '\n') {
        line_ended();
        used_ = 0;
      } else if (used_ < line_.size()) {
        line_[used_++] = letter;
      }
    }
  }

 private:
  void line_ended() {
    std::string_view line(line_.data(), used_);
    if (line.substr(0, gdb_protocol::mark.size()) != gdb_protocol::mark) {
      return;
    }
    line.remove_prefix(gdb_protocol::mark.size());
    if (line == gdb_protocol::attached) {
      stage_ = Stage::attached;
    } else if (stage_ != Stage::starting) {
      stage_ = line == gdb_protocol::waiting ? Stage::waiting : Stage::busy;
    }
  }

  Stage stage_ = Stage::starting;
  std::array<char, 64> line_{};
  std::size_t used_ = 0;
};

[[noreturn]] void become_gdb(const GuardianPlan& plan) {
  ::dup2(lines_out_fd, STDOUT_FILENO);
  ::dup2(lines_out_fd, STDERR_FILENO);
  ::close(lines_fd);
  ::close(relay_fd);
  ::close(lines_out_fd);
  for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGCHLD}) {
    ::signal(number, SIG_DFL);
  }
  // If even the guardian should be gone, a line that nobody reads must not end gdb inside a call.
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(plan.program, plan.argv, plan.environment);
  constexpr std::string_view words = "cannot start gdb\n";
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, words.data(), words.size());
  ::_exit(127);
}

// Everything else of ours is closed: a guardian that stays must not hold our stdout open.
void settle_descriptors(const GuardianPlan& plan) {
  const int null = ::open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(null, standard);
  }
  ::dup2(plan.gate, gdb_protocol::gate_fd);
  ::dup2(plan.code, gdb_protocol::code_fd);
  ::dup2(plan.answer, gdb_protocol::answer_fd);
  ::dup2(plan.registers, gdb_protocol::registers_fd);
  ::dup2(plan.script, script_fd);
  ::dup2(plan.lines_in, lines_fd);
  ::dup2(plan.relay, relay_fd);
  ::dup2(plan.lines_out, lines_out_fd);
  const unsigned first = static_cast<unsigned>(lines_out_fd) + 1;
  if (::syscall(SYS_close_range, first, ~0U, 0U) != 0) {
    const long most = ::sysconf(_SC_OPEN_MAX);
    for (int fd = static_cast<int>(first); fd < (most > 0 && most < 65536 ? most : 65536); ++fd) {
      ::close(fd);
    }
  }
}

class Guardian {
 public:
  Guardian(const GuardianPlan& plan, pid_t gdb) : plan_(plan), gdb_(gdb) {}

  void run() {
    while (serve()) {
      if (left_) {
        hurry();
      }
    }
    while (::waitpid(gdb_, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (killed_ && !plan_.target_stopped) {
      ::kill(plan_.target, SIGCONT);
    }
  }

 private:
  // One round; false: gdb's output has ended.
  bool serve() {
    std::array<pollfd, 2> wait{pollfd{lines_fd, POLLIN, 0},
                               pollfd{left_ ? -1 : gdb_protocol::gate_fd, 0, 0}};
    const int ready = ::poll(wait.data(), wait.size(), left_ ? again_ms : -1);
    if (ready == 0) {
      if (stages_.stage() == Stage::waiting) {
        ::kill(gdb_, SIGINT);
      }
      return true;
    }
    if ((wait[1].revents & (POLLHUP | POLLERR)) != 0) {
      left_ = true;
    }
    if (wait[0].revents == 0) {
      return true;
    }
    std::array<char, 4096> piece{};
    const ssize_t count = ::read(lines_fd, piece.data(), piece.size());
    if (count <= 0) {
      return count < 0 && errno == EINTR;
    }
    stages_.take({piece.data(), static_cast<std::size_t>(count)});
    // What does not fit is lost: gdb must never wait for a reader.
    [[maybe_unused]] const auto written =
        ::write(relay_fd, piece.data(), static_cast<std::size_t>(count));
    return true;
  }

  void hurry() {
    if (stages_.stage() == Stage::starting && !killed_) {
      killed_ = true;
      ::kill(gdb_, SIGKILL);
    } else if (stages_.stage() == Stage::waiting && !interrupted_) {
      interrupted_ = true;
      ::kill(plan_.target, SIGWINCH);
    }
  }

  const GuardianPlan& plan_;
  pid_t gdb_;
  StageReader stages_;
  bool left_ = false, killed_ = false, interrupted_ = false;
};

}  // namespace

void be_guardian(const GuardianPlan& plan) {
  ::setsid();
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::signal(SIGCHLD, SIG_DFL);
  settle_descriptors(plan);
  const pid_t gdb = ::fork();
  if (gdb == 0) {
    become_gdb(plan);
  }
  ::close(lines_out_fd);
  for (const int fd :
       {gdb_protocol::code_fd, gdb_protocol::answer_fd, gdb_protocol::registers_fd, script_fd}) {
    ::close(fd);
  }
  if (gdb > 0) {
    Guardian(plan, gdb).run();
  }
  ::_exit(0);
}

}  // namespace tracso::os
