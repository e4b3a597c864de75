// x86-64, also for the 32-bit programs it runs.
#if defined(__x86_64__)

#include "tracee/architecture.hpp"

#include <sys/syscall.h>
#include <sys/user.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace tracso::tracee {
namespace {

// i386: ebx ecx edx esi edi ebp eax ds es fs gs orig_eax eip cs eflags esp ss
constexpr std::size_t words_of_i386 = 17;

using Regs = user_regs_struct;
// By the number that instructions have for them.
constexpr std::array<std::size_t, 16> wide_registers = {offsetof(Regs, rax),
                                                        offsetof(Regs, rcx),
                                                        offsetof(Regs, rdx),
                                                        offsetof(Regs, rbx),
                                                        offsetof(Regs, rsp),
                                                        offsetof(Regs, rbp),
                                                        offsetof(Regs, rsi),
                                                        offsetof(Regs, rdi),
                                                        offsetof(Regs, r8),
                                                        offsetof(Regs, r9),
                                                        offsetof(Regs, r10),
                                                        offsetof(Regs, r11),
                                                        offsetof(Regs, r12),
                                                        offsetof(Regs, r13),
                                                        offsetof(Regs, r14),
                                                        offsetof(Regs, r15)};
constexpr std::array<std::size_t, 8> narrow_registers = {
    6 * 4, 1 * 4, 2 * 4, 0 * 4, 15 * 4, 5 * 4, 3 * 4, 4 * 4};

bool starts_with(std::span<const std::uint8_t> code, std::span<const std::uint8_t> bytes) {
  return code.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), code.begin());
}

std::int32_t number_at(std::span<const std::uint8_t> code, std::size_t at) {
  std::int32_t number = 0;
  std::memcpy(&number, code.data() + at, sizeof number);
  return number;
}

// push REGISTER
std::optional<EntryInstruction> push(std::span<const std::uint8_t> code, std::size_t word) {
  const bool prefix = word == 8 && code[0] == 0x41;  // r8 to r15
  const std::size_t at = prefix ? 1 : 0;
  if (code.size() <= at || code[at] < 0x50 || code[at] > 0x57) {
    return std::nullopt;
  }
  const std::size_t number = code[at] - 0x50U + (prefix ? 8 : 0);
  return EntryInstruction{at + 1,
                          word,
                          word == 8 ? wide_registers.at(number) : narrow_registers.at(number),
                          std::nullopt};
}

// sub $NUMBER, %rsp. It sets flags too, which no function looks at that has not set them itself.
std::optional<EntryInstruction> lower(std::span<const std::uint8_t> code, std::size_t word) {
  std::size_t at = 0;
  if (word == 8) {
    if (code[0] != 0x48) {
      return std::nullopt;
    }
    at = 1;
  }
  const bool is_short = code.size() >= at + 3 && code[at] == 0x83 && code[at + 1] == 0xec;
  const bool is_long = code.size() >= at + 6 && code[at] == 0x81 && code[at + 1] == 0xec;
  const std::int32_t number = is_long    ? number_at(code, at + 2)
                              : is_short ? static_cast<std::int8_t>(code[at + 2])
                                         : 0;
  if (number <= 0) {
    return std::nullopt;
  }
  return EntryInstruction{
      at + (is_long ? 6U : 3U), static_cast<std::uint64_t>(number), std::nullopt, std::nullopt};
}

// jmp *DISTANCE(%rip), call *DISTANCE(%rip): a PLT entry, or a call of code without a PLT.
std::optional<EntryInstruction> through_word(std::span<const std::uint8_t> code, std::size_t word) {
  const std::size_t at = code[0] == 0xf2 ? 1 : 0;  // the prefix of PLTs that once meant MPX
  constexpr std::size_t bytes = 6;
  if (word != 8 || code.size() < at + bytes || code[at] != 0xff ||
      (code[at + 1] != 0x25 && code[at + 1] != 0x15)) {
    return std::nullopt;
  }
  EntryInstruction instruction;
  instruction.bytes = at + bytes;
  instruction.through = number_at(code, at + 2);
  if (code[at + 1] == 0x15) {
    instruction.lowers_stack = word;
    instruction.calls = 0;
  }
  return instruction;
}

}  // namespace

std::optional<RegisterLayout> register_layout(std::size_t bytes) {
  if (bytes == sizeof(user_regs_struct)) {
    return RegisterLayout{8,
                          offsetof(user_regs_struct, rip),
                          offsetof(user_regs_struct, rsp),
                          offsetof(user_regs_struct, orig_rax),
                          std::nullopt,
                          60,
                          std::array<std::size_t, 6>{offsetof(user_regs_struct, rdi),
                                                     offsetof(user_regs_struct, rsi),
                                                     offsetof(user_regs_struct, rdx),
                                                     offsetof(user_regs_struct, rcx),
                                                     offsetof(user_regs_struct, r8),
                                                     offsetof(user_regs_struct, r9)},
                          offsetof(user_regs_struct, fs_base),
                          offsetof(user_regs_struct, rax)};
  }
  if (bytes == words_of_i386 * 4) {
    return RegisterLayout{4, 12 * 4, 15 * 4, 11 * 4, std::nullopt, 1, std::nullopt, std::nullopt};
  }
  return std::nullopt;
}

std::optional<EntryInstruction> entry_instruction(std::span<const std::uint8_t> code,
                                                  std::size_t word) {
  constexpr std::array<std::uint8_t, 4> endbr64 = {0xf3, 0x0f, 0x1e, 0xfa};
  constexpr std::array<std::uint8_t, 4> endbr32 = {0xf3, 0x0f, 0x1e, 0xfb};
  if (code.empty()) {
    return std::nullopt;
  }
  if (starts_with(code, word == 8 ? endbr64 : endbr32)) {
    return EntryInstruction{4, 0, std::nullopt, std::nullopt};  // does nothing
  }
  if (code[0] == 0xe8 && code.size() >= 5) {  // 32-bit code asks so where it is
    return EntryInstruction{
        5, word, std::nullopt, static_cast<std::uint64_t>(std::int64_t{number_at(code, 1)})};
  }
  if (const auto pushed = push(code, word)) {
    return pushed;
  }
  const auto lowered = lower(code, word);
  return lowered ? lowered : through_word(code, word);
}

// System V ABI, "The va_list Type": gp_offset and fp_offset, then overflow_arg_area and
// reg_save_area. Six registers of 8 bytes were saved.
std::vector<std::uint64_t> places_of_arguments(const VariableArguments& list, std::size_t count) {
  constexpr std::uint64_t saved_bytes = 48;
  std::uint32_t offset = 0;
  std::uint64_t overflow = 0, saved = 0;
  std::memcpy(&offset, list.data(), sizeof offset);
  std::memcpy(&overflow, list.data() + 8, sizeof overflow);
  std::memcpy(&saved, list.data() + 16, sizeof saved);
  std::vector<std::uint64_t> places;
  while (places.size() < count) {
    if (offset < saved_bytes) {
      places.push_back(saved + offset);
      offset += 8;
    } else {
      places.push_back(overflow);
      overflow += 8;
    }
  }
  return places;
}

// mov %fs:0, %rax; add $NUMBER, %rax; ret
std::optional<std::uint64_t> returned_thread_offset(std::span<const std::uint8_t> code) {
  constexpr std::array<std::uint8_t, 12> begin = {
      0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x83, 0xc0};
  constexpr std::uint8_t returns = 0xc3;
  constexpr std::size_t number = begin.size();
  if (!starts_with(code, begin) || code.size() < number + 2 || code[number + 1] != returns ||
      code[number] > 0x7f) {
    return std::nullopt;
  }
  return code[number];
}

bool fails_after_a_stop(std::uint64_t call) {
  // recv and accept with SO_RCVTIMEO, read of an inotify descriptor.
  constexpr std::array<std::uint64_t, 18> calls = {SYS_epoll_wait,
                                                   SYS_epoll_pwait,
                                                   SYS_epoll_pwait2,
                                                   SYS_rt_sigtimedwait,
                                                   SYS_semop,
                                                   SYS_semtimedop,
                                                   SYS_io_getevents,
                                                   SYS_io_pgetevents,
                                                   SYS_io_uring_enter,
                                                   SYS_accept,
                                                   SYS_accept4,
                                                   SYS_recvfrom,
                                                   SYS_recvmsg,
                                                   SYS_recvmmsg,
                                                   SYS_sendto,
                                                   SYS_sendmsg,
                                                   SYS_read,
                                                   SYS_readv};
  return std::find(calls.begin(), calls.end(), call) != calls.end();
}

std::span<const std::uint8_t> breakpoint_code() {
  static constexpr std::array<std::uint8_t, 1> int3 = {0xcc};
  return int3;
}

std::optional<std::uint8_t> return_byte() {
  return 0xc3;
}

std::uint64_t breakpoint_advance() {
  return 1;
}

}  // namespace tracso::tracee

#endif
