#include "graph/trace_words.hpp"
#include "render/diff_forms.hpp"
#include "render/json_parts.hpp"
#include "render/memory_json.hpp"

namespace tracso {
namespace {

Json bytes_json(const BytesChange& bytes) {
  Json out = Json::object();
  out["before"] = or_null(bytes.before);
  out["after"] = or_null(bytes.after);
  return out;
}

Json libraries_json(const std::vector<LibraryChange>& changes) {
  Json out = Json::array();
  for (const LibraryChange& change : changes) {
    Json one = Json::object();
    put_bytes(one, "name", change.name);
    put_text(one, "old_path", change.old_path);
    put_text(one, "new_path", change.new_path);
    put_text(one, "same_by", change.how);
    put_texts(one, "what", change.what);
    one["file_bytes"] = bytes_json(change.file);
    one["resident_bytes"] = bytes_json(change.resident);
    one["private_bytes"] = bytes_json(change.private_bytes);
    out.push_back(std::move(one));
  }
  return out;
}

Json findings_part(const std::vector<Finding>& findings) {
  Json out = Json::array();
  for (const Finding& finding : findings) {
    Json one = Json::object();
    put_bytes(one, "code", finding.code);
    one["severity"] = word(finding.severity);
    put_bytes(one, "title", finding.title);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

std::string diff_json(const TraceDiff& diff) {
  Json out = document("diff");
  put_bytes(out, "old", diff.old_target);
  put_bytes(out, "new", diff.new_target);
  out["added"] = libraries_json(diff.added);
  out["removed"] = libraries_json(diff.removed);
  out["changed"] = libraries_json(diff.changed);
  out["same"] = diff.same;
  out["libraries"] = Json::object();
  out["libraries"]["before"] = diff.libraries_before;
  out["libraries"]["after"] = diff.libraries_after;
  out["bytes"] = Json::object();
  out["bytes"]["file"] = bytes_json(diff.file);
  out["bytes"]["resident"] = bytes_json(diff.resident);
  out["bytes"]["private"] = bytes_json(diff.private_bytes);
  out["memory"] = Json::object();
  out["memory"]["before"] = memory_json(diff.memory_before);
  out["memory"]["after"] = memory_json(diff.memory_after);
  out["packages"] = Json::array();
  for (const PackageChange& package : diff.packages) {
    Json one = Json::object();
    put_bytes(one, "name", package.name);
    one["libraries_before"] = package.libraries_before;
    one["libraries_after"] = package.libraries_after;
    one["file_bytes"] = bytes_json(package.file);
    out["packages"].push_back(std::move(one));
  }
  out["findings"] = Json::object();
  out["findings"]["appeared"] = findings_part(diff.appeared);
  out["findings"]["gone"] = findings_part(diff.gone);
  out["notices"] = notices_json(diff.notices);
  return printed(out, false);
}

}  // namespace tracso
