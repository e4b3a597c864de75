#pragma once
// What --help shows as examples, of the program and of each command.

#include <string_view>
#include <vector>

namespace tracso {

struct Example {
  std::string_view command, what;
};

/// `command`: "" for the program itself, else as in "tracso stat". In them 4192 stands for a
/// process; all can be typed as they are (tests/live/examples_test.cpp does). A command without
/// examples gives none.
std::vector<Example> examples_of(std::string_view command);

/// The lines behind "Usage: ", for the same names: CLI11 knows neither the CMD behind our options
/// nor that -p PID stands for it.
std::vector<std::string_view> usage_of(std::string_view command);

}  // namespace tracso
