#include "tracee/registers.hpp"

#include "tracee/as_pointer.hpp"
#include "tracee/requests.hpp"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace tracso::tracee {

std::optional<Registers> Registers::of(pid_t thread) {
  Registers registers;
  iovec room{registers.bytes_.data(), registers.bytes_.size()};
  if (ptrace(PTRACE_GETREGSET, thread, as_pointer(NT_PRSTATUS), &room) != 0) {
    return std::nullopt;
  }
  const auto layout = register_layout(room.iov_len);
  if (!layout) {
    return std::nullopt;
  }
  registers.size_ = room.iov_len;
  registers.layout_ = *layout;
  return registers;
}

bool Registers::give_to(pid_t thread) const {
  auto bytes = bytes_;
  iovec content{bytes.data(), size_};
  return ptrace(PTRACE_SETREGSET, thread, as_pointer(NT_PRSTATUS), &content) == 0;
}

std::uint64_t Registers::get(std::size_t offset) const {
  std::uint64_t value = 0;
  if (is_32_bit()) {
    std::uint32_t half = 0;
    std::memcpy(&half, bytes_.data() + offset, sizeof half);
    value = half;
  } else {
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
  }
  return value;
}

void Registers::set(std::size_t offset, std::uint64_t value) {
  std::memcpy(bytes_.data() + offset, &value, layout_.word);  // little endian: the low half first
}

// ERESTARTNOHAND is what the kernel's own calls say for this (linux/errno.h, never seen by
// programs): it goes back to the call's instruction, or makes EINTR of it for a handler.
bool Registers::repeat_call() {
  constexpr std::int64_t restart_unless_handled = 514;
  if (!layout_.result || is_32_bit() || static_cast<std::int64_t>(get(*layout_.result)) != -EINTR ||
      !fails_after_a_stop(get(layout_.call))) {
    return false;
  }
  set(*layout_.result, static_cast<std::uint64_t>(-restart_unless_handled));
  return true;
}

bool Registers::return_to_caller(pid_t thread) {
  if (layout_.link) {
    set_pc(get(*layout_.link));
    return true;
  }
  const auto word = peek(thread, stack());
  if (!word) {
    return false;
  }
  set_pc(is_32_bit() ? (*word & 0xffffffffU) : *word);
  set(layout_.stack, stack() + layout_.word);
  return true;
}

std::optional<std::uint64_t> Registers::argument(pid_t thread, std::size_t number) const {
  if (layout_.arguments) {
    return number < layout_.arguments->size() ? get((*layout_.arguments)[number]) : 0;
  }
  const auto word = peek(thread, stack() + (number + 1) * layout_.word);
  return word && is_32_bit() ? std::optional(*word & 0xffffffffU) : word;
}

bool Registers::perform(pid_t thread, const EntryInstruction& instruction) {
  const std::uint64_t behind = pc() + instruction.bytes;
  const std::uint64_t top = stack() - instruction.lowers_stack;
  std::uint64_t next = behind + instruction.calls.value_or(0);
  if (instruction.through) {
    const auto word = peek(thread, behind + static_cast<std::uint64_t>(*instruction.through));
    if (!word) {
      return false;
    }
    next = *word;
  }
  if (instruction.pushes || instruction.calls) {
    std::uint64_t value = instruction.pushes ? get(*instruction.pushes) : behind;
    if (is_32_bit()) {  // the other half of what is written belongs to the caller
      const auto old = peek(thread, top);
      value = (old.value_or(0) & 0xffffffff00000000U) | (value & 0xffffffffU);
    }
    if (!poke(thread, top, value)) {
      return false;
    }
  }
  set(layout_.stack, top);
  set_pc(next);
  return true;
}

}  // namespace tracso::tracee
