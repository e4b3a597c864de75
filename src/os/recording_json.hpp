#pragma once
// Parts of a recording's index as JSON. Bytes in JSON: each byte is the character of that number
// (ISO 8859-1), so that any name survives and plain ones stay readable.

#include "tracso/module_files.hpp"
#include "tracso/python_pools.hpp"
#include "tracso/python_probe.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tracso::os {

/// A whole number of that type. Throws std::out_of_range for anything else: nlohmann would convert.
template <class T>
T number_from(const nlohmann::ordered_json& json) {
  const bool fits = json.is_number_unsigned()
                        ? std::in_range<T>(json.get<std::uint64_t>())
                        : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
  if (!fits) {
    throw std::out_of_range("a number in recording.json cannot be what stands there");
  }
  return json.get<T>();
}

std::string bytes_to_text(std::string_view bytes);
std::string text_to_bytes(std::string_view text);

/// What a probe found. From JSON: throws what nlohmann::json throws where it is not of that form.
nlohmann::ordered_json python_json(const PythonFacts& facts);
PythonFacts python_from(const nlohmann::ordered_json& json);

/// What was read of files beside the modules; as above.
nlohmann::ordered_json pools_json(const PoolsByMapping& pools);
PoolsByMapping pools_from(const nlohmann::ordered_json& json);
nlohmann::ordered_json module_files_json(const ModuleFiles& found);
ModuleFiles module_files_from(const nlohmann::ordered_json& json);

}  // namespace tracso::os
