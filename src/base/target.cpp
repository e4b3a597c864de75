#include "tracso/target.hpp"

namespace tracso {

Result<std::size_t> ProcessSource::read_at(std::string_view name,
                                           std::uint64_t /*offset*/,
                                           std::span<std::byte> /*into*/) const {
  return Error{ErrorKind::unsupported, "read", std::string(name), "it is not to be had here", ""};
}

}  // namespace tracso
