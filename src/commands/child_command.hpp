#pragma once
// tracso --as-child PROG PID: what PROG would load if the process started it. AppImages and
// programs packed by PyInstaller set LD_LIBRARY_PATH for themselves, and every program they start
// inherits it.

#include "commands/request.hpp"

namespace tracso {

/// The exit status: 1 if a program would not start, or is not found; else as for a PID.
int answer_as_child(const ChildRequest& request);

}  // namespace tracso
