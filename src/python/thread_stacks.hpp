#pragma once
// The Python stacks of all threads of a process that runs on while it is read.

#include "tracso/dump.hpp"
#include "tracso/python_probe.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tracso::python {

/// A thread of the process as the kernel numbers it: for us and (last of NSpid) for itself.
struct KernelThread {
  pid_t seen = 0, own = 0;
};

/// The Python side of a thread.
struct ThreadStack {
  pid_t id = 0;  ///< KernelThread::seen; 0: it has ended, or is not known
  PythonStack stack;
  bool operator==(const ThreadStack&) const = default;
};

/// Where a lock lies: who waits for it waits for a word in [start, end).
struct LockPlace {
  std::uint64_t start = 0, end = 0;
  pid_t holder = 0;  ///< KernelThread::seen; 0: nobody, or not known
};

/// A thread and the address of the word that it waits for.
struct WordWait {
  pid_t thread = 0;  ///< KernelThread::seen
  std::uint64_t address = 0;
};

/// A lock of Python that a thread waits for.
struct PythonLock {
  std::uint64_t word = 0;  ///< who waits for it waits for this word
  bool reentrant = false;  ///< threading.RLock, which knows its owner; else threading.Lock
  pid_t owner = 0;         ///< KernelThread::seen; 0: not recorded, or not a thread of now
};

/// What a program calls one of its threads: threading.Thread.name.
struct ThreadName {
  pid_t id = 0;  ///< KernelThread::seen
  std::string name;
};

struct ThreadStacks {
  std::string version;  ///< "3.11.2"; empty: no Python runs here
  std::vector<ThreadStack> threads;
  std::vector<ThreadName> names;  ///< of threads that threading knows
  bool cut = false;  ///< a limit of time or bytes was reached: frames or threads are missing
  std::optional<AsyncTasks> asyncio;  ///< nullopt: not loaded
  bool asyncio_unknown = false;       ///< loaded, of a version whose tasks are not read
  bool greenlets = false;             ///< the module greenlet is loaded
  std::vector<LockPlace> gils;  ///< one per lock (each interpreter may have its own since 3.12)
};

/// Finds the Python of a process once and reads its stacks again and again.
class ThreadStackReader {
 public:
  /// `input` (with its doors) must outlive the reader.
  explicit ThreadStackReader(const ProbeInput& input);
  ~ThreadStackReader();
  ThreadStackReader(ThreadStackReader&&) noexcept;
  ThreadStackReader& operator=(ThreadStackReader&&) noexcept;

  /// Version empty, no threads: no Python, or none that has begun to work. Errors: unsupported
  /// (PyPy, older than 3.8, memory not laid out as in any known version), denied.
  Result<ThreadStacks> read(const std::vector<KernelThread>& threads);

  /// Which of these words belong to a lock of Python (3.8 to 3.13). After read().
  std::vector<PythonLock> locks(const std::vector<WordWait>& waits);

  /// Reads the frames of a thread that somebody holds now; it must have been among those of the
  /// last read(). At most for that long: what is missing then makes the stack not whole.
  void take_held(pid_t thread, std::chrono::milliseconds limit);
  /// The stacks that were taken since the last read(): never torn. GILs are left out.
  std::vector<ThreadStack> held_stacks();

 private:
  class Reading;
  std::unique_ptr<Reading> reading_;
};

}  // namespace tracso::python
