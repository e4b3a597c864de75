#pragma once
// The picker on a terminal: full screen, by ncurses.

#include "tracso/result.hpp"

#include "pick/frame.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <vector>

namespace tracso::pick {

struct ScreenOptions {
  std::FILE* in = nullptr;  ///< the terminal
  std::FILE* out = nullptr;
  std::string terminal;  ///< the name of its description: TERM
  Look look = Look::full;
  bool color = true;
  bool unicode = true;  ///< wanted; without a UTF-8 locale on this machine ASCII is drawn
  /// Called in a thread of its own, one at a time, for a process on which the selection rests.
  std::function<Preview(const proc::ProcessEntry&)> preview;
  std::function<std::vector<proc::ProcessEntry>()> rescan;
  /// Asked between keys for every entry whose Python is not known yet.
  std::function<std::string(std::int32_t)> python;
};

/// The pid that was chosen; nullopt: none (Esc). unsupported: this machine has no description of
/// that terminal (terminfo(5)), and it is not one whose description is built in.
Result<std::optional<std::int32_t>> choose_on_screen(std::vector<proc::ProcessEntry> entries,
                                                     const ScreenOptions& options);

}  // namespace tracso::pick
