#include "proc/thread_call.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <sys/syscall.h>

#include <algorithm>

namespace tracso::proc {
namespace {

struct Row {
  std::int64_t number;
  std::string_view name;
  CallRole role;
};

// Calls that can block. Those of an older generation are not there on every processor.
constexpr Row rows[] = {
    {SYS_read, "read", CallRole::descriptor},
    {SYS_write, "write", CallRole::descriptor},
    {SYS_readv, "readv", CallRole::descriptor},
    {SYS_writev, "writev", CallRole::descriptor},
    {SYS_pread64, "pread64", CallRole::descriptor},
    {SYS_pwrite64, "pwrite64", CallRole::descriptor},
    {SYS_ioctl, "ioctl", CallRole::descriptor},
    {SYS_fcntl, "fcntl", CallRole::descriptor},
    {SYS_flock, "flock", CallRole::descriptor},
    {SYS_fsync, "fsync", CallRole::descriptor},
    {SYS_fdatasync, "fdatasync", CallRole::descriptor},
    {SYS_accept, "accept", CallRole::descriptor},
    {SYS_accept4, "accept4", CallRole::descriptor},
    {SYS_connect, "connect", CallRole::descriptor},
    {SYS_recvfrom, "recvfrom", CallRole::descriptor},
    {SYS_recvmsg, "recvmsg", CallRole::descriptor},
    {SYS_recvmmsg, "recvmmsg", CallRole::descriptor},
    {SYS_sendto, "sendto", CallRole::descriptor},
    {SYS_sendmsg, "sendmsg", CallRole::descriptor},
    {SYS_sendfile, "sendfile", CallRole::descriptor},
    {SYS_splice, "splice", CallRole::descriptor},
    {SYS_epoll_pwait, "epoll_pwait", CallRole::descriptor},
    {SYS_ppoll, "ppoll", CallRole::descriptors},
    {SYS_pselect6, "pselect6", CallRole::descriptors},
    {SYS_futex, "futex", CallRole::futex},
    {SYS_nanosleep, "nanosleep", CallRole::time},
    {SYS_clock_nanosleep, "clock_nanosleep", CallRole::time},
    {SYS_wait4, "wait4", CallRole::child},
    {SYS_waitid, "waitid", CallRole::child},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", CallRole::other},
    {SYS_rt_sigsuspend, "rt_sigsuspend", CallRole::other},
    {SYS_restart_syscall, "restart_syscall", CallRole::other},
    {SYS_semop, "semop", CallRole::other},
    {SYS_semtimedop, "semtimedop", CallRole::other},
    {SYS_msgrcv, "msgrcv", CallRole::other},
    {SYS_msgsnd, "msgsnd", CallRole::other},
    {SYS_io_getevents, "io_getevents", CallRole::other},
    {SYS_openat, "openat", CallRole::other},
    {SYS_execve, "execve", CallRole::other},
    {SYS_clone, "clone", CallRole::other},
    {SYS_mmap, "mmap", CallRole::other},
    {SYS_munmap, "munmap", CallRole::other},
    {SYS_mprotect, "mprotect", CallRole::other},
    {SYS_madvise, "madvise", CallRole::other},
    {SYS_exit, "exit", CallRole::other},
    {SYS_exit_group, "exit_group", CallRole::other},
#ifdef SYS_io_uring_enter
    {SYS_io_uring_enter, "io_uring_enter", CallRole::descriptor},
#endif
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, "epoll_pwait2", CallRole::descriptor},
#endif
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, "epoll_wait", CallRole::descriptor},
#endif
#ifdef SYS_poll
    {SYS_poll, "poll", CallRole::descriptors},
#endif
#ifdef SYS_select
    {SYS_select, "select", CallRole::descriptors},
#endif
#ifdef SYS_pause
    {SYS_pause, "pause", CallRole::other},
#endif
#ifdef SYS_open
    {SYS_open, "open", CallRole::other},
#endif
#ifdef SYS_vfork
    {SYS_vfork, "vfork", CallRole::child},
#endif
};

}  // namespace

std::optional<ThreadCall> parse_thread_call(std::string_view text) {
  const auto words = split_words(text, " \n");
  ThreadCall call;
  if (words.size() == 1 && words[0] == "running") {
    call.running = true;
    return call;
  }
  constexpr std::size_t blocked_words = 3, call_words = 9;
  const bool in_call = words.size() == call_words;
  const auto number = words.empty() ? std::nullopt : parse_signed(words[0]);
  if (!number || (!in_call && !(words.size() == blocked_words && *number == -1))) {
    return std::nullopt;
  }
  call.number = *number;
  std::array<std::uint64_t, 8> values{};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto value =
        words[i].starts_with("0x") ? parse_unsigned(words[i].substr(2), 16) : std::nullopt;
    if (!value) {
      return std::nullopt;
    }
    values[i - 1] = *value;
  }
  const std::size_t last = words.size() - 2;
  call.program_counter = values[last];
  call.stack_pointer = values[last - 1];
  if (in_call) {
    std::copy_n(values.begin(), call.arguments.size(), call.arguments.begin());
  }
  return call;
}

CallKind call_kind(std::int64_t number) {
  const auto* found = std::find_if(
      std::begin(rows), std::end(rows), [&](const Row& row) { return row.number == number; });
  return found == std::end(rows) ? CallKind{fmt::format("call {}", number), CallRole::other}
                                 : CallKind{std::string(found->name), found->role};
}

}  // namespace tracso::proc
