#pragma once
// How a load came about, in words: the imports, the moment, the refusals of the loader.

#include "tracso/answers.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tracso {

constexpr double ns_per_second = 1e9;

/// "app.py:3": the file without the folders above its package, and the line; a module's name where
/// the code is C.
std::string shown_place(const ImportStep& step);
/// "app.py:3 -> pkg/__init__.py:12 -> hmac.py:8 -> _hashlib"; empty: no imports.
std::string import_chain_text(const std::vector<ImportStep>& imports, bool unicode);
/// "imported by numpy/core/multiarray.py:10 (numpy.core.multiarray)"; with "probably" before it
/// where that was not seen but inferred.
std::string importer_phrase(const Importer& importer);
/// The same with the module's name alone: "probably imported by numpy.core.multiarray".
std::string short_importer_phrase(const Importer& importer);
/// "2.1 ms".
std::string milliseconds(std::int64_t nanoseconds);

/// The first load of each node, of a trace that must outlive this.
class FirstLoads {
 public:
  explicit FirstLoads(const Trace& trace);

  /// nullptr: none was seen.
  const Load* of(NodeId node) const { return by_node_[index(node)]; }

 private:
  std::vector<const Load*> by_node_;
};

}  // namespace tracso
