#include "render/memory_json.hpp"

#include <string>

namespace tracso {
namespace {

Json use_json(const MemoryUse& use) {
  Json one = Json::object();
  one["mapped"] = use.mapped;
  one["resident"] = use.resident;
  one["private"] = use.private_bytes;
  one["dirty"] = use.dirty;
  one["swapped"] = use.swapped;
  return one;
}

}  // namespace

Json classes_json(const std::optional<MemoryByClass>& memory) {
  if (!memory) {
    return nullptr;
  }
  Json out = Json::object();
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    const auto what = static_cast<MemoryClass>(i);
    out[std::string(memory_class_name(what))] = use_json((*memory)[what]);
  }
  return out;
}

Json memory_json(const std::optional<MemoryByClass>& memory) {
  if (!memory) {
    return nullptr;
  }
  Json out = use_json(memory->total());
  out["by_class"] = classes_json(memory);
  return out;
}

}  // namespace tracso
