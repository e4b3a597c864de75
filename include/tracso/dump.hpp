#pragma once
// What the threads of a process are doing at one moment: the answer of `tracso dump`.

#include "tracso/trace.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracso {

/// A Python function on a thread's stack.
struct StackFrame {
  std::string file, function;  ///< co_filename, co_qualname (before 3.11 co_name); empty: not read
  std::uint32_t line = 0;      ///< 1-based; 0: not known
  /// C code called it: a call of the interpreter's loop began with it. false: the function of the
  /// next frame called it inside of the same loop.
  bool from_c = false;
  bool operator==(const StackFrame&) const = default;
};

/// The Python stack of a thread.
struct PythonStack {
  std::vector<StackFrame> frames;  ///< innermost first
  bool torn = false;  ///< no two readings agreed: it ran meanwhile, parts are of different moments
  bool whole = true;  ///< false: there are more frames, which could not be read
  bool has_gil = false;  ///< the thread held the global interpreter lock
  bool operator==(const PythonStack&) const = default;
};

/// A function of machine code on a thread's stack.
struct NativeFrame {
  std::uint64_t address = 0;  ///< where it goes on
  std::string library;        ///< base name; empty: not of a file
  std::uint64_t offset = 0;   ///< of the address in that library
  std::string symbol;         ///< as the file has it (C++ mangled); empty: not known
  std::uint64_t into = 0;     ///< bytes from the symbol's start
  bool guessed = false;       ///< found by frame pointers, where unwind tables were missing
  /// It is the interpreter's loop and runs so many frames of the thread's Python stack: the ones
  /// after those of the frames before it. 0: none, or not known.
  std::size_t python_frames = 0;
  bool operator==(const NativeFrame&) const = default;
};

/// The whole stack of a thread, taken while the thread was held.
struct NativeStack {
  std::vector<NativeFrame> frames;   ///< innermost first
  bool whole = true;                 ///< false: there are more, which could not be unwound
  bool merged = false;               ///< every frame of the Python stack belongs to one of these
  std::chrono::nanoseconds held{0};  ///< how long the thread stood still
  bool operator==(const NativeStack&) const = default;
};

/// What a blocked thread waits for.
struct WaitTarget {
  enum class Kind : std::uint8_t {
    nothing,
    mutex,
    gil,
    rlock,  ///< threading.RLock
    lock,   ///< threading.Lock, which does not know its owner
    futex,
    descriptor,
    descriptors,
    time,
    other
  };
  Kind kind = Kind::nothing;
  std::string text;           ///< "mutex 0x55d0", "fd 5 -> pipe:[81]"; foreign bytes
  std::uint64_t address = 0;  ///< of a futex
  std::int32_t descriptor = -1;
  std::string target;      ///< of a descriptor: "/etc/passwd", "tcp 10.0.0.2:41446 -> ..."
  std::int32_t owner = 0;  ///< thread that holds it; 0: not recorded or nobody
  bool operator==(const WaitTarget&) const = default;
};

struct ThreadDump {
  std::int32_t id = 0;
  std::string name;         ///< comm, at most 15 bytes
  std::string python_name;  ///< threading.Thread.name; empty: Python knows none, or it was not read
  char state = '?';         ///< R S D Z T t X I of proc_pid_stat(5)
  std::string call;         ///< system call it is in: "futex", "call 999"; empty: none, it runs
  WaitTarget waits_for;
  std::string library, symbol;  ///< where its program counter is; empty: not known
  std::optional<PythonStack> python;
  std::optional<NativeStack> native;  ///< nullopt: not asked for, or it could not be held
  bool operator==(const ThreadDump&) const = default;
};

/// A task of asyncio that is not done.
struct AsyncTask {
  enum class State : std::uint8_t {
    created,  ///< its coroutine has not begun
    waits,
    ready,  ///< nothing is left to wait for: its loop will run it
    runs
  };
  std::string name;         ///< "Task-1"; empty: not read
  std::int32_t thread = 0;  ///< that runs its loop; 0: its loop does not run, or is not asyncio's
  State state = State::waits;
  std::string awaits;              ///< type of what it waits for: "_asyncio.Future"; empty: nothing
  std::string awaits_task;         ///< name of the task it waits for; empty: none
  std::vector<StackFrame> frames;  ///< coroutines that await each other, the innermost first
  bool whole = true;               ///< false: there are more, which could not be read
  bool torn = false;               ///< no two readings agreed: it ran meanwhile
  bool operator==(const AsyncTask&) const = default;
};

/// Those of all loops of a process.
struct AsyncTasks {
  std::vector<AsyncTask> tasks;
  std::size_t others = 0;  ///< tasks of another making, which are not read
  bool whole = true;       ///< false: there are more, which could not be read
};

/// That threads were held, one after the other.
struct Holds {
  std::size_t threads = 0;
  std::chrono::nanoseconds longest{0};  ///< of one thread
  bool operator==(const Holds&) const = default;
};

/// All threads of a process, looked at one after the other while they run on.
struct Dump {
  std::int32_t pid = 0;
  std::string command;                ///< base name of its executable
  std::string python_version;         ///< "3.11.2"; empty: no Python was read
  std::optional<AsyncTasks> asyncio;  ///< nullopt: asyncio is not loaded, or no Python was read
  std::vector<ThreadDump> threads;    ///< as the kernel lists them, the main thread first
  /// Each names threads where every one waits for what the next holds and the last for the first.
  std::vector<std::vector<std::int32_t>> deadlocks;
  std::chrono::nanoseconds took{0};  ///< the whole look
  std::optional<Holds> holds;        ///< nullopt: nothing was stopped
  std::vector<Notice> notices;
};

}  // namespace tracso
