#include "collect/needed_edges.hpp"

#include "base/text.hpp"
#include "collect/missing_nodes.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace tracso {
namespace {

EdgeKind edge_kind(NeededEntry::Kind kind) {
  switch (kind) {
    case NeededEntry::Kind::filter:
      return EdgeKind::filter;
    case NeededEntry::Kind::auxiliary:
      return EdgeKind::auxiliary;
    case NeededEntry::Kind::needed:
      break;
  }
  return EdgeKind::needed;
}

Edge needed_edge(NodeId from, NodeId to, const NeededEntry& needed) {
  Edge edge = edge_between(from, to, edge_kind(needed.kind));
  edge.needed = needed.name;
  edge.optional = needed.kind == NeededEntry::Kind::auxiliary;
  edge.witnesses = {Witness::dynamic_section};
  return edge;
}

void add_interpreter_edge(Workspace& work) {
  if (!work.executable || !work.loader) {
    return;
  }
  Edge edge = edge_between(work.node_of_object[*work.executable],
                           work.node_of_object[*work.loader],
                           EdgeKind::interpreter);
  edge.needed = work.mapped.objects[*work.executable].elf.interp;
  edge.rule = Rule::direct;
  edge.first = true;
  edge.witnesses = {Witness::maps};
  work.trace.graph.connect(std::move(edge));
}

// The dynamic section as the reader saw the file; the objects without a file have it from memory
// already.
std::vector<std::optional<DynamicSection>> sections_of_entries(const Workspace& work) {
  std::vector<std::optional<DynamicSection>> sections;
  for (const auto& object : work.object_of_entry) {
    sections.push_back(object ? std::optional(work.mapped.objects[*object].elf.dynamic)
                              : std::nullopt);
  }
  return sections;
}

std::string words_for(loader::NeededMatch::Reason reason) {
  switch (reason) {
    case loader::NeededMatch::Reason::name:
      return "name";
    case loader::NeededMatch::Reason::soname:
      return "soname";
    case loader::NeededMatch::Reason::path:
      return "path";
    case loader::NeededMatch::Reason::none:
      break;
  }
  return "";
}

// Without l_loader the walk itself tells: it goes breadth-first in load order, as the loader did.
bool caused_load(const Workspace& work, const loader::NeededMatch& match) {
  const auto& entry = work.link_maps->entries[*match.target];
  return !work.link_maps->private_fields || entry.requester == match.requester;
}

// Preloads come before everything that is needed, on behalf of the program.
bool is_preloaded(const Workspace& work, std::size_t object) {
  const Node& node = work.trace.graph[work.node_of_object[object]];
  return std::get<ObjectFile>(node.subject).first_cause == "preload";
}

void add_edges_of_records(Workspace& work, MissingNodes& missing) {
  const auto sections = sections_of_entries(work);
  const std::string program =
      work.executable ? work.mapped.objects[*work.executable].path.text : work.facts.exe;
  std::vector<bool> explained(work.mapped.objects.size());
  for (const auto& match : loader::match_needed(*work.link_maps, sections, program)) {
    if (!work.object_of_entry[match.requester]) {
      continue;
    }
    const NeededEntry& needed = sections[match.requester]->needed[match.needed];
    const NodeId from = work.node_of_entry(match.requester);
    std::optional<std::size_t> object;
    if (match.target) {
      object = work.object_of_entry[*match.target];
      if (!object) {
        continue;  // the vDSO, or an entry without a file
      }
    }
    Edge edge =
        needed_edge(from, object ? work.node_of_object[*object] : missing.get(needed.name), needed);
    if (object) {
      edge.witnesses.push_back(Witness::link_map);
      const bool given =
          object == work.executable || object == work.loader || is_preloaded(work, *object);
      edge.first = caused_load(work, match) && !given && !explained[*object];
      explained[*object] = explained[*object] || edge.first;
      edge.detail = edge.first ? "" : words_for(match.reason);
    }
    work.trace.graph.connect(std::move(edge));
  }
}

// Without records sonames tell, and the order in which the loader would have walked.
class EdgesByName {
 public:
  EdgesByName(Workspace& work, MissingNodes& missing) : work_(work), missing_(missing) {
    for (std::size_t i = 0; i < work.mapped.objects.size(); ++i) {
      const MappedObject& object = work.mapped.objects[i];
      const std::string name(base_name(object.path.text));
      by_name_.emplace(object.path.text, i);
      by_name_.emplace(object.elf.dynamic.soname.value_or(name), i);
      by_name_.emplace(name, i);
    }
    queued_.resize(work.mapped.objects.size());
  }

  void add() {
    enqueue(work_.executable);
    for (std::size_t next = 0; next < work_.mapped.objects.size(); ++next) {
      walk();
      enqueue(next);
    }
    walk();
  }

 private:
  void enqueue(std::optional<std::size_t> object) {
    if (object && !queued_[*object]) {
      queued_[*object] = true;
      queue_.push_back(*object);
    }
  }

  void walk() {
    for (; at_ < queue_.size(); ++at_) {
      const std::size_t from = queue_[at_];
      for (const auto& needed : work_.mapped.objects[from].elf.dynamic.needed) {
        add_edge(from, needed);
      }
    }
  }

  std::optional<std::size_t> find(const std::string& name) const {
    auto found = by_name_.find(name);
    if (found == by_name_.end()) {
      found = by_name_.find(std::string(base_name(name)));
    }
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
  }

  void add_edge(std::size_t from, const NeededEntry& needed) {
    const auto to = find(needed.name);
    const NodeId node = to ? work_.node_of_object[*to] : missing_.get(needed.name);
    Edge edge = needed_edge(work_.node_of_object[from], node, needed);
    if (to) {
      edge.witnesses.push_back(Witness::maps);
      edge.first = !queued_[*to] && to != work_.loader && !is_preloaded(work_, *to);
      enqueue(to);
    }
    work_.trace.graph.connect(std::move(edge));
  }

  Workspace& work_;
  MissingNodes& missing_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::vector<bool> queued_;
  std::vector<std::size_t> queue_;
  std::size_t at_ = 0;
};

std::string cause_of_dlopen(const ObjectFile& object) {
  const std::string_view name = base_name(object.path.text);
  if (name.starts_with("libnss_")) {
    return "nss";
  }
  return object.path.text.find("/gconv/") != std::string::npos ? "gconv" : "dlopen";
}

std::string words_for(const std::string& cause) {
  if (cause == "nss") {
    return "dlopen by libc for name lookups (NSS)";
  }
  if (cause == "gconv") {
    return "dlopen by libc for character sets (gconv)";
  }
  if (cause == "other means") {
    return "mapped by other means than ld.so";
  }
  return cause == "dlopen" ? "dlopen, caller unknown" : "cause not known";
}

// What the records say of the object's first cause; empty: nothing, or another object's need
// explains it.
std::string first_cause(const Workspace& work, std::size_t object) {
  if (!work.link_maps) {
    return "";
  }
  const auto& entries = work.link_maps->entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (work.object_of_entry[i] != object || entries[i].proxy) {
      continue;
    }
    if (entries[i].start == loader::LinkMapEntry::Start::dlopened && !entries[i].requester) {
      return "dlopen";
    }
    return entries[i].start == loader::LinkMapEntry::Start::startup ? "startup" : "";
  }
  return "other means";
}

bool is_explained(const Graph& graph, NodeId node) {
  const auto causes = graph.causes_of(node);
  return std::any_of(
      causes.begin(), causes.end(), [&](EdgeId id) { return index(graph[id].from) != 0; });
}

bool has_python_source(const Graph& graph, NodeId node) {
  const auto causes = graph.causes_of(node);
  return std::any_of(causes.begin(), causes.end(), [&](EdgeId id) {
    return graph[id].kind == EdgeKind::origin && is_source(graph[graph[id].from]);
  });
}

void hang_on_root(Workspace& work, NodeId node, const std::string& cause) {
  const bool dlopened = cause == "dlopen" || cause == "nss" || cause == "gconv";
  Edge edge = edge_between(work.root, node, dlopened ? EdgeKind::dlopen : EdgeKind::origin);
  edge.detail = words_for(cause);
  edge.first = true;
  edge.witnesses = {work.link_maps ? Witness::link_map : Witness::maps};
  work.trace.graph.connect(std::move(edge));
}

void explain_object(Workspace& work, std::size_t index) {
  Graph& graph = work.trace.graph;
  const NodeId node = work.node_of_object[index];
  auto& object = std::get<ObjectFile>(graph.mutable_node(node).subject);
  std::string cause = first_cause(work, index);
  cause = cause == "dlopen" ? cause_of_dlopen(object) : cause;
  if (object.first_cause == "audit") {
    return;  // the loader opens its auditors itself, which is on record as a dlopen
  }
  if (object.first_cause.empty()) {
    object.first_cause = cause == "startup" && index == work.executable ? "" : cause;
  }
  const bool dlopened = cause == "dlopen" || cause == "nss" || cause == "gconv";
  if ((dlopened && !has_python_source(graph, node)) || !is_explained(graph, node)) {
    hang_on_root(work, node, cause);
  }
}

}  // namespace

void add_needed_edges(Workspace& work) {
  add_interpreter_edge(work);
  MissingNodes missing(work.trace.graph);
  if (work.link_maps) {
    add_edges_of_records(work, missing);
  } else {
    EdgesByName(work, missing).add();
  }
}

void add_root_edges(Workspace& work) {
  if (work.executable) {
    Edge edge = edge_between(work.root, work.node_of_object[*work.executable], EdgeKind::origin);
    edge.first = true;
    edge.witnesses = {Witness::maps};
    work.trace.graph.connect(std::move(edge));
  }
  for (std::size_t i = 0; i < work.mapped.objects.size(); ++i) {
    if (i != work.executable) {
      explain_object(work, i);
    }
  }
}

void mark_baseline(Graph& graph) {
  std::vector<NodeId> queue;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const ObjectFile* file = object(graph.nodes()[i]);
    if (file != nullptr && file->role == ObjectFile::Role::executable) {
      queue.push_back(static_cast<NodeId>(i));
    }
  }
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const EdgeId id : graph.effects_of(queue[at])) {
      auto* file = std::get_if<ObjectFile>(&graph.mutable_node(graph[id].to).subject);
      const bool followed = graph[id].kind != EdgeKind::dlopen && file != nullptr;
      if (followed && !file->baseline && file->role != ObjectFile::Role::executable &&
          file->state != ObjectFile::State::missing) {
        file->baseline = true;
        queue.push_back(graph[id].to);
      }
    }
  }
}

}  // namespace tracso
