#include "launch/entry_hooks.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace tracso::launch {
namespace {

// The longest instruction that is understood.
constexpr std::size_t hook_bytes = 8;

}  // namespace

bool EntryHooks::add(tracee::Breakpoints& breakpoints,
                     const ProcessSource& process,
                     pid_t stopped,
                     const elf::MemoryImage& image,
                     std::string_view name) {
  const auto symbol = image.symbol(process, name);
  std::array<std::byte, hook_bytes> bytes{};
  if (!symbol || !name_at(symbol->address).empty() ||
      !process.read_memory(symbol->address, bytes)) {
    return false;
  }
  std::array<std::uint8_t, hook_bytes> code{};
  std::transform(bytes.begin(), bytes.end(), code.begin(), [](std::byte byte) {
    return std::to_integer<std::uint8_t>(byte);
  });
  const std::size_t word = image.elf_class() == ElfClass::elf32 ? 4 : 8;
  const auto instruction = tracee::entry_instruction(code, word);
  if (!instruction || !breakpoints.insert(stopped, symbol->address)) {
    return false;
  }
  hooks_.push_back({symbol->address, name, *instruction});
  return true;
}

std::string_view EntryHooks::name_at(std::uint64_t address) const {
  const auto hook = std::find_if(
      hooks_.begin(), hooks_.end(), [&](const Hook& h) { return h.address == address; });
  return hook == hooks_.end() ? std::string_view() : hook->name;
}

void EntryHooks::pass(tracee::Breakpoints& breakpoints,
                      pid_t thread,
                      tracee::Registers& registers,
                      std::uint64_t address) {
  const auto hook = std::find_if(
      hooks_.begin(), hooks_.end(), [&](const Hook& h) { return h.address == address; });
  if (hook != hooks_.end() && registers.perform(thread, hook->instruction)) {
    registers.give_to(thread);
  } else {
    breakpoints.remove(thread, address);  // or the thread would never get on
  }
}

void EntryHooks::remove(tracee::Breakpoints& breakpoints, pid_t stopped, std::string_view name) {
  for (const Hook& hook : hooks_) {
    if (hook.name == name) {
      breakpoints.remove(stopped, hook.address);
    }
  }
}

void EntryHooks::restore(tracee::Breakpoints& breakpoints, pid_t stopped, std::string_view name) {
  for (const Hook& hook : hooks_) {
    if (hook.name == name) {
      static_cast<void>(breakpoints.insert(stopped, hook.address));
    }
  }
}

}  // namespace tracso::launch
