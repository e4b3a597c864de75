#pragma once
// What could not be read of the files that the loader itself goes by.

#include "tracso/trace.hpp"

#include "loader/environment.hpp"
#include "loader/loader_traits.hpp"

#include <string>
#include <vector>

namespace tracso {

/// /etc/ld.so.preload, and the loader's own file.
void note_loader_files(const loader::LoadEnvironment& environment,
                       const loader::LoaderTraits& traits,
                       std::vector<Notice>& notices);

/// /etc/ld.so.cache is there, but cannot be read.
void note_unreadable_cache(const std::string& reason, std::vector<Notice>& notices);

}  // namespace tracso
