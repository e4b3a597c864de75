#include "collect/loads.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tracso {
namespace {

using launch::LoadCause;
using launch::LoadRecord;

constexpr std::string_view unknown_caller = "dlopen, caller unknown";
constexpr std::string_view unknown_cause = "cause not known";

// "/opt/./x/../libz.so" -> "/opt/libz.so": as the loader has a name is not yet as the kernel has
// it.
std::string tidied(std::string_view name) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(name, '/')) {
    if (part == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (part != "." && !part.empty()) {
      parts.push_back(part);
    }
  }
  std::string path;
  for (const std::string_view part : parts) {
    path += path.empty() && !name.starts_with('/') ? "" : "/";
    path += part;
  }
  return path;
}

// Finds the node of a record: by its load address while it is there, else by its path.
class ObjectsByRecord {
 public:
  explicit ObjectsByRecord(const Graph& graph) : graph_(graph) {
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      const ObjectFile* file = object(graph.nodes()[i]);
      if (file == nullptr || !file->loaded) {
        continue;
      }
      for (const std::uint64_t base : file->bases) {
        by_base_.emplace(base, id);
      }
      by_path_.emplace(file->path.text, id);
      if (file->role == ObjectFile::Role::executable && !executable_) {
        executable_ = id;
      }
    }
  }

  std::optional<NodeId> find(const LoadRecord& record) const {
    if (record.name.empty()) {
      return record.cause == LoadCause::startup ? executable_ : std::nullopt;
    }
    const auto there = record.unloaded ? std::nullopt : by_address(record);
    return there ? there : by_path(record.name);
  }

 private:
  // The load address of a library is the start of its first mapping, except where its first
  // segment does not begin at 0; then its dynamic section lies above the start and the name agrees.
  std::optional<NodeId> by_address(const LoadRecord& record) const {
    const auto exact = by_base_.find(record.base);
    if (exact != by_base_.end()) {
      return exact->second;
    }
    auto above = by_base_.upper_bound(record.dynamic);
    if (above == by_base_.begin()) {
      return std::nullopt;
    }
    const NodeId below = std::prev(above)->second;
    return is_called(below, record.name) ? std::optional(below) : std::nullopt;
  }

  bool is_called(NodeId node, std::string_view name) const {
    const ObjectFile& file = *object(graph_[node]);
    return base_name(file.path.text) == base_name(name) ||
           file.elf.dynamic.soname.value_or("") == base_name(name);
  }

  // A relative name is that of the one file whose path ends so.
  std::optional<NodeId> by_path(const std::string& name) const {
    const std::string path = tidied(name);
    if (path.starts_with('/')) {
      const auto found = by_path_.find(path);
      return found == by_path_.end() ? std::nullopt : std::optional(found->second);
    }
    std::optional<NodeId> only;
    for (const auto& [known, node] : by_path_) {
      if (known.ends_with("/" + path)) {
        if (only) {
          return std::nullopt;
        }
        only = node;
      }
    }
    return only;
  }

  const Graph& graph_;
  std::map<std::uint64_t, NodeId> by_base_;
  std::unordered_map<std::string, NodeId> by_path_;
  std::optional<NodeId> executable_;
};

std::string gone_note(const LoadRecord& record) {
  return record.unloaded ? "it was unloaded again" : "it came in after the look";
}

NodeId add_gone(Graph& graph, const LoadRecord& record) {
  ObjectFile file;
  file.path.text = tidied(record.name);
  file.wanted = record.name;
  file.note = gone_note(record);
  file.first_cause = record.cause == LoadCause::startup  ? "startup"
                     : record.cause == LoadCause::dlopen ? "dlopen"
                                                         : "";
  return graph.add(std::move(file));
}

// The kernel's own object has no file and nobody asks for it.
bool is_vdso(const LoadRecord& record) {
  return record.name.starts_with("linux-vdso.so.") || record.name.starts_with("linux-gate.so.");
}

// libc opens libraries for itself (NSS, gconv); that is no user of it speaking.
bool is_of_loader(const Node& node) {
  const ObjectFile* file = object(node);
  return file != nullptr &&
         (file->role == ObjectFile::Role::loader || display_name(node).starts_with("libc.so"));
}

class History {
 public:
  History(Trace& trace, std::span<const LoadRecord> loads) : trace_(trace), loads_(loads) {
    find_nodes();
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      by_dynamic_[loads_[i].dynamic].push_back(i);
    }
  }

  void fill(std::span<const launch::FailedLoad> failed) {
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      add_load(i);
    }
    const auto explained = std::exchange(trace_.failed_loads, {});
    for (const auto& one : failed) {
      trace_.failed_loads.push_back({one.at.count(),
                                     one.name.empty() ? one.asked : one.name,
                                     one.reason,
                                     node_at(one.requester, one.at),
                                     one.imports,
                                     one.asked});
      add_evidence(trace_.failed_loads.back(), explained);
    }
    trace_.graph = redrawn();
  }

 private:
  // Of a dlopen from the look; of a start from the graph, where the search stands at the edge.
  void add_evidence(FailedLoad& failed, const std::vector<FailedLoad>& explained) const {
    for (const FailedLoad& one : explained) {
      if (!failed.asked.empty() && one.name == failed.name && one.asked == failed.asked) {
        failed.needed_by = one.needed_by;
        failed.search = one.search;
        return;
      }
    }
    for (const Edge& edge : trace_.graph.edges()) {
      const ObjectFile* file = object(trace_.graph[edge.to]);
      const bool missing = file != nullptr && file->state == ObjectFile::State::missing;
      if (failed.asked.empty() && missing && edge.needed == failed.name) {
        const ObjectFile* from = object(trace_.graph[edge.from]);
        failed.needed_by = from == nullptr ? "" : from->path.text;
        failed.search = edge.search;
        return;
      }
    }
  }

  void find_nodes() {
    const ObjectsByRecord objects(trace_.graph);
    std::vector<std::optional<NodeId>> found;
    found.reserve(loads_.size());
    for (const LoadRecord& record : loads_) {
      found.push_back(objects.find(record));
    }
    std::unordered_map<std::string, NodeId> gone;
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      if (!found[i]) {
        const std::string path = tidied(loads_[i].name);
        const auto known = gone.find(path);
        found[i] = known != gone.end() ? known->second : add_gone(trace_.graph, loads_[i]);
        is_gone_.emplace(*found[i], i);
        gone.emplace(path, *found[i]);
      }
      nodes_.push_back(*found[i]);
    }
  }

  // The object whose dynamic section was at that address at that time.
  std::optional<NodeId> node_at(std::uint64_t dynamic, std::chrono::nanoseconds at) const {
    const auto found = by_dynamic_.find(dynamic);
    if (dynamic == 0 || found == by_dynamic_.end()) {
      return std::nullopt;
    }
    std::size_t best = found->second.front();
    for (const std::size_t i : found->second) {
      best = loads_[i].began <= at ? i : best;
    }
    return nodes_[best];
  }

  std::optional<NodeId> requester(std::size_t i) const {
    return node_at(loads_[i].requester, loads_[i].began);
  }

  // The module source of the object, if the record shows that it came as that module.
  std::optional<EdgeId> own_import(std::size_t i) const {
    const LoadRecord& record = loads_[i];
    if (record.cause != LoadCause::dlopen || record.imports.empty()) {
      return std::nullopt;
    }
    for (const EdgeId id : trace_.graph.causes_of(nodes_[i])) {
      const Edge& edge = trace_.graph[id];
      const auto* source = std::get_if<PythonSource>(&trace_.graph[edge.from].subject);
      const bool same =
          source != nullptr &&
          std::find(source->modules.begin(), source->modules.end(), record.imports.back().module) !=
              source->modules.end();
      if (same && edge.kind == EdgeKind::origin) {
        return id;
      }
    }
    return std::nullopt;
  }

  void add_load(std::size_t i) {
    const LoadRecord& record = loads_[i];
    Load load;
    load.time_ns = record.began.count();
    load.duration_ns = (record.ended - record.began).count();
    load.object = nodes_[i];
    const auto import = own_import(i);
    load.cause = import ? std::optional(trace_.graph[*import].from) : requester(i);
    if (record.unloaded) {
      load.unloaded_ns = record.unloaded->count();
    }
    load.imports = record.imports;
    load.dlopen = static_cast<std::uint32_t>(record.dlopen);
    trace_.loads.push_back(std::move(load));
    first_load_.emplace(nodes_[i], i);
    set_first_cause(nodes_[i], record);
    if (import && first_load_[nodes_[i]] == i) {
      observe(trace_.graph.mutable_edge(*import), record.imports.back());
    }
  }

  // Where the loader's own records do not say.
  void set_first_cause(NodeId node, const LoadRecord& record) {
    auto* file = std::get_if<ObjectFile>(&trace_.graph.mutable_node(node).subject);
    if (file != nullptr && file->first_cause.empty() && file->role == ObjectFile::Role::library) {
      file->first_cause = record.cause == LoadCause::startup  ? "startup"
                          : record.cause == LoadCause::dlopen ? "dlopen"
                                                              : "";
    }
  }

  static void observe(Edge& edge, const ImportStep& step) {
    edge.importers = {Importer{step.importer, step.file, step.line, true}};
  }

  // The edges again: each dlopen from its caller, and one for each object that is gone.
  Graph redrawn() const {
    Graph graph;
    for (const Node& node : trace_.graph.nodes()) {
      const NodeId id = graph.add(node.subject);
      graph.mutable_node(id).cost = node.cost;
    }
    for (const Edge& edge : trace_.graph.edges()) {
      graph.connect(with_caller(edge));
    }
    for (const auto& [node, record] : is_gone_) {
      graph.connect(edge_of_gone(node, record));
    }
    return graph;
  }

  // The records of musl do not even say that it was a dlopen.
  static bool lacks_cause(const Edge& edge) {
    return (edge.kind == EdgeKind::dlopen && edge.detail == unknown_caller) ||
           (edge.kind == EdgeKind::origin && edge.detail == unknown_cause);
  }

  Edge with_caller(Edge edge) const {
    const auto load = first_load_.find(edge.to);
    if (!lacks_cause(edge) || load == first_load_.end() ||
        loads_[load->second].cause != LoadCause::dlopen) {
      return edge;
    }
    edge.kind = EdgeKind::dlopen;
    edge.detail = unknown_caller;
    const auto caller = requester(load->second);
    if (caller && *caller != edge.to && !is_of_loader(trace_.graph[*caller])) {
      edge.from = *caller;
      edge.detail.clear();
      edge.witnesses.push_back(Witness::trace);
    }
    if (!loads_[load->second].imports.empty()) {
      observe(edge, loads_[load->second].imports.back());
    }
    return edge;
  }

  Edge edge_of_gone(NodeId node, std::size_t record) const {
    const auto caller = requester(record);
    const bool needed = loads_[record].cause == LoadCause::needed && caller;
    Edge edge = edge_between(
        caller.value_or(NodeId{0}), node, needed ? EdgeKind::needed : EdgeKind::dlopen);
    edge.detail = caller ? "" : unknown_caller;
    edge.first = true;
    edge.witnesses = {Witness::trace};
    if (!needed && !loads_[record].imports.empty()) {
      observe(edge, loads_[record].imports.back());
    }
    return edge;
  }

  Trace& trace_;
  std::span<const LoadRecord> loads_;
  std::vector<NodeId> nodes_;  // of each record
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_dynamic_;
  std::map<NodeId, std::size_t> is_gone_;     // to its first record
  std::map<NodeId, std::size_t> first_load_;  // to its first record
};

}  // namespace

void add_loads(Trace& trace,
               std::span<const launch::LoadRecord> loads,
               std::span<const launch::FailedLoad> failed) {
  std::vector<LoadRecord> records;
  for (const LoadRecord& one : loads) {
    // Without a name: the program, which comes first; behind it musl has the kernel's object so.
    const bool is_kernels = one.name.empty() && !records.empty();
    if (!is_vdso(one) && !is_kernels) {
      records.push_back(one);
    }
  }
  if (!trace.graph.nodes().empty()) {
    History(trace, records).fill(failed);
  }
}

}  // namespace tracso
