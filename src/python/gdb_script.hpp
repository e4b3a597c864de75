#pragma once
// What gdb is told to do, and the Python that the target runs for it. Pure text.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tracso::python {

/// The functions of the C API that the script calls, all of them exported by CPython 3.6 to 3.15.
constexpr std::array<std::string_view, 15> gdb_functions{"PyGILState_Check",
                                                         "PyGILState_Ensure",
                                                         "PyGILState_Release",
                                                         "Py_AddPendingCall",
                                                         "PyCallable_Check",
                                                         "PySys_GetObject",
                                                         "PyDict_New",
                                                         "PyDict_SetItemString",
                                                         "PyDict_GetItemString",
                                                         "PyRun_StringFlags",
                                                         "PyErr_Clear",
                                                         "PyBytes_FromStringAndSize",
                                                         "PyBytes_AsString",
                                                         "PyBytes_Size",
                                                         "Py_DecRef"};

/// The script writes no answer that has more bytes.
constexpr std::size_t largest_gdb_answer = std::size_t{64} << 20;

/// How it can be known that no thread holds the lock of the interpreter (GIL).
enum class LockKnowledge : std::uint8_t {
  current_state,  ///< until 3.11: _PyThreadState_UncheckedGet() is null
  each_thread,    ///< from 3.12 on: every thread is asked for itself
  no_lock         ///< a free-threaded build
};

/// Which registers gdb saves and puts back around a call.
enum class Registers : std::uint8_t {
  all,    ///< as gdb knows the processor
  legacy  ///< those of SSE: gdb before 14 cannot write more where the processor has AMX
};

struct GdbScriptInput {
  std::int32_t pid = 0;
  std::array<std::uint64_t, gdb_functions.size()> functions{};  ///< addresses in the process
  std::uint64_t current_state = 0;         ///< _PyThreadState_UncheckedGet; 0: not there
  std::uint64_t eval = 0, eval_bytes = 0;  ///< _PyEval_EvalFrameDefault; 0: not there
  std::uint64_t own = 0, own_end = 0;      ///< the object that is the interpreter, in memory
  LockKnowledge lock = LockKnowledge::each_thread;
  Registers registers = Registers::all;
};

/// The commands. Function names in them are gdb variables that hold addresses; no string literal
/// and no symbol is used in a call, because gdb would call malloc() in the target for the one and
/// the wrong library for the other. The stages it reports ("TRACSO: ...") are: attaching, registers
/// (they cannot be written: nothing was done), attached, direct or waiting and then safe point or
/// no safe point; queue full, failed, raised; result; detached. See tracso/gdb_session.hpp for
/// gates and descriptors.
std::string gdb_script(const GdbScriptInput& input);

/// The target description behind Registers::legacy, for GdbJob::registers.
std::string legacy_registers();

/// What the target runs, with the two names that the script hands to the C API before it. Names no
/// builtin, imports nothing, and reads attribute dictionaries without calling anything of theirs.
std::string injected_code();

}  // namespace tracso::python
