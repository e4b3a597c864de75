#pragma once
// --bindings and --unused.

#include "tracso/problem_facts.hpp"

#include "commands/request.hpp"

namespace tracso {

/// Prints the answer; the exit status: 1 where --bindings=NAME names nothing, 2 where the target
/// has no symbols to read (a file, a document, a recording), 3 where it ended meanwhile. `trace`
/// has its names cut.
int answer_symbols(const Trace& trace,
                   const Summary& summary,
                   const ProblemFacts& facts,
                   const TraceRequest& request);

}  // namespace tracso
