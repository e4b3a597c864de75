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

/// What a blocked thread waits for.
struct WaitTarget {
  enum class Kind : std::uint8_t {
    nothing,
    mutex,
    gil,
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
  std::string name;  ///< comm, at most 15 bytes
  char state = '?';  ///< R S D Z T t X I of proc_pid_stat(5)
  std::string call;  ///< system call it is in: "futex", "call 999"; empty: none, it runs
  WaitTarget waits_for;
  std::string library, symbol;  ///< where its program counter is; empty: not known
  std::optional<PythonStack> python;
  bool operator==(const ThreadDump&) const = default;
};

/// All threads of a process, looked at one after the other while they run on.
struct Dump {
  std::int32_t pid = 0;
  std::string command;              ///< base name of its executable
  std::string python_version;       ///< "3.11.2"; empty: no Python was read
  std::vector<ThreadDump> threads;  ///< as the kernel lists them, the main thread first
  /// Each names threads where every one waits for what the next holds and the last for the first.
  std::vector<std::vector<std::int32_t>> deadlocks;
  std::chrono::nanoseconds took{0};  ///< the whole look
  std::vector<Notice> notices;
};

}  // namespace tracso
