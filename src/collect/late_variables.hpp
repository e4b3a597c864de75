#pragma once
// Variables of the loader that a process has changed since its start: the loader never looks at
// them again, programs that it starts do.

#include "tracso/problem_facts.hpp"

#include "collect/workspace.hpp"

#include <vector>

namespace tracso {

/// LD_* as the C library's `environ` has them now against those of the start. Empty where either is
/// not readable, and in secure mode, where the loader itself takes them out.
std::vector<ChangedVariable> find_changed_variables(const Workspace& work);

}  // namespace tracso
