#include "python/path_probe_rules.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace tracso::python {
namespace {

constexpr std::size_t deepest_package = 32;

bool is_letter(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return std::isalnum(value) != 0 || byte == '_' || value >= 0x80;
}

// A name that can stand in an import statement; bytes above ASCII are letters to it. Some tools
// make top-level modules whose names begin with a digit (mypyc: "30fcd2__mypyc").
bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_letter);
}

bool is_package_name(std::string_view text) {
  return is_name(text) && std::isdigit(static_cast<unsigned char>(text.front())) == 0;
}

// "cpython-311-x86_64-linux-gnu", "cpython-38d-…", "abi3", "abi3t", "pypy39-pp73-…".
bool is_abi_tag(std::string_view tag) {
  constexpr std::array<std::string_view, 3> beginnings{"cpython-", "pypy", "graalpy"};
  return tag == "abi3" || tag == "abi3t" ||
         std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view beginning) {
           return tag.starts_with(beginning);
         });
}

// "python3.11", "python3", "pypy3.9": the standard library itself.
bool is_library_folder(std::string_view name) {
  for (const std::string_view beginning : {"python3", "pypy3"}) {
    if (name.starts_with(beginning)) {
      const auto rest = name.substr(beginning.size());
      return rest.find_first_not_of("0123456789.t") == std::string_view::npos;
    }
  }
  return false;
}

// How good a directory of that name is as an import root; 0: it is none. python3.11 is one only if
// no better one stands below it.
int root_rank(std::string_view name) {
  constexpr std::array<std::string_view, 4> roots{
      "site-packages", "dist-packages", "lib-dynload", "lib_pypy"};
  const bool unpacked = name.starts_with("_MEI") && name.size() > 4;  // PyInstaller
  if (std::find(roots.begin(), roots.end(), name) != roots.end() || name.ends_with(".egg") ||
      name.ends_with(".egg-tmp") || unpacked) {
    return 2;
  }
  return is_library_folder(name) ? 1 : 0;
}

bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.starts_with(directory) &&
         (directory.ends_with('/') || path[directory.size()] == '/');
}

std::string joined(std::span<const std::string_view> packages, std::string_view stem) {
  std::string name;
  for (const auto package : packages) {
    name += package;
    name += '.';
  }
  if (stem == "__init__") {
    return name.empty() ? name : name.substr(0, name.size() - 1);
  }
  return name + std::string(stem);
}

// The name below a root; nullopt: a directory on the way cannot be a package.
std::optional<std::string> name_below(std::string_view path,
                                      std::string_view root,
                                      const ExtensionName& extension) {
  auto below = directory_of(path).substr(std::min(root.size(), directory_of(path).size()));
  const auto packages = split_words(below, "/");
  if (packages.size() > deepest_package ||
      !std::all_of(packages.begin(), packages.end(), is_package_name)) {
    return std::nullopt;
  }
  const auto name = joined(packages, extension.stem);
  return name.empty() ? std::nullopt : std::optional(name);
}

std::optional<std::string> name_by_packages(
    std::string_view path,
    const ExtensionName& extension,
    const std::function<bool(const std::string&)>& is_package) {
  std::vector<std::string_view> packages;
  std::string_view directory = directory_of(path);
  while (packages.size() < deepest_package && is_package_name(base_name(directory)) &&
         is_package(std::string(directory))) {
    packages.insert(packages.begin(), base_name(directory));
    directory = directory_of(directory);
  }
  const auto name = joined(packages, extension.stem);
  return name.empty() ? std::nullopt : std::optional(name);
}

}  // namespace

std::optional<ExtensionName> extension_name(std::string_view file_name) {
  constexpr std::string_view suffix = ".so";
  if (!file_name.ends_with(suffix)) {
    return std::nullopt;
  }
  file_name.remove_suffix(suffix.size());
  const auto dot = file_name.find('.');
  const auto stem = file_name.substr(0, dot);
  if (!is_name(stem)) {
    return std::nullopt;
  }
  if (dot != std::string_view::npos) {
    return is_abi_tag(file_name.substr(dot + 1))
               ? std::optional(ExtensionName{std::string(stem), true})
               : std::nullopt;
  }
  if (stem.starts_with("lib")) {
    return std::nullopt;  // a plain library; a module may be called so, but hardly one is
  }
  return ExtensionName{std::string(stem), false};
}

std::optional<std::string> import_root(std::string_view path,
                                       std::span<const std::string> search_path) {
  std::string_view best;
  for (const std::string_view directory : search_path) {
    if (directory.size() > best.size() && directory.starts_with('/') && is_below(path, directory)) {
      best = directory;
    }
  }
  int best_rank = best.empty() ? 0 : 2;
  // From the file upwards; the first of the best rank is the deepest.
  for (auto at = directory_of(path); at.size() > 1; at = directory_of(at)) {
    const int rank = root_rank(base_name(at));
    if (rank > best_rank || (rank == best_rank && rank > 0 && at.size() > best.size())) {
      best = at;
      best_rank = rank;
    }
  }
  while (best.size() > 1 && best.ends_with('/')) {
    best.remove_suffix(1);
  }
  return best.empty() ? std::nullopt : std::optional<std::string>(best);
}

std::optional<std::string> module_of_path(
    std::string_view path,
    std::span<const std::string> search_path,
    const std::function<bool(const std::string&)>& is_package) {
  const auto extension = extension_name(base_name(path));
  if (!extension) {
    return std::nullopt;
  }
  if (const auto root = import_root(path, search_path)) {
    if (auto name = name_below(path, *root, *extension)) {
      return name;
    }
  }
  return extension->tagged ? name_by_packages(path, *extension, is_package) : std::nullopt;
}

}  // namespace tracso::python
