#pragma once
// What stdout is: decided once, from the kernel and the environment.

#include <cstddef>
#include <string_view>

namespace tracso {

enum class ColorChoice { automatic, always, never };

struct Terminal {
  bool output_is_terminal = false;
  bool color = false;
  bool color_on_screen = false;  ///< where something else than stdout is drawn on
  bool person = false;           ///< standard input and output are terminals: somebody is there
  bool unicode = false;
  std::size_t width = 0;  ///< columns; 0: not a terminal
};

/// --color beats NO_COLOR (if not empty) beats TERM=dumb beats whether stdout is a terminal. UTF-8
/// by the text of LC_ALL, LC_CTYPE or LANG, whichever is set first: setlocale knows nothing in a
/// static program without locale files.
Terminal look_at_terminal(ColorChoice choice);

}  // namespace tracso
