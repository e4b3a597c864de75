#include "tracee/thread_state.hpp"

#include "tracee/as_pointer.hpp"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace tracso::tracee {

#if defined(__x86_64__)
namespace {

constexpr std::uint64_t flags_of_code =
    0x40000 | 0x400 | 0x100;  // alignment check, direction, trap
// What the kernel puts into rax until it decides what becomes of an interrupted call.
constexpr std::int64_t restart_always = -512, restart_unless_handled = -514, restart_block = -516;

std::vector<std::byte> get_set(pid_t thread, std::uint64_t type, std::size_t most) {
  std::vector<std::byte> bytes(most);
  iovec room{bytes.data(), bytes.size()};
  const bool done = ptrace(PTRACE_GETREGSET, thread, as_pointer(type), &room) == 0;
  bytes.resize(done ? room.iov_len : 0);
  return bytes;
}

bool set_set(pid_t thread, std::uint64_t type, const std::vector<std::byte>& bytes) {
  auto copy = bytes;
  iovec content{copy.data(), copy.size()};
  return ptrace(PTRACE_SETREGSET, thread, as_pointer(type), &content) == 0;
}

bool set_blocked(pid_t thread, std::uint64_t mask) {
  return ptrace(PTRACE_SETSIGMASK, thread, as_pointer(sizeof mask), &mask) == 0;
}

std::uint64_t faults() {
  const auto bit = [](int signal) { return std::uint64_t{1} << (signal - 1); };
  return bit(SIGSEGV) | bit(SIGBUS) | bit(SIGILL) | bit(SIGFPE) | bit(SIGTRAP) | bit(SIGSYS);
}

user_regs_struct registers_of(const std::vector<std::byte>& general) {
  user_regs_struct registers{};
  std::memcpy(&registers, general.data(), sizeof registers);
  return registers;
}

bool set_registers(pid_t thread, const user_regs_struct& registers) {
  std::vector<std::byte> bytes(sizeof registers);
  std::memcpy(bytes.data(), &registers, sizeof registers);
  return set_set(thread, NT_PRSTATUS, bytes);
}

// Calls that do nothing but wait, and yet fail with EINTR where others begin again (signal(7)).
bool only_waits(std::uint64_t number) {
  constexpr std::array calls{SYS_epoll_wait,
                             SYS_epoll_pwait,
                             441 /* epoll_pwait2 */,
                             SYS_semop,
                             SYS_semtimedop,
                             SYS_rt_sigtimedwait,
                             SYS_read,
                             SYS_recvfrom,
                             SYS_recvmsg,
                             SYS_recvmmsg,
                             SYS_accept,
                             SYS_accept4};
  return std::find(calls.begin(), calls.end(), static_cast<long>(number)) != calls.end();
}

// A call with a timeout that was stopped once goes on as restart_syscall(2), which knows what it is
// only as long as the thread makes no other call. What it was stands in the code: mov $NUMBER,%eax;
// syscall. Nothing is changed where that is not there.
void name_restarted_call(pid_t thread, user_regs_struct& registers) {
  constexpr std::uint64_t bytes_of_both = 7;
  if (registers.orig_rax != SYS_restart_syscall || registers.rip < bytes_of_both) {
    return;
  }
  errno = 0;
  const long word =
      ptrace(PTRACE_PEEKTEXT, thread, as_pointer(registers.rip - bytes_of_both), nullptr);
  std::array<unsigned char, sizeof word> code{};
  std::memcpy(code.data(), &word, sizeof word);
  if (errno == 0 && code[0] == 0xb8 && code[5] == 0x0f && code[6] == 0x05) {
    std::uint32_t number = 0;
    std::memcpy(&number, code.data() + 1, sizeof number);
    registers.orig_rax = number;
  }
}

bool was_interrupted(const user_regs_struct& registers) {
  const auto number = static_cast<std::int64_t>(registers.orig_rax);
  const auto result = static_cast<std::int64_t>(registers.rax);
  const bool restarts =
      result == restart_block || (result <= restart_always && result >= restart_unless_handled);
  return number >= 0 && (restarts || (result == -EINTR && only_waits(registers.orig_rax)));
}

// The layout that the kernel has on the stack for a signal handler (asm/sigcontext.h).
struct SignalContext {
  std::uint64_t flags = 0, link = 0;
  std::uint64_t stack = 0, stack_flags = 0, stack_bytes = 0;
  std::uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip;
  std::uint64_t rflags;
  std::uint16_t cs, gs, fs, ss;
  std::uint64_t error = 0, trap = 0, old_mask = 0, fault = 0, vectors = 0;
  std::array<std::uint64_t, 8> reserved{};
  std::uint64_t blocked = 0;
};

// What rt_sigreturn(2) takes these from.
std::vector<std::byte> bytes_of(const user_regs_struct& registers,
                                std::uint64_t blocked,
                                std::uint64_t vectors) {
  constexpr std::uint64_t has_vectors = 1, keeps_ss = 2, strict_ss = 4;  // UC_...
  constexpr std::uint64_t no_such_mode = 0x7ffffff0;  // the alternate stack stays what it is
  SignalContext context{};
  context.flags = has_vectors | keeps_ss | strict_ss;
  context.stack_flags = no_such_mode;
  context.r8 = registers.r8;
  context.r9 = registers.r9;
  context.r10 = registers.r10;
  context.r11 = registers.r11;
  context.r12 = registers.r12;
  context.r13 = registers.r13;
  context.r14 = registers.r14;
  context.r15 = registers.r15;
  context.rdi = registers.rdi;
  context.rsi = registers.rsi;
  context.rbp = registers.rbp;
  context.rbx = registers.rbx;
  context.rdx = registers.rdx;
  context.rax = registers.rax;
  context.rcx = registers.rcx;
  context.rsp = registers.rsp;
  context.rip = registers.rip;
  context.rflags = registers.eflags;
  context.cs = static_cast<std::uint16_t>(registers.cs);
  context.ss = static_cast<std::uint16_t>(registers.ss);
  context.vectors = vectors;
  context.blocked = blocked;
  std::vector<std::byte> bytes(sizeof context);
  std::memcpy(bytes.data(), &context, sizeof context);
  return bytes;
}

}  // namespace

std::optional<ThreadState> ThreadState::of(pid_t thread) {
  constexpr std::size_t most_vectors = 32768;
  ThreadState state;
  state.general_ = get_set(thread, NT_PRSTATUS, sizeof(user_regs_struct));
  state.vectors_ = get_set(thread, NT_X86_XSTATE, most_vectors);
  if (state.general_.size() == sizeof(user_regs_struct)) {
    auto registers = registers_of(state.general_);
    name_restarted_call(thread, registers);
    std::memcpy(state.general_.data(), &registers, sizeof registers);
  }
  const bool known =
      state.general_.size() == sizeof(user_regs_struct) && !state.vectors_.empty() &&
      ptrace(PTRACE_GETSIGMASK, thread, as_pointer(sizeof state.blocked_), &state.blocked_) == 0;
  return known ? std::optional(std::move(state)) : std::nullopt;
}

bool ThreadState::give_to(pid_t thread) const {
  auto registers = registers_of(general_);
  const auto result = static_cast<std::int64_t>(registers.rax);
  // The kernel remembers one call with a timeout for each thread, and ours has taken its place: so
  // it begins again as a whole.
  if (was_interrupted(registers) && (result == -EINTR || result == restart_block)) {
    registers.rax = static_cast<std::uint64_t>(restart_unless_handled);
  }
  // The general registers last: until then the thread would find its way back without us.
  const bool vectors = set_set(thread, NT_X86_XSTATE, vectors_);
  const bool blocked = set_blocked(thread, blocked_);
  return set_registers(thread, registers) && blocked && vectors;
}

std::uint64_t ThreadState::pc() const {
  return registers_of(general_).rip;
}

std::uint64_t ThreadState::stack() const {
  return registers_of(general_).rsp;
}

std::uint64_t ThreadState::thread_pointer() const {
  return registers_of(general_).fs_base;
}

std::optional<std::int64_t> ThreadState::interrupted_call() const {
  const auto registers = registers_of(general_);
  return was_interrupted(registers) ? std::optional(static_cast<std::int64_t>(registers.orig_rax))
                                    : std::nullopt;
}

std::array<std::uint64_t, 2> ThreadState::call_arguments() const {
  const auto registers = registers_of(general_);
  return {registers.rdi, registers.rsi};
}

bool ThreadState::borrow(pid_t thread,
                         std::uint64_t pc,
                         std::uint64_t stack,
                         std::uint64_t data) const {
  auto registers = registers_of(general_);
  registers.orig_rax = ~std::uint64_t{0};  // no system call is to begin again here
  registers.rip = pc;
  registers.rsp = stack;
  registers.rbx = data;
  registers.rbp = 0;
  registers.eflags &= ~flags_of_code;
  return set_registers(thread, registers) && set_blocked(thread, ~faults());
}

bool ThreadState::prepare_system_call(pid_t thread,
                                      std::uint64_t instruction,
                                      std::uint64_t stack,
                                      std::int64_t number,
                                      const std::array<std::uint64_t, 6>& arguments) const {
  auto registers = registers_of(general_);
  registers.orig_rax = ~std::uint64_t{0};
  registers.rip = instruction;
  registers.rsp = stack;
  registers.rax = static_cast<std::uint64_t>(number);
  registers.rdi = arguments[0];
  registers.rsi = arguments[1];
  registers.rdx = arguments[2];
  registers.r10 = arguments[3];
  registers.r8 = arguments[4];
  registers.r9 = arguments[5];
  registers.eflags &= ~flags_of_code;
  // In this order: were we killed in between, the thread would still come back to what it was.
  return set_registers(thread, registers) && set_blocked(thread, ~faults());
}

std::vector<std::byte> ThreadState::context(std::uint64_t vectors) const {
  constexpr std::uint64_t bytes_of_instruction = 2;
  auto registers = registers_of(general_);
  if (was_interrupted(registers)) {  // nobody begins it again for us then
    registers.rax = registers.orig_rax;
    registers.rip -= bytes_of_instruction;
  }
  return bytes_of(registers, blocked_, vectors);
}

std::vector<std::byte> ThreadState::waiting_context(std::uint64_t vectors,
                                                    std::uint64_t instruction,
                                                    std::uint64_t stack,
                                                    std::uint64_t pause) const {
  auto registers = registers_of(general_);
  registers.rip = instruction;
  registers.rsp = stack;
  registers.rax = SYS_ppoll;
  registers.rdi = registers.rsi = registers.r10 = 0;
  registers.rdx = pause;
  registers.r8 = sizeof blocked_;
  registers.eflags &= ~flags_of_code;
  return bytes_of(registers, ~faults(), vectors);
}

bool ThreadState::is_waiting_at(std::uint64_t instruction, std::uint64_t stack) const {
  constexpr std::uint64_t bytes_of_instruction = 2;
  const auto registers = registers_of(general_);
  return registers.orig_rax == SYS_ppoll && registers.rsp == stack &&
         registers.rip == instruction + bytes_of_instruction;
}

// The same save area, but for the words in which each interface keeps what it needs.
std::vector<std::byte> ThreadState::vectors() const {
  constexpr std::size_t at = 464;  // sw_reserved of struct _fpstate
  constexpr std::uint32_t magic_before = 0x46505853, magic_behind = 0x46505845;
  auto bytes = vectors_;
  if (bytes.size() < at + 48) {
    return bytes;
  }
  std::uint64_t features = 0;  // ptrace leaves them there
  std::memcpy(&features, bytes.data() + at, sizeof features);
  const auto size = static_cast<std::uint32_t>(bytes.size());
  const std::array<std::uint32_t, 2> sizes{magic_before, size + std::uint32_t{sizeof magic_behind}};
  std::fill_n(bytes.begin() + at, 48, std::byte{});
  std::memcpy(bytes.data() + at, sizes.data(), sizeof sizes);
  std::memcpy(bytes.data() + at + 8, &features, sizeof features);
  std::memcpy(bytes.data() + at + 16, &size, sizeof size);
  bytes.resize(bytes.size() + sizeof magic_behind);
  std::memcpy(bytes.data() + size, &magic_behind, sizeof magic_behind);
  return bytes;
}

#else

std::optional<ThreadState> ThreadState::of(pid_t /*thread*/) {
  return std::nullopt;
}

bool ThreadState::give_to(pid_t /*thread*/) const {
  return false;
}

std::uint64_t ThreadState::pc() const {
  return 0;
}

std::uint64_t ThreadState::stack() const {
  return 0;
}

std::uint64_t ThreadState::thread_pointer() const {
  return 0;
}

std::optional<std::int64_t> ThreadState::interrupted_call() const {
  return std::nullopt;
}

std::array<std::uint64_t, 2> ThreadState::call_arguments() const {
  return {};
}

bool ThreadState::borrow(pid_t /*thread*/,
                         std::uint64_t /*pc*/,
                         std::uint64_t /*stack*/,
                         std::uint64_t /*data*/) const {
  return false;
}

bool ThreadState::prepare_system_call(pid_t /*thread*/,
                                      std::uint64_t /*instruction*/,
                                      std::uint64_t /*stack*/,
                                      std::int64_t /*number*/,
                                      const std::array<std::uint64_t, 6>& /*arguments*/) const {
  return false;
}

std::vector<std::byte> ThreadState::waiting_context(std::uint64_t /*vectors*/,
                                                    std::uint64_t /*instruction*/,
                                                    std::uint64_t /*stack*/,
                                                    std::uint64_t /*pause*/) const {
  return {};
}

bool ThreadState::is_waiting_at(std::uint64_t /*instruction*/, std::uint64_t /*stack*/) const {
  return false;
}

std::vector<std::byte> ThreadState::context(std::uint64_t /*vectors*/) const {
  return {};
}

std::vector<std::byte> ThreadState::vectors() const {
  return {};
}

#endif

}  // namespace tracso::tracee
