#pragma once
// Python functions where they stand in the native stack. Pure.

#include "tracso/dump.hpp"

#include "python/thread_stacks.hpp"

namespace tracso::dump {

/// A call of the interpreter's loop (_PyEval_EvalFrameDefault) runs the Python functions from the
/// one that C code called to the innermost it called without leaving the loop. Says of each such
/// native frame how many. false, and nothing is said: the calls and the frames do not match one by
/// one (a stripped or inlined loop, a stack that is not whole, torn).
bool merge_python(const PythonStack& python, NativeStack& native);

/// Replaces the stacks of threads that were held by those read then.
void take_over(std::vector<python::ThreadStack> held, python::ThreadStacks& stacks);

}  // namespace tracso::dump
