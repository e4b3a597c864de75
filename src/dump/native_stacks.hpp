#pragma once
// The native stacks of all threads: each thread is held for as long as it takes to copy its
// registers, its stack and its Python frames; what these mean is worked out when it runs again.

#include "tracso/dump.hpp"
#include "tracso/target.hpp"

#include "dump/code_places.hpp"
#include "dump/threads.hpp"
#include "dump/unwinder.hpp"
#include "python/thread_stacks.hpp"
#include "tracee/thread_hold.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace tracso::dump {

class NativeStacks {
 public:
  /// Everything must outlive it.
  NativeStacks(const Target& target, CodePlaces& places)
      : process_(*target.process), places_(places), unwinder_(*target.process) {}

  /// `dump` has a thread for each view, in the same order. No thread is held after `deadline`.
  void take(const std::vector<KernelView>& views,
            const std::vector<Mapping>& mappings,
            python::ThreadStackReader& python,
            std::chrono::steady_clock::time_point deadline,
            Dump& dump);

 private:
  struct Taken {
    ThreadCopy copy;
    std::optional<tracee::HoldResult> result;  // nullopt: no time was left, or it has ended
  };

  void hold_all(const std::vector<KernelView>& views,
                python::ThreadStackReader& python,
                std::chrono::steady_clock::time_point deadline,
                std::vector<Taken>& taken) const;
  void copy_stack(const tracee::Registers& registers, ThreadCopy& copy) const;
  NativeStack described(const UnwoundStack& stack, const std::vector<Mapping>& mappings);
  void add_notices(const std::vector<KernelView>& views,
                   const std::vector<Taken>& taken,
                   Dump& dump) const;

  const ProcessSource& process_;
  CodePlaces& places_;
  Unwinder unwinder_;
};

}  // namespace tracso::dump
