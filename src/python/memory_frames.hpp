#pragma once
// The Python stack of a thread: PyThreadState, its frames, their code objects.

#include "python/memory_objects.hpp"
#include "python/thread_key.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tracso::python {

/// One PyThreadState.
struct ThreadState {
  std::uint64_t address = 0;
  std::uint64_t thread_id = 0;  ///< pthread_self()
  std::uint64_t native_id =
      0;  ///< kernel thread id in its own pid namespace; 0: not kept (before 3.11)
  std::uint64_t interpreter = 0;  ///< PyInterpreterState
  bool operator==(const ThreadState&) const = default;
};

/// Those of all interpreters of a runtime, newest first.
std::vector<ThreadState> all_thread_states(Objects& objects, std::uint64_t runtime);

/// The PyThreadStates of a thread, one for each interpreter it is in, outermost first (an
/// interpreter that another one made runs inside of it). Empty: it never ran Python.
std::vector<std::uint64_t> thread_states(Objects& objects, std::uint64_t runtime, ThreadKey thread);

/// A frame that runs Python code.
struct Frame {
  std::uint64_t address = 0;
  std::uint64_t code = 0;         ///< PyCodeObject
  std::uint64_t globals = 0;      ///< dict
  std::uint64_t instruction = 0;  ///< the field of that name: a number until 3.10, then a pointer
  bool from_c = true;             ///< a new call of the interpreter's loop began with it
  bool operator==(const Frame&) const = default;
};

struct Stack {
  std::vector<Frame> frames;  ///< innermost first
  bool whole = true;          ///< false: there are more, which cannot be read or are too many
};

/// The frames of a thread state, at most `limit` of them.
Stack read_stack(Objects& objects, std::uint64_t thread_state, std::size_t limit);

/// The frame at an address, of a coroutine that no thread runs now. nullopt: unreadable.
std::optional<Frame> frame_at(Objects& objects, std::uint64_t address);

/// The object in the frame's first local variable: the first argument. 0: unreadable.
std::uint64_t first_local(Objects& objects, const Frame& frame);

/// From the instructions of a code object to lines (python/line_tables.hpp).
struct LineTable {
  std::uint32_t first_line = 0;
  std::vector<std::byte> bytes;
};

/// That of a code object; nullopt: unreadable.
std::optional<LineTable> line_table(Objects& objects, std::uint64_t code);

/// The current line of a frame of that code; 0: not known.
std::uint32_t current_line(Objects& objects, const Frame& frame, const LineTable& table);

/// The same with the table of its code.
std::uint32_t current_line(Objects& objects, const Frame& frame);

}  // namespace tracso::python
