#pragma once
// Runtimes that an object has inside of itself, linked statically: no file name shows them, but
// they export what they are called by.

#include "tracso/problem_facts.hpp"

#include "collect/linkage_set.hpp"

namespace tracso {

/// Of libraries that export a runtime's entry point and are not that runtime's own file. By object.
std::vector<OwnRuntime> find_own_runtimes(const Workspace& work, const LinkageSet& set);

/// Which releases of OpenSSL they are, where there is more than one: megabytes are read for it.
std::vector<KnownVersion> find_openssl_versions(const Workspace& work);

}  // namespace tracso
