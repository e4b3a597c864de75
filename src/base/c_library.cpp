#include "base/c_library.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace tracso {
namespace {

// What follows the stem tells librt.so.1 from librtmp.so.1, libc-2.31.so from libc-client.so.
bool ends_stem(std::string_view rest) {
  constexpr std::string_view digits = "0123456789";
  return rest.starts_with(".so") ||
         (rest.size() > 1 && rest[0] == '-' && digits.find(rest[1]) != std::string_view::npos);
}

}  // namespace

bool is_c_library_name(std::string_view path) {
  constexpr std::array<std::string_view, 5> stems{
      "libc", "libpthread", "librt", "libdl", "libutil"};
  const std::string_view name = base_name(path);
  return name.starts_with("ld-musl") || name.starts_with("libc.musl") ||
         std::any_of(stems.begin(), stems.end(), [&](std::string_view stem) {
           return name.starts_with(stem) && ends_stem(name.substr(stem.size()));
         });
}

}  // namespace tracso
