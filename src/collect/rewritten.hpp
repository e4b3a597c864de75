#pragma once
// Files that were overwritten in place while they are mapped.

#include "tracso/target.hpp"

#include "collect/workspace.hpp"
#include "proc/status.hpp"

#include <cstdint>
#include <optional>

namespace tracso {

/// An object as it lies in memory.
struct ObjectInMemory {
  MappedRange range;
  TargetPath path;
  std::uint64_t bias = 0;     ///< load bias
  std::uint64_t dynamic = 0;  ///< address of its dynamic section; 0: taken from the file
};

class RewriteCheck {
 public:
  /// When the process began is told by its stat and by /proc/stat; without them nothing is suspect.
  RewriteCheck(const Target& target, const proc::ProcessStat& stat);

  /// The file changed after the process began.
  bool is_suspect(const FileStatus& file) const;

  struct Comparison {
    bool differs = false;   ///< the file has another dynamic section than the memory
    bool adjusted = false;  ///< the loader's addresses are there
  };

  /// nullopt: file or memory cannot be read.
  std::optional<Comparison> compare(const ObjectInMemory& object) const;
  /// The same of a file that is open.
  std::optional<Comparison> compare(const ObjectInMemory& object, const File& file) const;

 private:
  const Target& target_;
  std::optional<std::int64_t> started_ns_;
};

/// Sets the state of such objects. Needs the objects, stands before their nodes are made.
void mark_rewritten(Workspace& work);

}  // namespace tracso
