// A file of its own: term.h makes macros of words like 'lines'.

#include "pick/terminfo.hpp"

#include <ncurses.h>
#include <term.h>

namespace tracso::pick {

bool terminal_is_described(const std::string& name, int output) {
  int found = 0;
  if (::setupterm(name.c_str(), output, &found) != OK) {
    return false;
  }
  ::del_curterm(::cur_term);
  return true;
}

}  // namespace tracso::pick
