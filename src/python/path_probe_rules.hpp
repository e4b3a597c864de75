#pragma once
// Names of extension modules from the paths of their files. Pure functions.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tracso::python {

/// What a file name says of the module in it (PEP 3149).
struct ExtensionName {
  std::string stem;     ///< "_ssl" of "_ssl.cpython-311-x86_64-linux-gnu.so"
  bool tagged = false;  ///< an ABI tag stands between: nothing but a module is called so
  bool operator==(const ExtensionName&) const = default;
};

/// nullopt: no module is called so ("libz.so.1", "libfoo.so", "a-b.so").
std::optional<ExtensionName> extension_name(std::string_view file_name);

/// The directory from which the file is imported: the last of site-packages, dist-packages,
/// lib-dynload, lib_pypy, an .egg, a PyInstaller folder, python3.N; or the longest of `search_path`
/// (PYTHONPATH) above it. Without a slash at the end; nullopt: none of them.
std::optional<std::string> import_root(std::string_view path,
                                       std::span<const std::string> search_path);

/// "numpy.linalg._umath_linalg". Below an import root the directories are the packages; elsewhere
/// those that have an __init__.py, as `is_package` says, and then only for a tagged name. nullopt:
/// not a module.
std::optional<std::string> module_of_path(
    std::string_view path,
    std::span<const std::string> search_path,
    const std::function<bool(const std::string&)>& is_package);

}  // namespace tracso::python
