#pragma once
// Calls that crossed the border between two libraries: the answer of `tracso calls`.

#include "tracso/trace.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracso {

/// How calls were timed.
enum class CallMode : std::uint8_t {
  count,     ///< not at all
  adaptive,  ///< the first 1024 of a function in a thread, then one in 16: times are estimates
  exact      ///< all
};

/// What rows are summed by.
enum class CallGroup : std::uint8_t {
  function,
  caller,
  callee,
  libraries,
  package,
  thread,
  process
};

struct CallRow {
  std::int32_t pid = 0;
  std::int32_t thread = 0;     ///< kernel thread id in its own namespace; 0: all
  std::string symbol;          ///< empty: all
  std::string caller, callee;  ///< base names; empty: all. A callee "?" was never bound
  std::string caller_path, callee_path;
  std::string package;  ///< Python package whose library calls; empty: none
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;      ///< an estimate where calls are sampled
  bool errors_known = false;     ///< the function's results tell of errors
  std::uint64_t total_ns = 0;    ///< from call to return
  std::uint64_t self_ns = 0;     ///< without traced calls inside
  std::uint64_t longest_ns = 0;  ///< of one timed call
};

/// What could not be traced, and why.
struct UntracedCalls {
  std::uint64_t address_taken = 0;  ///< imported functions of which only the address is used
  std::uint64_t unresolved = 0;     ///< that lead to no loaded object
  std::uint64_t filtered = 0;       ///< nobody asked for them
  std::uint64_t inside = 0;         ///< of a library to itself
  std::uint64_t no_room = 0;        ///< more than can be kept
  std::uint64_t dlsym = 0;          ///< functions that dlsym gave and that are not traced
  std::uint64_t late_objects = 0;   ///< loaded by the C library itself
};

/// One traced program (a process may exec several).
struct TracedProgram {
  std::int32_t pid = 0;
  std::string command;
  std::uint64_t objects = 0, functions = 0;  ///< slots that were redirected
  std::uint64_t start_ns = 0;                ///< what the agent took to start
};

/// An object that was looked at.
struct CalledObject {
  std::string path;        ///< as the loader calls it; of the program, as the kernel does
  std::uint64_t bias = 0;  ///< added to the addresses in its file
  bool is_program = false;
};

struct CallsReport {
  std::vector<std::string> command;
  std::optional<int> exit_status, signal;
  CallMode mode = CallMode::adaptive;
  CallGroup group = CallGroup::function;
  std::vector<CallRow> rows;  ///< most self time first; without times most calls
  std::vector<TracedProgram> programs;
  std::vector<CalledObject> objects;  ///< of all programs
  UntracedCalls untraced;
  bool untraced_known = true;  ///< false: nobody has looked for such
  std::vector<Notice> notices;
};

}  // namespace tracso
