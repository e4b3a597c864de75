#pragma once
// The stacks of one runtime of Python: of its threads while they run, and of one that is held.

#include "python/asyncio_offsets.hpp"
#include "python/asyncio_tasks.hpp"
#include "python/interpreter.hpp"
#include "python/memory_frames.hpp"
#include "python/memory_objects.hpp"
#include "python/thread_stacks.hpp"

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace tracso::python {

/// At most, of each stack and of tasks, until two in a row agree.
constexpr int readings = 4;

/// One runtime (a process may have several, rarely).
class RuntimeReader {
 public:
  RuntimeReader(MemoryReader& memory, const Runtime& runtime, const Layout& layout)
      : memory_(memory),
        objects_(memory, layout),
        runtime_(runtime.address),
        header_(runtime.header) {}

  /// Adds all of its threads and locks.
  void read(const std::vector<KernelThread>& threads, ThreadStacks& into);
  /// Adds the locks whose words are waited for; after read().
  void find_locks(const std::vector<WordWait>& waits, std::vector<PythonLock>& into);
  /// Adds the names that threading knows; after read().
  void read_names(ThreadStacks& into);
  /// Adds the tasks of asyncio; after read().
  void read_asyncio(const ProbeInput& input, ThreadStacks& into);
  /// Keeps the frames of a thread of the last read() that is held now.
  void take_held(pid_t thread);
  /// Adds what was kept.
  void describe_held(std::vector<ThreadStack>& into);

 private:
  struct Taken {
    Stack stack;
    bool torn = true;
  };

  struct Held {
    std::size_t state = 0;  // index
    Taken taken;
  };

  std::vector<Taken> take_stacks(const std::vector<ThreadState>& states);
  std::vector<pid_t> ids_of(const std::vector<ThreadState>& states,
                            const std::vector<KernelThread>& threads);
  void fetch_codes(const std::vector<Taken>& taken);
  AsyncTask described(const TaskReading& task, const TasksReading& all);
  std::string name_of_task(std::uint64_t address, const TasksReading& all) const;
  TaskLists task_lists(std::uint64_t interpreter) const;
  pid_t thread_of(std::uint64_t pthread) const;
  PythonStack described(const Taken& taken);
  StackFrame described(const Frame& frame);
  bool is_code(std::uint64_t object);
  std::uint64_t name_of(std::uint64_t code);

  MemoryReader& memory_;
  Objects objects_;
  std::uint64_t runtime_;
  std::uint64_t header_;  // of the object that holds it
  std::uint64_t code_type_ = 0;
  std::optional<AsyncioOffsets> asyncio_;  // since 3.14, once the module is there
  // Of the last read().
  std::vector<ThreadState> states_;
  std::vector<pid_t> ids_;  // their kernel threads
  std::unordered_set<std::uint64_t> holders_;
  std::vector<Held> held_;
};

}  // namespace tracso::python
