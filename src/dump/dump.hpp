#pragma once
// Looks at every thread of a process, without stopping any.

#include "tracso/dump.hpp"
#include "tracso/python_probe.hpp"

#include "proc/descriptors.hpp"

#include <memory>

namespace tracso {

/// What a look is to bring beside the rest.
struct DumpOptions {
  std::chrono::milliseconds timeout{5000};
  bool native = false;  ///< native stacks: each thread is held for a moment, one after the other
  proc::Borrow borrow = {};  ///< asks sockets who they are; empty: tables of the kernel tell
};

/// Looks again and again at one process; what never changes (where its Python lies, the names of
/// code) is found once.
class Dumper {
 public:
  /// The doors must outlive it.
  Dumper(const Target& target, const DumpOptions& options);
  ~Dumper();
  Dumper(const Dumper&) = delete;
  Dumper& operator=(const Dumper&) = delete;

  /// Errors: denied, interrupted (the process ended), not_found.
  Result<Dump> look();

  /// Whether this build can give native stacks.
  static bool has_native();

 private:
  class Looking;
  std::unique_ptr<Looking> looking_;
};

}  // namespace tracso
