#include "base/demangle.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace tracso {

std::string demangled(const std::string& symbol) {
  constexpr std::size_t longest_mangled = 2048;
  if (!symbol.starts_with("_Z") || symbol.size() > longest_mangled) {
    return symbol;
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && name ? name.get() : symbol;
}

}  // namespace tracso
