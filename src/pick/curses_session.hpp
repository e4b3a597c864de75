#pragma once
// The terminal in ncurses' hands, from construction to destruction.

#include "pick/frame.hpp"

#include <csignal>
#include <cstdio>
#include <optional>
#include <string>

// ncurses.h defines macros of common names: only the .cpp sees it.
struct screen;

namespace tracso::pick {

class CursesSession {
 public:
  /// Takes the terminal over. false afterwards: no description of it was found; nothing was
  /// changed.
  CursesSession(
      std::FILE* in, std::FILE* out, const std::string& terminal, bool color, bool unicode);
  ~CursesSession();
  CursesSession(const CursesSession&) = delete;
  CursesSession& operator=(const CursesSession&) = delete;

  explicit operator bool() const { return screen_ != nullptr; }

  /// Characters beyond ASCII can be drawn.
  bool unicode() const { return unicode_; }

  Size size() const;
  /// Draws what has changed, or all where somebody else may have drawn meanwhile. Nothing while a
  /// shell has the terminal: after SIGSTOP and SIGCONT we run in its background.
  void show(const Frame& frame);
  /// We were stopped, or were in the background, and have the terminal again: what stands there is
  /// no longer known, show() is due.
  bool must_redraw();

  /// The next key, Kind::none if there is none yet. `row` of clicks counts from the frame's first
  /// row.
  Key key(const Frame& frame);

  /// Waits for a key, at most that long. false: the terminal is gone.
  bool wait(int milliseconds) const;

 private:
  Key mouse_key(const Frame& frame);
  bool has_terminal() const;

  screen* screen_ = nullptr;
  int input_ = -1;
  bool lost_ = false;  // others have drawn, or have set the terminal's modes

  struct sigaction old_continue_ {};

  bool color_, unicode_;
  std::string old_locale_;
  std::size_t last_click_row_ = static_cast<std::size_t>(-1);
  long last_click_ms_ = 0;
};

}  // namespace tracso::pick
