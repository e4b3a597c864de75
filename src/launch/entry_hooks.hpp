#pragma once
// Breakpoints at the entries of functions that go on afterwards.
//
// A thread that stands at one has not run the function's first instruction, which the breakpoint
// covers. What it would have done is done in its place, so the breakpoint stays in and no other
// thread can run past it meanwhile. Functions that begin with anything else are not hooked.

#include "tracso/target.hpp"

#include "elf/memory_image.hpp"
#include "tracee/registers.hpp"
#include "tracee/traced_process.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tracso::launch {

class EntryHooks {
 public:
  /// Hooks an exported function. false: there is none of that name, or it cannot be hooked.
  bool add(tracee::Breakpoints& breakpoints,
           const ProcessSource& process,
           pid_t stopped,
           const elf::MemoryImage& image,
           std::string_view name);

  /// The name that was hooked there; empty: nothing was.
  std::string_view name_at(std::uint64_t address) const;

  /// For a thread that stands at one: sets it behind the first instruction.
  void pass(tracee::Breakpoints& breakpoints,
            pid_t thread,
            tracee::Registers& registers,
            std::uint64_t address);

  void remove(tracee::Breakpoints& breakpoints, pid_t stopped, std::string_view name);
  /// Hooks again what was removed.
  void restore(tracee::Breakpoints& breakpoints, pid_t stopped, std::string_view name);

 private:
  struct Hook {
    std::uint64_t address = 0;
    std::string_view name;
    tracee::EntryInstruction instruction;
  };

  std::vector<Hook> hooks_;
};

}  // namespace tracso::launch
