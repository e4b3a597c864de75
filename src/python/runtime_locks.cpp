// Which lock does a thread wait for in Python? The kernel knows a word in memory. threading.Lock
// and RLock of 3.8 to 3.13 begin with a pointer to a semaphore (Modules/_threadmodule.c), whose
// first word it is. The lock itself lies in the frame that waits: as a local variable, on its
// stack, or as the object of a method there ("with" keeps the bound __exit__). How high the stack
// is nobody knows while the frame runs, and above it lie objects of before: but an object there
// that is a lock, with a pointer to this very word, is the lock of this word.

#include "python/runtime_stacks.hpp"

#include <algorithm>
#include <array>

namespace tracso::python {
namespace {

constexpr std::uint32_t newest_with_lock_objects =
    13;  // since then locks are one byte, parked elsewhere
constexpr std::uint64_t lock_object_bytes = 64;
constexpr std::size_t looked_at = 128;  // words of a frame

// Counted from the end of PyObject.
constexpr std::uint32_t lock_semaphore = 0, lock_owner = 8, lock_count = 16;
constexpr std::uint32_t method_self = 8;  // of PyCFunctionObject

struct FoundLock {
  std::uint64_t object = 0;
  bool reentrant = false;
};

class LockFinder {
 public:
  explicit LockFinder(Objects& objects) : objects_(objects), memory_(objects.memory()) {}

  std::optional<FoundLock> in_frame(std::uint64_t locals, std::uint64_t word) {
    std::array<std::uint64_t, looked_at> slots{};
    memory_.plan(locals, sizeof slots);
    memory_.fetch();
    for (std::size_t i = 0; i < slots.size(); ++i) {
      slots[i] = memory_.pointer(locals + 8 * i);
      memory_.plan(slots[i], lock_object_bytes);
    }
    memory_.fetch();
    for (const auto slot : slots) {
      auto found = slot == 0 ? std::nullopt : as_lock(slot, word);
      if (slot != 0 && !found &&
          objects_.type_name(objects_.type_of(slot)) == "builtin_function_or_method") {
        found = as_lock(field(slot, method_self), word);
      }
      if (found) {
        return found;
      }
    }
    return std::nullopt;
  }

  std::uint64_t field(std::uint64_t object, std::uint32_t offset) {
    return memory_.pointer(object + objects_.layout().object.bytes + offset);
  }

 private:
  std::optional<FoundLock> as_lock(std::uint64_t object, std::uint64_t word) {
    if (field(object, lock_semaphore) != word) {
      return std::nullopt;
    }
    const auto type = objects_.type_name(objects_.type_of(object));
    const bool reentrant = type == "_thread.RLock";
    return reentrant || type == "_thread.lock" ? std::optional(FoundLock{object, reentrant})
                                               : std::nullopt;
  }

  Objects& objects_;
  MemoryReader& memory_;
};

}  // namespace

void RuntimeReader::find_locks(const std::vector<WordWait>& waits, std::vector<PythonLock>& into) {
  if (objects_.layout().minor > newest_with_lock_objects) {
    return;
  }
  objects_.forget_objects();
  LockFinder finder(objects_);
  for (const auto& wait : waits) {
    const bool known = std::any_of(into.begin(), into.end(), [&](const PythonLock& lock) {
      return lock.word == wait.address;
    });
    const auto at = std::find(ids_.begin(), ids_.end(), wait.thread);
    if (known || at == ids_.end()) {
      continue;
    }
    const auto& state = states_[static_cast<std::size_t>(at - ids_.begin())];
    const auto stack = read_stack(objects_, state.address, 1);
    const auto lock =
        stack.frames.empty()
            ? std::nullopt
            : finder.in_frame(stack.frames.front().address + objects_.layout().frame.locals,
                              wait.address);
    if (lock) {
      const bool held = lock->reentrant && finder.field(lock->object, lock_count) != 0;
      into.push_back({wait.address,
                      lock->reentrant,
                      held ? thread_of(finder.field(lock->object, lock_owner)) : 0});
    }
  }
}

}  // namespace tracso::python
