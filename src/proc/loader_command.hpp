#pragma once
// The command line of a process whose program is a dynamic loader: "ld.so --library-path DIR ./exe
// args". What stands before the program is the loader's (glibc elf/rtld.c, dl_main; musl
// ldso/dynlink.c, __dls3).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::proc {

/// Whose options are understood.
enum class LoaderSyntax : std::uint8_t { glibc, musl };

/// What the loader was told. Of a repeated option the last counts, but auditors add up.
struct LoaderCommand {
  std::optional<std::string> library_path;   ///< instead of LD_LIBRARY_PATH
  std::string preload;                       ///< names between blanks and colons
  std::optional<std::string> inhibit_rpath;  ///< l_names whose RPATH and RUNPATH do not count
  std::string hwcaps_prepend, hwcaps_mask;   ///< names of glibc-hwcaps subdirectories
  std::vector<std::string> audit;            ///< lists of names between colons
  bool inhibit_cache = false;
  std::string program;    ///< as written; empty: none
  std::size_t words = 0;  ///< how many words are the loader's, its own name and the program counted
  std::string unknown;    ///< the option that is not known: nothing behind it was believed
  bool operator==(const LoaderCommand&) const = default;
};

/// The words of /proc/PID/cmdline, the loader's own name first.
LoaderCommand parse_loader_command(std::span<const std::string> command, LoaderSyntax syntax);

/// "ld-linux-x86-64.so.2", "ld-2.31.so", "ld.so.1", "ld-musl-x86_64.so.1": a file is called as
/// loaders are. The path or the name alone.
bool is_loader_name(std::string_view path);

}  // namespace tracso::proc
