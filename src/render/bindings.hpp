#pragma once
// --bindings: which library each imported function is bound to; --unused: which libraries have
// been called.

#include "tracso/problem_facts.hpp"
#include "tracso/renderer.hpp"

#include <string>
#include <vector>

namespace tracso {

/// What of the bindings is printed: those of these objects, or of this function; both empty: all.
struct BindingsChoice {
  std::vector<NodeId> objects;
  std::string symbol;
};

/// Interposed functions first, then a line per object, or a line per function where objects or a
/// function were chosen.
std::string bindings_text(const RenderOptions& options,
                          const Trace& trace,
                          const Summary& summary,
                          const ProblemFacts& facts,
                          const BindingsChoice& choice);
std::string bindings_json(const Trace& trace,
                          const Summary& summary,
                          const ProblemFacts& facts,
                          const BindingsChoice& choice);

/// Not called so far first, by bytes; then unknown, then used.
std::string unused_text(const RenderOptions& options,
                        const Trace& trace,
                        const Summary& summary,
                        const ProblemFacts& facts);
std::string unused_json(const Trace& trace, const Summary& summary, const ProblemFacts& facts);

/// "used", "not called so far", "unknown".
std::string_view word(LibraryUse::State state);

}  // namespace tracso
