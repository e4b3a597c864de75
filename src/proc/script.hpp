#pragma once
// Files that the kernel does not load itself: "#!/usr/bin/env python3".

#include "tracso/target.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tracso::proc {

/// The words behind "#!" in the first line, at most 254 bytes of it (binfmt_script of the kernel);
/// nullopt: it is no script, or cannot be read. A line without words gives none. What a file of
/// Windows has before the end of the line, "\r", belongs to the last word, as for the kernel.
std::optional<std::vector<std::string>> script_words(const FileSystem& files,
                                                     const TargetPath& path);

struct Interpreter {
  std::string name;      ///< empty: the line names none
  bool in_path = false;  ///< env looks for it in PATH
};

/// Of the words of a script: the first; where that is env, what env runs (its options and the
/// variables before it are skipped).
Interpreter interpreter_of(const std::vector<std::string>& words);

/// How often a script may name another one as its interpreter: BINPRM_MAX_RECURSION of the kernel.
inline constexpr int most_scripts = 4;

}  // namespace tracso::proc
