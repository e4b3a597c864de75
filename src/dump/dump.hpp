#pragma once
// Looks at every thread of a process, without stopping any.

#include "tracso/dump.hpp"
#include "tracso/python_probe.hpp"

#include <memory>

namespace tracso {

/// Looks again and again at one process; what never changes (where its Python lies, the names of
/// code) is found once.
class Dumper {
 public:
  /// The doors must outlive it.
  Dumper(const Target& target, std::chrono::milliseconds timeout);
  ~Dumper();
  Dumper(const Dumper&) = delete;
  Dumper& operator=(const Dumper&) = delete;

  /// Errors: denied, interrupted (the process ended), not_found.
  Result<Dump> look();

 private:
  class Looking;
  std::unique_ptr<Looking> looking_;
};

}  // namespace tracso
