#include "commands/system_tree.hpp"

#include "proc/script.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace tracso {

Error inside_tree(Error error,
                  const std::string& root,
                  const std::string& path,
                  const FileSystem& files) {
  error.reason += ", inside the system tree " + root;
  // "--root image image/bin/ls": the path as it is seen from here.
  const std::string tree = root.substr(0, root.find_last_not_of('/') + 1);
  const bool from_here = !tree.empty() && path.starts_with(tree + "/");
  const auto script = proc::script_words(files, {path});
  if (const auto [name, in_path] =
          proc::interpreter_of(script.value_or(std::vector<std::string>()));
      name.ends_with('\r')) {
    // error.hint tells of it: there is no such file, inside the tree or not.
  } else if (!name.empty()) {
    error.hint = fmt::format("its interpreter is {}: tracso --root {} {}{}",
                             name,
                             root,
                             in_path ? "/usr/bin/" : "",
                             name);
  } else if (from_here) {
    error.hint =
        fmt::format("inside it that is {0}: tracso --root {1} {0}", path.substr(tree.size()), root);
  } else if (error.kind == ErrorKind::usage) {  // no such file
    error.hint =
        fmt::format("FILE is named as inside the tree: tracso --root {} /usr/bin/python3", root);
  }
  return error;
}

}  // namespace tracso
