// ncurses looks a terminal up in the terminfo database of this machine, whichever system it is. A
// container without one need not do without a picker: nearly every terminal of today understands
// what xterm does, so that description is built in (terminfo(5), TERMINFO=hex:...).

#define NCURSES_NOMACROS 1

#include "pick/curses_session.hpp"

#include "base/text.hpp"
#include "generated/xterm_terminfo.hpp"
#include "pick/terminfo.hpp"

#include <langinfo.h>
#include <ncurses.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <string_view>

namespace tracso::pick {
namespace {

constexpr short pair_accent = 1;
constexpr short pair_warning = 2;
constexpr int escape_delay_ms = 50;  // a lone Esc is one after that long

// Set by SIGCONT. SIGTSTP is in ncurses' hands, which give the terminal back; of SIGSTOP nobody is
// told before.
volatile std::sig_atomic_t was_continued = 0;

void note_continued(int) {
  was_continued = 1;
}

bool like_xterm(std::string_view name) {
  static constexpr std::array<std::string_view, 16> families{"xterm",
                                                             "screen",
                                                             "tmux",
                                                             "rxvt",
                                                             "alacritty",
                                                             "foot",
                                                             "kitty",
                                                             "wezterm",
                                                             "konsole",
                                                             "gnome",
                                                             "vte",
                                                             "putty",
                                                             "linux",
                                                             "st-",
                                                             "ghostty",
                                                             "mintty"};
  return std::any_of(families.begin(), families.end(), [&](std::string_view family) {
    return name.starts_with(family);
  });
}

// The description of xterm, handed to ncurses by the variable that it reads.
SCREEN* open_with_own_description(std::FILE* out, std::FILE* in) {
  const char* before = std::getenv("TERMINFO");  // NOLINT(concurrency-mt-unsafe): no thread yet
  const std::string old = before == nullptr ? "" : before;
  ::setenv("TERMINFO", xterm_terminfo, 1);  // NOLINT(concurrency-mt-unsafe)
  SCREEN* screen = newterm("xterm-256color", out, in);
  if (before == nullptr) {
    ::unsetenv("TERMINFO");  // NOLINT(concurrency-mt-unsafe)
  } else {
    ::setenv("TERMINFO", old.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  return screen;
}

bool locale_is_utf8() {
  return std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
}

// ncurses asks the C library how wide a character is. A static program finds the machine's locales
// where it has some.
bool take_utf8_locale() {
  for (const char* name : {"", "C.UTF-8", "en_US.UTF-8"}) {
    if (std::setlocale(LC_CTYPE, name) != nullptr && locale_is_utf8()) {
      return true;
    }
  }
  return false;
}

std::string ascii(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80U) {
      out += c;
    } else if (byte >= 0xC0U) {
      out += '?';  // one for each character
    }
  }
  return out;
}

attr_t attributes(Paint paint, bool color) {
  switch (paint) {
    case Paint::plain:
      return A_NORMAL;
    case Paint::bold:
      return A_BOLD;
    case Paint::dim:
      return A_DIM;
    case Paint::accent:
      return color ? static_cast<attr_t>(COLOR_PAIR(pair_accent)) : A_BOLD;
    case Paint::warning:
      return color ? static_cast<attr_t>(COLOR_PAIR(pair_warning)) : A_BOLD;
    case Paint::selected:
      return A_REVERSE;
  }
  return A_NORMAL;
}

std::string utf8(wint_t character) {
  std::string out;
  const auto c = static_cast<std::uint32_t>(character);
  const auto tail = [&](unsigned shift) {
    out += static_cast<char>(0x80U | ((c >> shift) & 0x3FU));
  };
  if (c < 0x80U) {
    out += static_cast<char>(c);
  } else if (c < 0x800U) {
    out += static_cast<char>(0xC0U | (c >> 6U));
    tail(0);
  } else if (c < 0x10000U) {
    out += static_cast<char>(0xE0U | (c >> 12U));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | (c >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
  return out;
}

Key::Kind function_key(wint_t code) {
  switch (static_cast<int>(code)) {
    case KEY_UP:
      return Key::Kind::up;
    case KEY_DOWN:
      return Key::Kind::down;
    case KEY_PPAGE:
      return Key::Kind::page_up;
    case KEY_NPAGE:
      return Key::Kind::page_down;
    case KEY_HOME:
      return Key::Kind::home;
    case KEY_END:
      return Key::Kind::end;
    case KEY_BACKSPACE:
    case KEY_DC:
      return Key::Kind::backspace;
    case KEY_BTAB:
      return Key::Kind::previous_sort;
    case KEY_ENTER:
      return Key::Kind::accept;
    default:
      return static_cast<int>(code) == KEY_F(5) ? Key::Kind::rescan : Key::Kind::none;
  }
}

Key::Kind control_key(wint_t character) {
  constexpr wint_t escape = 27;
  constexpr wint_t rubout = 127;
  switch (character) {
    case '\r':
    case '\n':
      return Key::Kind::accept;
    case '\t':
      return Key::Kind::next_sort;
    case escape:
    case 'C' - '@':
    case 'G' - '@':
      return Key::Kind::cancel;
    case rubout:
    case 'H' - '@':
      return Key::Kind::backspace;
    case 'W' - '@':
      return Key::Kind::delete_word;
    case 'U' - '@':
      return Key::Kind::clear;
    case 'P' - '@':
      return Key::Kind::up;
    case 'N' - '@':
      return Key::Kind::down;
    case 'R' - '@':
      return Key::Kind::reverse_sort;
    default:
      return Key::Kind::none;
  }
}

long now_ms() {
  using namespace std::chrono;
  return static_cast<long>(
      duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count());
}

}  // namespace

CursesSession::CursesSession(
    std::FILE* in, std::FILE* out, const std::string& terminal, bool color, bool unicode)
    : input_(::fileno(in)), color_(color), unicode_(unicode) {
  const char* locale = std::setlocale(LC_CTYPE, nullptr);
  old_locale_ = locale == nullptr ? "C" : locale;
  unicode_ = unicode && take_utf8_locale();
  if (terminal_is_described(terminal, ::fileno(out))) {
    screen_ = newterm(terminal.c_str(), out, in);
  }
  if (screen_ == nullptr && like_xterm(terminal) && *xterm_terminfo != '\0') {
    screen_ = open_with_own_description(out, in);
  }
  if (screen_ == nullptr) {
    return;
  }
  was_continued = 0;

  struct sigaction action {};

  action.sa_handler = note_continued;
  ::sigaction(SIGCONT, &action, &old_continue_);
  set_escdelay(escape_delay_ms);
  ::raw();  // Ctrl-C is a key here: the terminal must be given back first
  ::noecho();
  ::nonl();
  ::keypad(stdscr, TRUE);
  ::wtimeout(stdscr, 0);
  ::mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr);
  ::mouseinterval(0);  // else every click waits whether another follows
  color_ = color_ && ::has_colors() && ::start_color() == OK && ::use_default_colors() == OK;
  if (color_) {
    ::init_pair(pair_accent, COLOR_CYAN, -1);
    ::init_pair(pair_warning, COLOR_YELLOW, -1);
  }
}

CursesSession::~CursesSession() {
  if (screen_ != nullptr) {
    ::sigaction(SIGCONT, &old_continue_, nullptr);
    if (has_terminal()) {  // else it is the shell's, and its modes are not ours to set
      ::endwin();
    }
    ::delscreen(screen_);
  }
  std::setlocale(LC_CTYPE, old_locale_.c_str());
}

Size CursesSession::size() const {
  return {static_cast<std::size_t>(std::max(getmaxy(stdscr), 1)),
          static_cast<std::size_t>(std::max(getmaxx(stdscr), 1))};
}

// Not that of a shell that runs us in its background. A terminal that is not ours to control tells
// nothing.
bool CursesSession::has_terminal() const {
  const pid_t foreground = ::tcgetpgrp(input_);
  return foreground < 0 || foreground == ::getpgrp();
}

bool CursesSession::must_redraw() {
  if (was_continued != 0 || !has_terminal()) {
    was_continued = 0;
    lost_ = true;
  }
  return lost_ && has_terminal();
}

void CursesSession::show(const Frame& frame) {
  if (must_redraw()) {
    ::endwin();  // the next refresh takes the terminal anew and draws all of it
    lost_ = false;
  } else if (lost_) {
    return;
  }
  ::werase(stdscr);
  for (std::size_t row = 0; row < frame.lines.size(); ++row) {
    ::wmove(stdscr, static_cast<int>(row), 0);
    for (const Span& span : frame.lines[row]) {
      ::wattrset(stdscr, static_cast<int>(attributes(span.paint, color_)));
      const std::string text = unicode_ ? span.text : ascii(span.text);
      ::waddnstr(stdscr, text.c_str(), -1);
    }
  }
  ::wattrset(stdscr, A_NORMAL);
  ::wmove(stdscr, static_cast<int>(frame.cursor_line), static_cast<int>(frame.cursor_column));
  ::wrefresh(stdscr);
}

bool CursesSession::wait(int milliseconds) const {
  // In the background what is typed is the shell's; to read it would stop us.
  pollfd input{input_, static_cast<short>(has_terminal() ? POLLIN : 0), 0};
  return ::poll(&input, 1, milliseconds) <= 0 || (input.revents & (POLLHUP | POLLERR)) == 0;
}

Key CursesSession::mouse_key(const Frame& frame) {
  constexpr long double_click_ms = 400;
  MEVENT event{};
  if (::getmouse(&event) != OK) {
    return {};
  }
  if ((event.bstate & BUTTON4_PRESSED) != 0) {
    return {Key::Kind::up, "", 0};
  }
  if ((event.bstate & BUTTON5_PRESSED) != 0) {
    return {Key::Kind::down, "", 0};
  }
  const auto line = static_cast<std::size_t>(std::max(event.y, 0));
  if (line < frame.first_row) {
    return {};
  }
  const std::size_t row = line - frame.first_row;
  const long now = now_ms();
  const bool twice = row == last_click_row_ && now - last_click_ms_ < double_click_ms;
  last_click_row_ = row;
  last_click_ms_ = now;
  return {twice ? Key::Kind::double_click : Key::Kind::click, "", row};
}

Key CursesSession::key(const Frame& frame) {
  if (!has_terminal()) {
    return {};
  }
  wint_t character = 0;
  const int kind = ::wget_wch(stdscr, &character);
  if (kind == ERR) {
    return {};
  }
  if (kind == KEY_CODE_YES) {
    return static_cast<int>(character) == KEY_MOUSE ? mouse_key(frame)
                                                    : Key{function_key(character), "", 0};
  }
  if (character == 'Z' - '@') {
    ::raise(SIGTSTP);  // ncurses gives the terminal back meanwhile
    return {};
  }
  constexpr wint_t blank = 32;
  constexpr wint_t rubout = 127;
  if (character < blank || character == rubout) {
    return {control_key(character), "", 0};
  }
  return {Key::Kind::text, utf8(character), 0};
}

}  // namespace tracso::pick
