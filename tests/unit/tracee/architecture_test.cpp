// What a processor's file claims, tried on the processor that this runs on (or that is emulated).

#if defined(__x86_64__) || defined(__aarch64__)

#include "tracee/architecture.hpp"

#include "support/catch.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <ucontext.h>

#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstring>

using namespace tracso::tracee;

namespace {

using Function = void (*)();
using Regs = user_regs_struct;

std::uint64_t counter_of(const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
#else
  return context.uc_mcontext.pc;
#endif
}

sigjmp_buf behind_trap;
std::uint64_t trapped_at = 0;

void on_trap(int /*signal*/, siginfo_t* /*details*/, void* context) {
  trapped_at = counter_of(*static_cast<ucontext_t*>(context));
  siglongjmp(behind_trap, 1);
}

// A page of code.
class Code {
 public:
  explicit Code(std::span<const std::uint8_t> code)
      : bytes_(mmap(nullptr,
                    page_bytes,
                    PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS,
                    -1,
                    0)) {
    REQUIRE(bytes_ != MAP_FAILED);
    std::memcpy(bytes_, code.data(), code.size());
    auto* const start = static_cast<char*>(bytes_);
    __builtin___clear_cache(start, start + code.size());
  }

  ~Code() { munmap(bytes_, page_bytes); }

  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  std::uint64_t start() const { return reinterpret_cast<std::uint64_t>(bytes_); }

  void call() const {
    Function function = nullptr;
    std::memcpy(&function, &bytes_, sizeof function);
    function();
  }

 private:
  static constexpr std::size_t page_bytes = 4096;
  void* bytes_;
};

}  // namespace

TEST_CASE("architecture: registers lie where the system's header has them", "[tracee]") {
  const auto layout = register_layout(sizeof(Regs));
  REQUIRE(layout);
  CHECK(layout->word == 8);
  CHECK(layout->exit_call == SYS_exit);
#if defined(__x86_64__)
  CHECK(layout->pc == offsetof(Regs, rip));
  CHECK(layout->stack == offsetof(Regs, rsp));
  CHECK(layout->call == offsetof(Regs, orig_rax));
  CHECK_FALSE(layout->link);
#else
  CHECK(layout->pc == offsetof(Regs, pc));
  CHECK(layout->stack == offsetof(Regs, sp));
  CHECK(layout->call == offsetof(Regs, regs[8]));
  CHECK(layout->link == offsetof(Regs, regs[30]));
  CHECK(layout->arguments == std::array<std::size_t, 6>{0, 8, 16, 24, 32, 40});
#endif
  CHECK_FALSE(register_layout(sizeof(Regs) - 8));
}

TEST_CASE("architecture: the code of a breakpoint traps, so far behind its address", "[tracee]") {
  const Code code(breakpoint_code());

  struct sigaction ours {};

  struct sigaction former {};

  ours.sa_sigaction = on_trap;
  ours.sa_flags = SA_SIGINFO;
  REQUIRE(sigaction(SIGTRAP, &ours, &former) == 0);
  trapped_at = 0;
  if (sigsetjmp(behind_trap, 1) == 0) {
    code.call();
  }
  sigaction(SIGTRAP, &former, nullptr);
  CHECK(trapped_at == code.start() + breakpoint_advance());
}

TEST_CASE("architecture: the byte that returns does", "[tracee]") {
  const auto byte = return_byte();
  CHECK(byte.has_value() == (breakpoint_code().size() == 1));
  if (byte) {
    Code({&*byte, 1}).call();
  }
}

#endif
