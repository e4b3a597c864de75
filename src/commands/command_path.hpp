#pragma once
// The command's first word, and the file that it means.

#include "tracso/result.hpp"

#include <string>

namespace tracso {

/// The file that execvp(3) would start; empty: none.
std::string find_program(const std::string& name);

std::string working_directory();

/// Why a command could not be started, with what to try where a path leads nowhere.
Error with_path_hint(Error error);

}  // namespace tracso
