#include "calls/engine_memory.hpp"

#include <algorithm>

namespace tracso::calls {

const EngineObject* EngineMemory::object_at(std::uint64_t address) const {
  const auto found =
      std::find_if(objects.begin(), objects.end(), [address](const EngineObject& object) {
        return address >= object.start && address < object.end;
      });
  return found == objects.end() ? nullptr : &*found;
}

std::string_view EngineMemory::path_at(std::uint64_t address) const {
  const EngineObject* object = object_at(address);
  return object == nullptr ? std::string_view() : object->path;
}

const EngineObject* EngineMemory::spare_object() const {
  const auto found = std::find_if(objects.begin(), objects.end(), [](const EngineObject& object) {
    return object.spare_code != 0;
  });
  return found == objects.end() ? nullptr : &*found;
}

void EngineMemory::begin_anew() {
  breakpoints.forget();
  objects.clear();
  places.clear();
  loader_events = 0;
  errno_function = 0;
  spare_code_taken = false;
}

}  // namespace tracso::calls
