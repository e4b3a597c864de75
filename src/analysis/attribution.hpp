#pragma once
// To whom does a library belong? To every source - a Python module, LD_PRELOAD and the like - from
// which one gets to it through objects.
//
// Example. py:_ssl's file needs libssl and libcrypto, py:_hashlib's file needs libcrypto; the
// interpreter itself needs libm.
//
//   py:_ssl ────> _ssl.so ─────> libssl.so.3 ──> libcrypto.so.3      libssl     belongs to py:_ssl
//   py:_hashlib > _hashlib.so ─────────────────> libcrypto.so.3      libcrypto  to both, half each
//   pid:4192 ───> python3 ─────> libm.so.6                           libm       to nobody
//
// Rule. The walk starts with every edge of a source and goes on over what an object brings in:
// needed, filter, auxiliary, dlopen, preload, audit. It never passes through an executable (the
// program was there anyway: what it needs is not the module's doing), nor over `interpreter` (the
// kernel's choice) or `origin` (only sources and roots have one). A root is no source.
//
// Why all owners and an equal part each: which of two modules was imported first is an accident of
// the run, and a library is gone only when both are. The first cause is kept on the edges for
// --why.
//
// Bytes are split in integers, the remainder to the first owner by name, so the shares of a library
// sum to its bytes and nothing depends on the order in which the graph was made.
//
// Cost. Sources go through the graph 64 at a time, one bit each: 1000 sources that all reach 3000
// objects over 30000 edges take 16 walks and 0.12 s, where a walk per source took 1 s (measured,
// -O2).

#include "tracso/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tracso {

/// All sources by name; of two with one name the older first.
std::vector<NodeId> sources_by_name(const Graph& graph);

/// More pairs of library and source than any process has; a small document can ask for billions.
constexpr std::size_t most_owned = 50'000'000;

/// Per node of the graph: the sources that reach it, by name. Empty for what is no object. Once
/// there are more than `limit` pairs the sources that come later by name are left out; `left_out`
/// gets their number.
std::vector<std::vector<NodeId>> attribute(const Graph& graph,
                                           std::size_t limit = most_owned,
                                           std::size_t* left_out = nullptr);

/// The part that goes to the owner at `rank` (0: first by name) of `owners` > 0.
std::uint64_t share_of(std::uint64_t bytes, std::size_t owners, std::size_t rank);
/// The same of every figure that was measured.
Cost share_of(const Cost& cost, std::size_t owners, std::size_t rank);

}  // namespace tracso
