#include "render/json_parts.hpp"

#include "base/text.hpp"
#include "graph/trace_words.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

template <class E>
Json word_or_null(E value) {
  const std::string_view text = word(value);
  return text.empty() ? Json(nullptr) : Json(text);
}

std::string_view node_kind(const Node& node) {
  if (const ObjectFile* file = object(node)) {
    return word(file->role);
  }
  if (std::holds_alternative<TargetRoot>(node.subject)) {
    return "process";
  }
  if (std::holds_alternative<PythonSource>(node.subject)) {
    return "module";
  }
  return std::holds_alternative<Vdso>(node.subject) ? "vdso" : "environment";
}

std::string_view edge_kind(const Graph& graph, const Summary& summary, EdgeId id) {
  const Edge& edge = graph[id];
  if (is_missing(graph[edge.to])) {
    return "missing";
  }
  return summary.cycle[index(id)] ? "cycle" : word(edge.kind);
}

void put_optional_text(Json& into, std::string_view key, const std::optional<std::string>& text) {
  if (text) {
    put_bytes(into, key, *text);
  } else {
    put(into, key, nullptr);
  }
}

Json needed_json(const std::vector<NeededEntry>& needed) {
  Json out = Json::array();
  for (const NeededEntry& entry : needed) {
    Json one = object_of(2);
    put(one, "kind", word(entry.kind));
    put_bytes(one, "name", entry.name);
    out.push_back(std::move(one));
  }
  return out;
}

Json elf_json(const ElfFile& elf) {
  Json out = object_of(16);
  put(out, "class", word_or_null(elf.elf_class));
  put(out, "byte_order", word(elf.byte_order));
  put(out, "os_abi", elf.os_abi);
  put(out, "type", elf.type);
  put(out, "machine", elf.machine);
  put(out, "flags", elf.flags);
  put_text(out, "interpreter", elf.interp);
  put(out, "executable_stack", elf.executable_stack);
  put(out, "dynamic", elf.dynamic.present);
  put_optional_text(out, "rpath", elf.dynamic.rpath);
  put_optional_text(out, "runpath", elf.dynamic.runpath);
  put(out, "needed", needed_json(elf.dynamic.needed));
  put_texts(out, "audit", elf.dynamic.audit);
  put_texts(out, "depaudit", elf.dynamic.depaudit);
  put(out, "dynamic_flags", elf.dynamic.flags);
  put(out, "dynamic_flags_1", elf.dynamic.flags_1);
  return out;
}

// Where a key does not apply it has the value of an object that was never filled.
const ObjectFile& file_or_empty(const Node& node) {
  static const ObjectFile empty;
  const ObjectFile* file = object(node);
  return file == nullptr ? empty : *file;
}

template <class T>
const T& subject_or_empty(const Node& node) {
  static const T empty;
  const T* subject = std::get_if<T>(&node.subject);
  return subject == nullptr ? empty : *subject;
}

Json first_loader(const Trace& trace, const Summary& summary, NodeId id) {
  const auto edge = first_cause_of(trace.graph, id);
  return edge ? id_json(summary, trace.graph[*edge].from) : Json(nullptr);
}

// The keys that only an object fills.
void put_file(Json& out, const Node& node) {
  const bool is_file = object(node) != nullptr;
  const ObjectFile& file = file_or_empty(node);
  const auto only_file = [&](auto value) { return is_file ? Json(value) : Json(nullptr); };
  put_text(out, "path", file.path.text);
  if (const Vdso* vdso = std::get_if<Vdso>(&node.subject)) {
    put_text(out, "soname", vdso->soname);
  } else {
    put_optional_text(out, "soname", file.elf.dynamic.soname);
  }
  put_text(out, "build_id", file.elf.build_id);
  put(out, "device", only_file(file.device));
  put(out, "inode", only_file(file.inode));
}

void put_loading(Json& out, const Node& node) {
  const bool is_file = object(node) != nullptr;
  const ObjectFile& file = file_or_empty(node);
  put(out, "baseline", file.baseline);
  put(out, "loaded", file.loaded);
  put(out, "state", is_file ? word_or_null(file.state) : Json(nullptr));
}

// Null where calls were not counted, or it has no code.
void put_use(Json& out, const Node& node, const Summary& summary, NodeId id) {
  const CalledLibrary* use =
      summary.uses.empty() || object(node) == nullptr ? nullptr : &summary.uses[index(id)];
  put(out, "used", use == nullptr ? Json(nullptr) : Json(use->is_used()));
  put(out, "calls_in", use == nullptr ? Json(nullptr) : Json(use->called));
  put(out, "calls_out", use == nullptr ? Json(nullptr) : Json(use->calls));
  Json callers = Json::array();
  for (std::size_t i = 0; use != nullptr && i < use->callers.size(); ++i) {
    Json one = object_of(2);
    put_bytes(one, "name", use->callers[i].name);
    put(one, "calls", use->callers[i].calls);
    callers.push_back(std::move(one));
  }
  put(out, "called_by", std::move(callers));
}

// Beside what cli.md lists: all that a trace read back needs.
void put_details(Json& out, const Node& node) {
  const bool is_file = object(node) != nullptr;
  const ObjectFile& file = file_or_empty(node);
  const auto* root = std::get_if<TargetRoot>(&node.subject);
  put(out, "pid", root == nullptr ? Json(nullptr) : Json(root->pid));
  put_text(out, "distribution", subject_or_empty<PythonSource>(node).distribution);
  put_text(out, "value", subject_or_empty<EnvironmentOrigin>(node).text);
  put_text(out, "wanted", file.wanted);
  put_text(out, "first_cause", file.first_cause);
  put_text(out, "note", file.note);
  put(out, "in_link_map", file.in_link_map);
  put(out, "link_namespace", is_file ? Json(file.link_namespace) : Json(nullptr));
  put(out, "load_order", or_null(file.load_order));
  put(out, "dlopen_count", is_file ? Json(file.dlopen_count) : Json(nullptr));
  put(out, "bases", file.bases);
  put(out, "elf", is_file ? elf_json(file.elf) : Json(nullptr));
}

}  // namespace

Json search_json(const std::vector<SearchStep>& search) {
  Json out = Json::array();
  for (const SearchStep& step : search) {
    Json one = object_of(6);
    put(one, "place", word_or_null(step.place));
    put_text(one, "directory", step.directory);
    put(one, "outcome", word(step.outcome));
    put_text(one, "setting", step.setting);
    put_text(one, "path", step.path);
    put_text(one, "note", step.note);
    out.push_back(std::move(one));
  }
  return out;
}

namespace {

Json witnesses_json(const std::vector<Witness>& witnesses) {
  Json out = Json::array();
  for (const Witness witness : witnesses) {
    out.push_back(word(witness));
  }
  return out;
}

Json importers_json(const std::vector<Importer>& importers) {
  Json out = Json::array();
  for (const Importer& importer : importers) {
    Json one = Json::object();
    put_bytes(one, "module", importer.module);
    put_text(one, "file", importer.file);
    put(one, "line", importer.line == 0 ? Json(nullptr) : Json(importer.line));
    put(one, "confidence", importer.observed ? "observed" : "inferred");
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

Json object_of(std::size_t keys) {
  Json out = Json::object();
  out.get_ref<Json::object_t&>().reserve(keys);
  return out;
}

void put(Json& into, std::string_view key, Json value) {
  if (into.is_null()) {
    into = Json::object();
  }
  into.get_ref<Json::object_t&>().emplace_back(std::string(key), std::move(value));
}

void put_bytes(Json& into, std::string_view key, std::string_view bytes) {
  if (is_utf8(bytes)) {
    put(into, key, bytes);
    return;
  }
  put(into, key, to_utf8(bytes));
  put(into, std::string(key) + "_hex", hex(bytes));
}

void put_text(Json& into, std::string_view key, std::string_view bytes) {
  if (bytes.empty()) {
    put(into, key, nullptr);
  } else {
    put_bytes(into, key, bytes);
  }
}

void put_texts(Json& into, std::string_view key, const std::vector<std::string>& texts) {
  Json array = Json::array();
  for (const std::string& text : texts) {
    array.push_back(to_utf8(text));
  }
  put(into, key, std::move(array));
  if (!std::all_of(texts.begin(), texts.end(), is_utf8)) {
    Json bytes = Json::array();
    for (const std::string& text : texts) {
      bytes.push_back(hex(text));
    }
    put(into, std::string(key) + "_hex", std::move(bytes));
  }
}

Json document(std::string_view kind) {
  Json out = Json::object();
  put(out, "schema", "tracso/1");
  put(out, "kind", kind);
  put(out, "version", TRACSO_VERSION);
  return out;
}

Json id_json(const Summary& summary, NodeId id) {
  return to_utf8(summary.ids[index(id)]);
}

Json ids_json(const Summary& summary, const std::vector<NodeId>& ids) {
  Json out = Json::array();
  for (const NodeId id : ids) {
    out.push_back(id_json(summary, id));
  }
  return out;
}

Json node_json(const Trace& trace, const Summary& summary, NodeId id) {
  const Node& node = trace.graph[id];
  Json out = object_of(40);
  put(out, "id", id_json(summary, id));
  put_bytes(out, "name", display_name(node));
  put(out, "kind", node_kind(node));
  put_file(out, node);
  put(out, "size", or_null(node.cost.file));
  put(out, "resident", or_null(node.cost.resident));
  put(out, "private", or_null(node.cost.private_bytes));
  put(out, "relocations", or_null(node.cost.relocations));
  put(out, "in_degree", summary.in_degree[index(id)]);
  put(out, "out_degree", summary.out_degree[index(id)]);
  put_loading(out, node);
  put(out, "first_loader", first_loader(trace, summary, id));
  put_texts(out, "modules", subject_or_empty<PythonSource>(node).modules);
  put(out, "sources", ids_json(summary, summary.sources[index(id)]));
  put_details(out, node);
  put_use(out, node, summary, id);
  return out;
}

Json edge_json(const Trace& trace, const Summary& summary, EdgeId id) {
  const Edge& edge = trace.graph[id];
  Json out = object_of(18);
  put(out, "source", id_json(summary, edge.from));
  put(out, "target", id_json(summary, edge.to));
  put(out, "kind", edge_kind(trace.graph, summary, id));
  put_text(out, "needed", edge.needed);
  put(out, "rule", word_or_null(edge.rule));
  put_text(out, "detail", edge.detail);
  put(out, "optional", edge.optional);
  put_text(out, "fatal", edge.fatal);
  put(out, "fragile", edge.fragile);
  put(out, "witnesses", witnesses_json(edge.witnesses));
  put(out, "search", search_json(edge.search));
  put(out, "importers", importers_json(edge.importers));
  put(out, "relation", word(edge.kind));
  put(out, "first", edge.first);
  put_text(out, "restart_would_load", edge.restart_would_load);
  return out;
}

Json command_json(const std::optional<CommandInfo>& command) {
  if (!command) {
    return nullptr;
  }
  Json out = Json::object();
  put_texts(out, "argv", command->argv);
  out["exit_status"] = or_null(command->exit_status);
  out["signal"] = or_null(command->signal);
  out["wall_ns"] = command->wall_ns;
  return out;
}

Json notices_json(const std::vector<Notice>& notices) {
  Json out = Json::array();
  for (const Notice& notice : notices) {
    Json one = Json::object();
    put_bytes(one, "code", notice.code);
    put_bytes(one, "text", notice.text);
    put_text(one, "effect", notice.effect);
    put_text(one, "try", notice.try_);
    out.push_back(std::move(one));
  }
  return out;
}

// JSON lets DEL and the controls U+0080 to U+009F stand as they are; a terminal obeys them. They
// occur in texts only, so the escape may be put in afterwards.
std::string without_controls(std::string text) {
  constexpr std::string_view suspects = "\x7f\xc2";
  if (text.find(suspects[0]) == std::string::npos && text.find(suspects[1]) == std::string::npos) {
    return text;
  }
  std::size_t found = text.find_first_of(suspects);
  std::string out;
  out.reserve(text.size());
  std::size_t kept = 0;
  for (; found != std::string::npos; found = text.find_first_of(suspects, found + 1)) {
    const auto next = found + 1 < text.size() ? static_cast<unsigned char>(text[found + 1]) : 0U;
    const bool is_delete = text[found] == '\x7f';
    if (!is_delete && (next < 0x80 || next > 0x9f)) {
      continue;
    }
    out.append(text, kept, found - kept);
    out += fmt::format("\\u{:04x}", is_delete ? 0x7fU : next);
    kept = found + (is_delete ? 1 : 2);
  }
  return out.append(text, kept);
}

std::string printed(const Json& document, bool compact) {
  const int indent = compact ? -1 : 2;
  return without_controls(document.dump(indent, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace tracso
