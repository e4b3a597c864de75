#include "render/attribution_json.hpp"

namespace tracso {
namespace {

Json change_json(const Change& change) {
  Json out = Json::object();
  out["before"] = or_null(change.before);
  out["after"] = change.after;
  return out;
}

Json parts_json(const ResidentParts& parts) {
  Json out = Json::object();
  out["resident"] = change_json(parts.resident);
  out["python_pools"] = change_json(parts.python);
  out["heap"] = change_json(parts.heap);
  out["other_anonymous"] = change_json(parts.other_anonymous);
  out["rest"] = change_json(parts.rest);
  out["python_blocks"] = parts.python_blocks ? change_json(*parts.python_blocks) : Json(nullptr);
  return out;
}

Json objects_json(const Attribution& attribution) {
  if (attribution.python_version.empty()) {
    return nullptr;
  }
  Json out = Json::object();
  put_text(out, "python", attribution.python_version);
  out["objects"] = change_json(attribution.objects);
  out["bytes"] = change_json(attribution.object_bytes);
  out["types"] = objects_of(attribution.types, [](Json& one, const TypeChange& type) {
    put_bytes(one, "type", type.type);
    one["objects"] = change_json(type.objects);
    one["bytes"] = change_json(type.bytes);
  });
  return out;
}

Json lines_json(const Attribution& attribution) {
  if (!attribution.lines_known) {
    return nullptr;
  }
  return objects_of(attribution.lines, [](Json& one, const LineChange& line) {
    put_bytes(one, "file", line.file);
    one["line"] = line.line;
    one["blocks"] = change_json(line.blocks);
    one["bytes"] = change_json(line.bytes);
  });
}

}  // namespace

Json attribution_json(const std::optional<Attribution>& attribution) {
  if (!attribution) {
    return nullptr;
  }
  Json out = Json::object();
  out["first_ns"] = or_null(attribution->first_ns);
  out["last_ns"] = attribution->last_ns;
  put_text(out, "first_moment", attribution->first_moment);
  put_text(out, "last_moment", attribution->last_moment);
  out["parts"] = parts_json(attribution->parts);
  out["tracked_objects"] = objects_json(*attribution);
  out["lines"] = lines_json(*attribution);
  out["stopped_ns"] = attribution->stopped.count();
  put_texts(out, "not_told", attribution->not_told);
  return out;
}

}  // namespace tracso
