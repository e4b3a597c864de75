#pragma once
// Which release a library is: libraries say so in many ways, each of its own worth.

#include "tracso/target.hpp"

#include <string>
#include <string_view>

namespace tracso {

struct LibraryVersion {
  std::string text;    ///< "3.0.19"; empty: nothing tells
  std::string source;  ///< "its own text", "package note", "file name", "symbol versions (at
                       ///< least)", "soname"
  bool operator==(const LibraryVersion&) const = default;
};

/// The best of: a text that the library carries, the package note of a distribution, the file's
/// name, the highest symbol version that it defines, the number of its soname.
LibraryVersion find_library_version(const File& file,
                                    std::string_view path,
                                    std::string_view soname);

}  // namespace tracso
