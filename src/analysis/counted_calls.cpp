// "By which package" has an answer only where the calling library belongs to one: libssl.so.3, that
// py:_ssl alone brought, calls libcrypto for py:_ssl. What several packages reach calls for
// whichever of them was at work, and nobody has seen which: there the library itself is named.

#include "analysis/counted_calls.hpp"

#include <algorithm>
#include <map>

namespace tracso {

std::vector<CalledLibrary> called_libraries(const Trace& trace,
                                            const std::vector<std::vector<NodeId>>& sources) {
  if (!trace.calls) {
    return {};
  }
  std::vector<CalledLibrary> uses(trace.graph.nodes().size());
  std::map<std::pair<std::size_t, std::string>, std::uint64_t> callers;
  for (const CountedCalls& pair : trace.calls->pairs) {
    const auto caller = index(pair.caller);
    const auto callee = index(pair.callee);
    uses[caller].calls += pair.calls;
    uses[callee].called += pair.calls;
    const auto& owners = sources[caller];
    const NodeId by = owners.size() == 1 ? owners.front() : pair.caller;
    callers[{callee, display_name(trace.graph[by])}] += pair.calls;
  }
  for (const auto& [key, calls] : callers) {
    uses[key.first].callers.push_back({key.second, calls});
  }
  for (CalledLibrary& use : uses) {
    std::stable_sort(use.callers.begin(),
                     use.callers.end(),
                     [](const auto& one, const auto& other) { return one.calls > other.calls; });
  }
  return uses;
}

}  // namespace tracso
