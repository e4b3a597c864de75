// For builds without libunwind.
#if !defined(TRACSO_LIBUNWIND)

#include "dump/unwinder.hpp"

namespace tracso::dump {

class Unwinder::Space {};

Unwinder::Unwinder(const ProcessSource&) {}

Unwinder::~Unwinder() = default;

bool Unwinder::is_available() {
  return false;
}

void Unwinder::restart(const std::vector<Mapping>&) {}

UnwoundStack Unwinder::unwind(const ThreadCopy&, std::chrono::steady_clock::time_point) {
  return {};
}

}  // namespace tracso::dump

#endif
