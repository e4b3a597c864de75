#pragma once
// What is wrong with a FILE inside another system tree (--root DIR).

#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include <string>

namespace tracso {

/// `error` of explaining `path` there, with the tree, and a hint how the path is named inside it or
/// what runs it, where that helps. `files`: the tree.
Error inside_tree(Error error,
                  const std::string& root,
                  const std::string& path,
                  const FileSystem& files);

}  // namespace tracso
