#pragma once
// ptrace(2) and its relatives, one function per request: no casts and no errno anywhere else.

#include "tracee/stop.hpp"

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>

namespace tracso::tracee {

/// Whether seized threads report fork, clone, exec and exit, or only what is asked of them.
enum class Follow : std::uint8_t { nothing, everything };

/// Begins to trace a thread without stopping it. 0 or the errno.
int seize(pid_t thread, Follow follow);
/// Asks a running traced thread to stop; the stop is reported later. 0 or the errno.
int interrupt(pid_t thread);
/// Lets a stopped thread run on, with a signal or 0. Errors mean that it has died: no answer.
void resume(pid_t thread, int signal);
/// The same, but it stops again at the entry or the return of its next system call.
void resume_to_system_call(pid_t thread, int signal);
/// The same, but it stops again after one instruction. false: it has died.
bool step(pid_t thread);
/// Leaves a thread in its group stop until SIGCONT, and reports that then.
void listen(pid_t thread);
/// Lets a stopped thread run on untraced. false: it is not stopped, or gone.
bool detach(pid_t thread, int signal);

/// What comes with an event: the new thread's number, the former number (exec), the wait status
/// (exit). nullopt: the thread has died.
std::optional<unsigned long> event_message(pid_t thread);
/// What a signal stop is about; nullopt: the thread has died.
std::optional<siginfo_t> signal_details(pid_t thread);
/// True where a SIGTRAP stop comes from a breakpoint instruction, not from kill(2).
bool is_breakpoint(const siginfo_t& details);

/// One word of the thread's memory, also where it is not writable for the thread itself.
std::optional<std::uint64_t> peek(pid_t thread, std::uint64_t address);
bool poke(pid_t thread, std::uint64_t address, std::uint64_t word);

/// A report that is already there, of one thread or (0) any that this thread traces or has borne.
std::optional<Report> poll_report(pid_t thread);
/// Waits for the thread's next report; nullopt: none within the limit, or no such thread.
std::optional<Report> await_report(pid_t thread, std::chrono::milliseconds limit);

/// The process a thread belongs to; nullopt: gone.
std::optional<pid_t> process_of(pid_t thread);
/// The process that has started it, or looks after it since that one has gone.
std::optional<pid_t> parent_of(pid_t thread);
/// Do two processes share their memory (CLONE_VM)? nullopt: the kernel does not tell.
std::optional<bool> share_memory(pid_t one, pid_t other);

}  // namespace tracso::tracee
