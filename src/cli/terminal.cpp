#include "cli/terminal.hpp"

#include "base/text.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace tracso {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr ? std::string_view() : value;
}

bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const auto value = variable(name); !value.empty()) {
      const std::string low = lower_case(value);
      return low.find("utf-8") != std::string::npos || low.find("utf8") != std::string::npos;
    }
  }
  return false;
}

std::size_t columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return static_cast<std::size_t>(parse_unsigned(variable("COLUMNS")).value_or(80));
}

}  // namespace

Terminal look_at_terminal(ColorChoice choice) {
  Terminal terminal;
  terminal.output_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  terminal.width = terminal.output_is_terminal ? columns() : 0;
  terminal.unicode = utf8_locale();
  terminal.person = terminal.output_is_terminal && ::isatty(STDIN_FILENO) == 1;
  const bool wanted = variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  terminal.color_on_screen =
      choice == ColorChoice::always || (choice == ColorChoice::automatic && wanted);
  terminal.color =
      terminal.color_on_screen && (terminal.output_is_terminal || choice == ColorChoice::always);
  return terminal;
}

}  // namespace tracso
