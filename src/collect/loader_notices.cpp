#include "collect/loader_notices.hpp"

#include <fmt/format.h>

namespace tracso {

void note_loader_files(const loader::LoadEnvironment& environment,
                       const loader::LoaderTraits& traits,
                       std::vector<Notice>& notices) {
  if (!environment.preload_problem.empty()) {
    notices.push_back({"preload-file-unreadable",
                       "/etc/ld.so.preload cannot be read: " + environment.preload_problem,
                       "what it preloads is not known as such",
                       ""});
  }
  if (!traits.known) {
    notices.push_back({"loader-unreadable",
                       fmt::format("the loader {} could not be read", traits.path.text),
                       "the usual directories of its machine stand in for what it has compiled in",
                       ""});
  }
}

void note_unreadable_cache(const std::string& reason, std::vector<Notice>& notices) {
  notices.push_back({"ld-cache-unreadable",
                     "/etc/ld.so.cache cannot be read: " + reason,
                     "libraries found through it have no rule",
                     "run as root"});
}

}  // namespace tracso
