#pragma once
// --as-child: what programs would load under the environment of a process.

#include "tracso/renderer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tracso {

/// One library that would be another file than without the process' variables, or missing.
struct ChildDifference {
  std::string name;  ///< as needed
  std::string needed_by;
  std::optional<std::string> there;  ///< the file under the variables; nullopt: not found
  std::optional<std::string> clean;  ///< and without them
  std::string rule;                  ///< "LD_LIBRARY_PATH", "LD_PRELOAD"
};

struct ChildProgram {
  std::string asked, path;
  std::string interpreter;  ///< the program that the kernel starts for the script `path`, and that
                            ///< all below is about; empty: `path` itself
  std::string problem;  ///< why nothing can be said: not found, not ELF; empty: the rest is filled
  std::size_t libraries = 0;
  std::vector<ChildDifference> differences;
  std::vector<std::string> failures;  ///< where the loader would stop, and why
};

struct ChildTable {
  std::string target;
  std::vector<std::pair<std::string, std::string>> variables;  ///< that the loader acts on
  std::vector<ChildProgram> programs;
  std::vector<Notice> notices;
};

std::string as_child_text(const RenderOptions& options, const ChildTable& table);
std::string as_child_json(const ChildTable& table);

}  // namespace tracso
