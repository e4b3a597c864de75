#pragma once
// Which imports are under way in a thread of a Python that stands still, with the lines that wrote
// them: "app.py:3 imports pkg, pkg/__init__.py:12 imports secrets, secrets.py:18 imports hmac".

#include "tracso/import_step.hpp"
#include "tracso/target.hpp"

#include "python/thread_key.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tracso::python {

using tracso::ImportStep;

/// Reads the imports under way in threads of one program, again and again: made when the program
/// starts, of no use after another exec. The Python in it is looked for at the first call; while
/// there is none, or none that has begun to work, every call looks only at what has been mapped
/// since.
class ImportChainReader {
 public:
  /// The doors must outlive the reader.
  explicit ImportChainReader(const Target& target);
  ~ImportChainReader();
  ImportChainReader(ImportChainReader&&) noexcept;
  ImportChainReader& operator=(ImportChainReader&&) noexcept;

  /// Looks for the Python ahead of the first chain, in a process that may run meanwhile. true: it
  /// is found and has begun to work, so that there is nothing more to prepare. Of that thread the
  /// first chain will probably be.
  bool prepare(ThreadKey thread);

  /// Fetches now what the next chain will probably ask for: it is told of the memory as it is now.
  void fetch();

  /// The imports under way in that thread, outermost first; empty: no Python, none that runs in
  /// this thread, or no import. The thread must stand still meanwhile, or be busy in C code that
  /// does not return. Without its thread pointer a Python before 3.11 is read only if it has one
  /// thread.
  std::vector<ImportStep> chain(ThreadKey thread);

  /// The same in less time, of a thread that stands still.
  std::vector<ImportStep> chain_with_past(ThreadKey thread);

  /// Does ahead of the next chain what can be done when the thread runs again; may be left out.
  void tidy();

  /// Chains so far of which a part could not be read. In their place stands what could.
  std::size_t incomplete_chains() const;

 private:
  class Reading;
  std::unique_ptr<Reading> reading_;
};

}  // namespace tracso::python
