#pragma once
// Which files are builds of one library, whatever a wheel, a distribution or a vendor calls them.

#include "tracso/graph.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tracso::findings {

/// "libfoo-1a2b3c4d.so.1.2.3" -> "libfoo": the base name in lower case without the hash that
/// auditwheel and delvewheel put in, the suffix and the version behind it.
std::string stem_of(std::string_view file_name);

struct Family {
  std::string_view name;  ///< "openmp"
  std::string_view kind;  ///< who made it, or which part it is: "GNU", "crypto"; empty: only one
  bool stateful = false;  ///< two of them in one process do harm: global state, registries, locks
  bool parallel = false;  ///< several are meant to be loaded side by side
};

/// By the stem; nullopt: of no family that the table knows.
std::optional<Family> family_of_stem(std::string_view stem);

/// The stem by which a library is compared: of its file name.
std::string stem_of(const ObjectFile& file);
std::optional<Family> family_of(const ObjectFile& file);

}  // namespace tracso::findings
