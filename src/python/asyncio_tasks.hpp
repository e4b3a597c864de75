#pragma once
// The tasks of asyncio: 3.8 to 3.14, of the C module _asyncio.

#include "python/coroutines.hpp"
#include "python/memory_objects.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tracso::python {

/// One that is not done, as it was at one reading.
struct TaskReading {
  std::uint64_t address = 0;
  std::string name;          ///< empty: not read
  std::uint64_t thread = 0;  ///< pthread_self() of who runs its loop; 0: nobody, or not known
  CoroutineState state = CoroutineState::unreadable;
  std::uint64_t waits_for = 0;  ///< a future or task; 0: nothing
  std::string waits_for_type;   ///< its tp_name
  std::vector<Frame> frames;    ///< innermost first
  bool whole = true;
  bool operator==(const TaskReading&) const = default;
};

struct TasksReading {
  std::vector<TaskReading> tasks;  ///< by address
  std::size_t others = 0;          ///< tasks of Python code or another module
  bool whole = true;               ///< false: a set could not be read, or more than 20,000 tasks
};

/// The linked lists of tasks since 3.14: of an interpreter and of each of its threads.
struct TaskLists {
  std::uint64_t node = 0;            ///< bytes from the start of a task to its link
  std::vector<std::uint64_t> heads;  ///< addresses
};

/// `modules`: sys.modules of an interpreter. nullopt: asyncio has not been loaded there.
std::optional<TasksReading> read_tasks(Objects& objects,
                                       std::uint64_t modules,
                                       const TaskLists& lists);

}  // namespace tracso::python
