#pragma once
// What the loader had before it when it loaded things: variables, options, working directory. Only
// where these are known may the rules contradict what is mapped.

#include "collect/workspace.hpp"
#include "loader/environment.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tracso {

struct StartFacts {
  loader::LoadEnvironment environment;
  /// False: the variables are not readable or were overwritten; what was found through them cannot
  /// be told.
  bool environment_known = true;
  std::string program_origin;  ///< $ORIGIN of the program; empty: that of its real path
  /// The loader asks /proc/self/exe for $ORIGIN of the program; in a root without /proc it has
  /// none.
  bool has_origin = true;
  /// The working directory when the program was loaded, told by a record; nullopt: not on record.
  std::optional<std::string> directory;
  /// Per link map entry: the working directory when it was loaded, where its name is relative and
  /// its file tells.
  std::vector<std::optional<std::string>> directory_of_entry;
};

/// Needs the objects. What could not be known is a notice.
StartFacts find_start_facts(Workspace& work);

/// A name by which an object was opened that depends on the working directory.
bool is_relative_name(const std::string& l_name);

}  // namespace tracso
