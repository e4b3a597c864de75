#pragma once
// How many objects of which type does a CPython keep? Counted along the lists of its cyclic garbage
// collector (Include/internal/pycore_gc.h), from outside: no code runs in it, nothing is written.

#include "tracso/python_memory.hpp"
#include "tracso/python_probe.hpp"

#include "python/memory_probe.hpp"

#include <memory>

namespace tracso::python {

/// Counts again and again. CPython 3.8 to 3.14 with a GIL; what lies at 0.2 GB of objects takes a
/// fifth of a second.
class TrackedObjectReader {
 public:
  /// `input` (with its doors) must outlive the reader. The stopper is used where objects come and
  /// go faster than the lists can be read.
  explicit TrackedObjectReader(const ProbeInput& input, Stopper stopper = {});
  ~TrackedObjectReader();
  TrackedObjectReader(TrackedObjectReader&&) noexcept;
  TrackedObjectReader& operator=(TrackedObjectReader&&) noexcept;

  /// Errors: not_found (no Python, or none that works at this moment), unsupported (its version has
  /// no such lists, or they are not where tracso knows them), interrupted (it moved, or ended),
  /// denied.
  Result<TrackedObjects> read();

 private:
  class Reading;
  std::unique_ptr<Reading> reading_;
};

}  // namespace tracso::python
