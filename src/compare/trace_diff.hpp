#pragma once
// What is different between two traces.

#include "tracso/diff.hpp"

namespace tracso {

/// Libraries are the same by what they are for, not by where they lie: the same path, build id or
/// soname; else the same family and part of it (libssl of one OpenSSL and of another); else the
/// same name without hash and version. Findings are the same by code and the names of the parties.
TraceDiff compare_traces(const Trace& before,
                         const Summary& before_summary,
                         const Trace& after,
                         const Summary& after_summary);

}  // namespace tracso
