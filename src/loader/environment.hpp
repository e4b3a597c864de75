#pragma once
// What of its surroundings decides a load: the LD_ variables, /etc/ld.so.preload, the working
// directory, AT_SECURE (ld.so(8)).

#include "tracso/target.hpp"

#include "loader/ld_cache.hpp"
#include "loader/tunables.hpp"
#include "proc/loader_command.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracso::loader {

/// One name that the user or the administrator adds to a load.
struct ExtraObject {
  std::string name;    ///< as written, may hold tokens
  std::string origin;  ///< "LD_PRELOAD", "--preload", "/etc/ld.so.preload", "LD_AUDIT"
  bool operator==(const ExtraObject&) const = default;
};

struct LoadEnvironment {
  std::optional<std::string> library_path;
  std::string library_path_setting = "LD_LIBRARY_PATH";  ///< or "--library-path"
  std::vector<ExtraObject> preload;                      ///< in the order of the loader
  std::vector<ExtraObject> audit;
  std::string preload_problem;  ///< why /etc/ld.so.preload is there and was not read; empty: none
  bool secure = false;          ///< AT_SECURE: a set-user-ID program and the like
  std::string working_directory = "/";
  /// The loader was started by name ("ld.so ./exe"): it is used whatever PT_INTERP says.
  std::optional<TargetPath> interpreter;
  /// Where the cache comes from; null: /etc/ld.so.cache of the target.
  std::shared_ptr<const LdCache> cache;
  bool inhibit_cache = false;  ///< --inhibit-cache
  /// --inhibit-rpath: l_names, between colons, whose RPATH and RUNPATH do not count.
  std::optional<std::string> inhibit_rpath;
  std::string hwcaps_prepend, hwcaps_mask;  ///< --glibc-hwcaps-prepend, --glibc-hwcaps-mask
  CpuTunables tunables;                     ///< of GLIBC_TUNABLES; AT_SECURE drops them
};

using Variable = std::pair<std::string, std::string>;

/// From the variables of a process (the last of two equal names counts) and the target's
/// /etc/ld.so.preload. AT_SECURE drops what the loader drops.
LoadEnvironment make_load_environment(const FileSystem& files,
                                      std::span<const Variable> variables,
                                      std::string working_directory,
                                      bool secure = false);

/// What the loader was told where it was started by name: it stands beside or instead of the
/// variables.
void add_loader_command(const proc::LoaderCommand& command, LoadEnvironment& environment);

/// The names in the text of /etc/ld.so.preload: between blanks, colons and line ends; # starts a
/// comment.
std::vector<std::string> parse_preload_file(std::string_view text);

/// The whole of a regular file, at most `limit` bytes of it. Errors: those of FileSystem::open.
Result<std::string> read_whole_file(const FileSystem& files,
                                    const TargetPath& path,
                                    std::size_t limit);

}  // namespace tracso::loader
