// Where the attributes of an instance lie: a matter that every CPython since 3.11 solved anew
// (Objects/dictobject.c _PyObject_GetDictPtr and the comment "managed dicts" in object.h).

#include "python/memory_objects.hpp"

namespace tracso::python {
namespace {

constexpr std::uint64_t is_heap_type = std::uint64_t{1} << 9, managed_dict = std::uint64_t{1} << 4,
                        inline_values = std::uint64_t{1} << 2;
constexpr std::uint64_t largest_in_object = 65536;
constexpr std::uint64_t most_shared_keys = 64;

}  // namespace

InstanceStorage Objects::storage(std::uint64_t object) {
  const auto type = type_of(object);
  if (type == 0) {
    return {};
  }
  const auto type_flags = flags(type);
  if (layout_.minor < 11 || (type_flags & managed_dict) == 0) {
    const auto offset = memory_.pointer(type + layout_.object.bytes + body::type_dictoffset);
    const bool usable = offset > 0 && offset < largest_in_object;
    return {usable ? memory_.pointer(object + offset) : 0, 0};
  }
  if (layout_.minor == 11) {
    const auto dict = memory_.pointer(object - 24);
    return {dict, dict == 0 ? memory_.pointer(object - 32) : 0};
  }
  if (layout_.minor == 12) {
    const auto either = memory_.pointer(object - 24);
    return either % 2 == 0 ? InstanceStorage{either, 0} : InstanceStorage{0, either + 1};
  }
  const auto dict = memory_.pointer(object - (layout_.free_threaded ? 8 : 24));
  if (dict != 0 || (type_flags & inline_values) == 0) {
    return {dict, 0};
  }
  const auto values = object + memory_.pointer(type + layout_.object.bytes + body::type_basicsize);
  const bool valid = memory_.value<std::uint8_t>(values + value_array::valid).value_or(0) != 0;
  return {0, valid ? values + value_array::first : 0};
}

// The names of inline values are keys that all instances of the type share.
Found Objects::find_in_values(std::uint64_t type, std::uint64_t values, Name name) {
  if ((flags(type) & is_heap_type) == 0) {
    return {Lookup::unreadable, 0};
  }
  const auto keys = keys_at(memory_.pointer(type + layout_.object.cached_keys));
  if (!keys || keys->count > most_shared_keys) {
    return {Lookup::unreadable, 0};
  }
  for (std::uint64_t i = 0; i < keys->count; ++i) {
    if (name_of(key_at(*keys, i)) == name) {
      const auto value = memory_.pointer(values + 8 * i);
      return value != 0 ? Found{Lookup::found, value} : Found{};
    }
  }
  return {};
}

Found Objects::instance_attribute(std::uint64_t object, Name name) {
  const auto type = type_of(object);
  if (type == 0) {
    return {Lookup::unreadable, 0};
  }
  const auto place = storage(object);
  if (place.dict != 0) {
    return find(place.dict, name);
  }
  return place.values != 0 ? find_in_values(type, place.values, name) : Found{};
}

}  // namespace tracso::python
