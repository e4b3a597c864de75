#include "os/recording_json.hpp"

namespace tracso::os {
namespace {

using Json = nlohmann::ordered_json;

Json unread_json(const UnreadFiles& unread) {
  return Json::array({unread.count, bytes_to_text(unread.first)});
}

UnreadFiles unread_from(const Json& json) {
  return {number_from<std::size_t>(json.at(0)), text_to_bytes(json.at(1).get<std::string>())};
}

Json imports_json(const InferredImports& found) {
  Json imports = Json::array();
  for (const auto& import : found.imports) {
    imports.push_back({bytes_to_text(import.extension),
                       bytes_to_text(import.module),
                       bytes_to_text(import.file),
                       import.line});
  }
  return {{"imports", std::move(imports)}, {"unread", unread_json(found.unread)}};
}

InferredImports imports_from(const Json& json) {
  InferredImports found;
  for (const auto& import : json.at("imports")) {
    found.imports.push_back({text_to_bytes(import.at(0).get<std::string>()),
                             text_to_bytes(import.at(1).get<std::string>()),
                             text_to_bytes(import.at(2).get<std::string>()),
                             number_from<std::uint32_t>(import.at(3))});
  }
  found.unread = unread_from(json.at("unread"));
  return found;
}

Json distributions_json(const Distributions& found) {
  Json titles = Json::object();
  for (const auto& [module, title] : found.titles) {
    titles[bytes_to_text(module)] = bytes_to_text(title);
  }
  return {{"titles", std::move(titles)}, {"unread", unread_json(found.unread)}};
}

Distributions distributions_from(const Json& json) {
  Distributions found;
  for (const auto& [module, title] : json.at("titles").items()) {
    found.titles.emplace(text_to_bytes(module), text_to_bytes(title.get<std::string>()));
  }
  found.unread = unread_from(json.at("unread"));
  return found;
}

}  // namespace

std::string bytes_to_text(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xC0U | (byte >> 6U));
      text += static_cast<char>(0x80U | (byte & 0x3FU));
    }
  }
  return text;
}

std::string text_to_bytes(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead >= 0xC2 && lead <= 0xC3 && i + 1 < text.size()) {
      bytes += static_cast<char>(((lead & 3U) << 6U) |
                                 (static_cast<unsigned char>(text[i + 1]) & 0x3FU));
      ++i;
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

Json python_json(const PythonFacts& facts) {
  Json modules = Json::array();
  for (const auto& module : facts.modules) {
    modules.push_back({bytes_to_text(module.name),
                       module.file ? Json(bytes_to_text(*module.file)) : Json(nullptr),
                       bytes_to_text(module.origin)});
  }
  return {{"implementation", facts.implementation},
          {"version", facts.version},
          {"probe", facts.probe},
          {"detail", facts.detail},
          {"stopped_ns", facts.stopped.count()},
          {"code_executed", facts.code_executed},
          {"complete", facts.complete},
          {"modules", modules}};
}

PythonFacts python_from(const Json& json) {
  PythonFacts facts;
  facts.implementation = json.at("implementation").get<std::string>();
  facts.version = json.at("version").get<std::string>();
  facts.probe = json.at("probe").get<std::string>();
  facts.detail = json.at("detail").get<std::string>();
  facts.stopped = std::chrono::nanoseconds(number_from<std::int64_t>(json.at("stopped_ns")));
  facts.code_executed = json.at("code_executed").get<bool>();
  facts.complete = json.at("complete").get<bool>();
  for (const auto& module : json.at("modules")) {
    PythonModule made;
    made.name = text_to_bytes(module.at(0).get<std::string>());
    if (!module.at(1).is_null()) {
      made.file = text_to_bytes(module.at(1).get<std::string>());
    }
    made.origin = text_to_bytes(module.at(2).get<std::string>());
    facts.modules.push_back(std::move(made));
  }
  return facts;
}

Json pools_json(const PoolsByMapping& pools) {
  Json out = Json::array();
  for (const auto& [start, bytes] : pools) {
    out.push_back({start, bytes});
  }
  return out;
}

PoolsByMapping pools_from(const Json& json) {
  PoolsByMapping pools;
  for (const auto& pair : json) {
    pools[number_from<std::uint64_t>(pair.at(0))] = number_from<std::uint64_t>(pair.at(1));
  }
  return pools;
}

Json module_files_json(const ModuleFiles& found) {
  return {{"imports", imports_json(found.imports)},
          {"distributions", distributions_json(found.distributions)}};
}

ModuleFiles module_files_from(const Json& json) {
  return {imports_from(json.at("imports")), distributions_from(json.at("distributions"))};
}

}  // namespace tracso::os
