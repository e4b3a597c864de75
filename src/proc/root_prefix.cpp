#include "proc/root_prefix.hpp"

namespace tracso::proc {

std::string root_prefix(const ProcessSource& process) {
  const auto root = process.read_link("root");
  return root && root->starts_with('/') && *root != "/" ? *root : "";
}

bool is_locked_up(const ProcessSource& process, const std::string& prefix) {
  const auto program = process.read_link("exe");
  return !prefix.empty() && program && !program->starts_with(prefix + "/");
}

std::string loading_prefix(const ProcessSource& process) {
  std::string prefix = root_prefix(process);
  return is_locked_up(process, prefix) ? "" : prefix;
}

std::string without_prefix(std::string path, const std::string& prefix) {
  if (prefix.empty() || !path.starts_with(prefix)) {
    return path;
  }
  if (path.size() == prefix.size()) {
    return "/";
  }
  return path[prefix.size()] == '/' ? path.substr(prefix.size()) : path;
}

}  // namespace tracso::proc
