#include "tracee/call_stop.hpp"

#include <linux/audit.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include <algorithm>
#include <cstring>

namespace tracso::tracee {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t native_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t native_architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t native_architecture = 0;
#endif

}  // namespace

std::optional<CallStop> call_stop(pid_t thread) {
  __ptrace_syscall_info info{};
  const auto size = reinterpret_cast<void*>(sizeof info);  // NOLINT: ptrace takes it as a pointer
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, size, &info) <= 0) {
    return std::nullopt;
  }
  CallStop stop;
  stop.native = info.arch == native_architecture;
  stop.instruction = info.instruction_pointer;
  stop.stack = info.stack_pointer;
  if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
    stop.entry = true;
    stop.number = info.entry.nr;
    std::copy_n(std::begin(info.entry.args), stop.arguments.size(), stop.arguments.begin());
    return stop;
  }
  if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
    stop.result = info.exit.rval;
    stop.failed = info.exit.is_error != 0;
    return stop;
  }
  return std::nullopt;
}

std::optional<std::array<std::uint64_t, 8>> floating_registers(pid_t thread) {
#if defined(__x86_64__)
  user_fpregs_struct registers{};
  if (ptrace(PTRACE_GETFPREGS, thread, nullptr, &registers) != 0) {
    return std::nullopt;
  }
  std::array<std::uint64_t, 8> halves{};
  constexpr std::size_t bytes_of_xmm = 16;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    std::memcpy(&halves[i],
                reinterpret_cast<const char*>(&registers.xmm_space[0]) + i * bytes_of_xmm,
                sizeof halves[i]);
  }
  return halves;
#else
  static_cast<void>(thread);
  return std::nullopt;
#endif
}

}  // namespace tracso::tracee
