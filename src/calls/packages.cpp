#include "calls/packages.hpp"

#include "base/text.hpp"

namespace tracso::calls {

std::string package_of(std::string_view path) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const auto at = path.rfind(folder);
    if (at != std::string_view::npos) {
      auto name = path.substr(at + folder.size());
      name = name.substr(0, name.find_first_of("/."));
      return std::string(name);
    }
  }
  if (path.find("/lib-dynload/") != std::string_view::npos) {
    const auto name = base_name(path);
    return std::string(name.substr(0, name.find('.')));
  }
  return "";
}

}  // namespace tracso::calls
