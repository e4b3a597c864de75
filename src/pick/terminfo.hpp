#pragma once
#include <string>

namespace tracso::pick {

/// Whether this machine's terminfo database knows the terminal of that name. To be asked before
/// newterm(), which leaks a half-made screen when it fails.
bool terminal_is_described(const std::string& name, int output);

}  // namespace tracso::pick
