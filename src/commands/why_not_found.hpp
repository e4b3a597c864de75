#pragma once
// --why NAME where no library has that name: what NAME is instead, and what to ask.

#include "tracso/analysis.hpp"
#include "tracso/answers.hpp"
#include "tracso/result.hpp"
#include "tracso/trace.hpp"

namespace tracso {

/// A Python package ("numpy", "py:numpy.linalg") or a variable ("LD_PRELOAD") that libraries belong
/// to, one that the loader refused, a module without a library of its own; else the names that are
/// close. Of kind usage.
Error why_not_found(const WhyAnswer& answer, const Trace& trace, const Summary& summary);

}  // namespace tracso
