#include "calls/types.hpp"

#include <algorithm>

namespace tracso::calls {
namespace {

bool lies_here(const Type& type) {
  return type.inside != nullptr && type.role != Role::reference;
}

}  // namespace

std::uint32_t bytes_of(const Type& type) {
  if (type.role == Role::bits && type.inside != nullptr) {
    return bytes_of(type.inside->fields.front());
  }
  constexpr std::uint32_t view = 16;
  return lies_here(type) ? type.inside->bytes : type.role == Role::text_view ? view : type.size;
}

std::uint32_t alignment_of(const Type& type) {
  if (type.role == Role::bits && type.inside != nullptr) {
    return alignment_of(type.inside->fields.front());
  }
  return lies_here(type) ? type.inside->alignment : std::max<std::uint32_t>(type.size, 1);
}

bool is_floating(const Type& type) {
  return type.role == Role::floating || type.role == Role::hexadecimal_floating;
}

}  // namespace tracso::calls
