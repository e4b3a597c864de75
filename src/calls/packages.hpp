#pragma once
// The Python package that a library lies in, by its path.

#include <string>
#include <string_view>

namespace tracso::calls {

/// "/x/site-packages/numpy/core/_m.so" and "/x/site-packages/numpy.libs/libopenblas.so" -> "numpy";
/// "/x/lib-dynload/_ssl.so" -> "_ssl"; empty: neither.
std::string package_of(std::string_view path);

}  // namespace tracso::calls
