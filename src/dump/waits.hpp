#pragma once
// What a thread that is blocked in a system call waits for.

#include "tracso/dump.hpp"
#include "tracso/target.hpp"

#include "dump/sockets.hpp"
#include "proc/thread_call.hpp"
#include "python/thread_stacks.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tracso::dump {

class WaitReader {
 public:
  /// `threads`: all of the process; `gils`, `locks`: of its Pythons; `borrow`: see SocketNames.
  /// Everything must outlive the reader.
  WaitReader(const ProcessSource& process,
             std::span<const python::KernelThread> threads,
             std::span<const python::LockPlace> gils,
             std::span<const python::PythonLock> locks,
             const proc::Borrow& borrow)
      : process_(process),
        threads_(threads),
        gils_(gils),
        locks_(locks),
        sockets_(process, borrow) {}

  /// Kind nothing: the thread runs, or its call waits for nothing that can be named.
  WaitTarget of(const proc::ThreadCall& call);

 private:
  WaitTarget futex(const proc::ThreadCall& call);
  WaitTarget descriptor(std::uint64_t number);
  WaitTarget several(const proc::ThreadCall& call, const std::string& name);
  std::string target_of(std::uint64_t number);
  std::vector<std::uint64_t> polled(std::uint64_t address, std::uint64_t count) const;
  std::vector<std::uint64_t> selected(const proc::ThreadCall& call) const;
  std::optional<std::int32_t> owner_of_mutex(std::uint64_t address, bool priority_inherits) const;
  std::int32_t seen(std::uint32_t own) const;

  const ProcessSource& process_;
  std::span<const python::KernelThread> threads_;
  std::span<const python::LockPlace> gils_;
  std::span<const python::PythonLock> locks_;
  SocketNames sockets_;
  std::unordered_map<std::uint64_t, std::string> targets_;
};

/// Threads that wait for each other in a circle, each circle once: every one waits for what the
/// next owns.
std::vector<std::vector<std::int32_t>> find_deadlocks(const std::vector<ThreadDump>& threads);

}  // namespace tracso::dump
