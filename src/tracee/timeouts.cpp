#include "tracee/timeouts.hpp"

#include "tracee/as_pointer.hpp"
#include "tracee/requests.hpp"

#if defined(__x86_64__)
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#endif

namespace tracso::tracee {

#if defined(__x86_64__)
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Register = unsigned long long user_regs_struct::*;

struct TimedCall {
  std::uint64_t number;
  Register timeout;
  bool is_number;  // of milliseconds; else the address of a timespec
};

constexpr std::uint64_t epoll_pwait2 = 441;  // not in every header
constexpr std::array calls{TimedCall{SYS_epoll_wait, &user_regs_struct::r10, true},
                           TimedCall{SYS_epoll_pwait, &user_regs_struct::r10, true},
                           TimedCall{epoll_pwait2, &user_regs_struct::r10, false},
                           TimedCall{SYS_semtimedop, &user_regs_struct::r10, false},
                           TimedCall{SYS_rt_sigtimedwait, &user_regs_struct::rdx, false},
                           TimedCall{SYS_io_getevents, &user_regs_struct::r8, false},
                           TimedCall{SYS_io_pgetevents, &user_regs_struct::r8, false}};

nanoseconds left_of(nanoseconds timeout, nanoseconds waited) {
  return std::max(timeout - waited, nanoseconds(0));
}

// Rounded up: it must not come too early.
bool shorten_number(user_regs_struct& registers, Register timeout, nanoseconds waited) {
  const auto number = static_cast<std::int32_t>(registers.*timeout);
  if (number <= 0) {  // below zero: for ever
    return false;
  }
  const auto left = std::chrono::ceil<milliseconds>(left_of(milliseconds(number), waited));
  registers.*timeout = static_cast<std::uint64_t>(left.count());
  return true;
}

bool shorten_time(pid_t thread, user_regs_struct& registers, Register timeout, nanoseconds waited) {
  constexpr std::uint64_t red_zone = 128, word = 8, room = 64;
  // What is longer is as good as for ever, and what is below zero, as large as that.
  constexpr std::uint64_t most_seconds = 1'000'000'000, second_ns = 1'000'000'000;
  const std::uint64_t from = registers.*timeout;
  const auto seconds = from == 0 ? std::nullopt : peek(thread, from);
  const auto rest = seconds ? peek(thread, from + word) : std::nullopt;
  if (!rest || *seconds > most_seconds || *rest >= second_ns) {
    return false;
  }
  const auto left = left_of(std::chrono::seconds(*seconds) + nanoseconds(*rest), waited);
  const auto whole = std::chrono::floor<std::chrono::seconds>(left);
  const std::uint64_t place = (registers.rsp - red_zone - room) & ~(word - 1);
  if (!poke(thread, place, static_cast<std::uint64_t>(whole.count())) ||
      !poke(thread, place + word, static_cast<std::uint64_t>((left - whole).count()))) {
    return false;
  }
  registers.*timeout = place;
  return true;
}

}  // namespace

bool shorten_timeout(pid_t thread, nanoseconds waited) {
  user_regs_struct registers{};
  iovec content{&registers, sizeof registers};
  if (ptrace(PTRACE_GETREGSET, thread, as_pointer(NT_PRSTATUS), &content) != 0 ||
      content.iov_len != sizeof registers) {  // a 32-bit program
    return false;
  }
  const auto* const call = std::find_if(calls.begin(), calls.end(), [&](const TimedCall& one) {
    return one.number == registers.orig_rax;
  });
  if (call == calls.end()) {
    return false;
  }
  const bool changed = call->is_number ? shorten_number(registers, call->timeout, waited)
                                       : shorten_time(thread, registers, call->timeout, waited);
  return changed && ptrace(PTRACE_SETREGSET, thread, as_pointer(NT_PRSTATUS), &content) == 0;
}

#else

bool shorten_timeout(pid_t /*thread*/, std::chrono::nanoseconds /*waited*/) {
  return false;
}

#endif

}  // namespace tracso::tracee
