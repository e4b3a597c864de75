#include "collect/children.hpp"

#include "base/text.hpp"
#include "proc/maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tracso {
namespace {

using FileKey = std::pair<std::uint64_t, std::uint64_t>;

std::set<FileKey> files_of(const Workspace& work) {
  std::set<FileKey> files;
  for (const auto& object : work.mapped.objects) {
    files.emplace(object.device, object.inode);
  }
  return files;
}

// Files with executable pages that the parent has not mapped, the child's own program left out.
Result<std::size_t> libraries_beyond(const ProcessSource& child, const std::set<FileKey>& parent) {
  const auto text = child.read("maps");
  const auto mappings = text ? proc::parse_maps(*text) : Result<std::vector<Mapping>>(text.error());
  const auto exe = child.read_link("exe");
  std::set<FileKey> beyond;
  if (!mappings) {
    return mappings.error();
  }
  for (const Mapping& mapping : *mappings) {
    const FileKey key{mapping.device, mapping.inode};
    const bool program = exe && mapping.name == *exe;
    if (mapping.executable && mapping.has_file() && !program && parent.count(key) == 0) {
      beyond.insert(key);
    }
  }
  return beyond.size();
}

std::string command_of(const ProcessSource& child) {
  const auto text = child.read("cmdline");
  auto words = text ? proc::parse_nul_list(*text) : std::vector<std::string>();
  if (!words.empty()) {
    return join(words, " ");
  }
  const auto stat = child.read("stat");
  const auto parsed = stat ? proc::parse_stat(*stat) : std::nullopt;
  return parsed ? "(" + parsed->name + ")" : "";
}

// A file is the same node in parent and child; sources of one name are one.
std::string node_key(const Node& node) {
  if (const ObjectFile* file = object(node)) {
    return file->state == ObjectFile::State::missing
               ? "missing:" + file->wanted
               : fmt::format("{}:{}", file->device, file->inode);
  }
  return display_name(node);
}

// Shared pages are the same ones in both; private pages each has for itself.
void add_cost(Cost& into, const Cost& from) {
  if (!into.resident || !into.private_bytes || !from.resident || !from.private_bytes) {
    into.resident = into.private_bytes = std::nullopt;
    return;
  }
  const auto shared = [](const Cost& cost) {
    return *cost.resident - std::min(*cost.resident, *cost.private_bytes);
  };
  const std::uint64_t own = *into.private_bytes + *from.private_bytes;
  into.resident = std::max(shared(into), shared(from)) + own;
  into.private_bytes = own;
}

// Whether bytes of a file that both have are added up: not those of different moments.
enum class Costs : std::uint8_t { add, keep };

void merge(Trace& into, const Trace& from, NodeId root, Costs costs) {
  std::map<std::string, NodeId> known;
  for (std::size_t i = 0; i < into.graph.nodes().size(); ++i) {
    known.emplace(node_key(into.graph.nodes()[i]), static_cast<NodeId>(i));
  }
  std::vector<NodeId> renamed;
  for (const Node& node : from.graph.nodes()) {
    const std::string key = node_key(node);
    auto found = known.find(key);
    if (found == known.end()) {
      const NodeId added = into.graph.add(node.subject);
      into.graph.mutable_node(added).cost = node.cost;
      found = known.emplace(key, added).first;
    } else if (object(node) != nullptr && costs == Costs::add) {
      add_cost(into.graph.mutable_node(found->second).cost, node.cost);
    }
    renamed.push_back(found->second);
  }
  for (Edge edge : from.graph.edges()) {
    edge.from = renamed[index(edge.from)];
    edge.to = renamed[index(edge.to)];
    into.graph.connect(std::move(edge));
  }
  Edge child = edge_between(root, renamed.front(), EdgeKind::origin);
  child.detail = "child process";
  child.witnesses = {Witness::maps};
  into.graph.connect(std::move(child));
}

constexpr const char* unreadable_child = "child-unreadable";

std::string child_title(std::int32_t child) {
  return fmt::format("child {}: ", child);
}

void add_notices(Trace& into, std::vector<Notice> notices, std::int32_t child) {
  for (auto& notice : notices) {
    notice.text = child_title(child) + notice.text;
    into.notices.push_back(std::move(notice));
  }
}

void join_child(Workspace& work, const Target& child) {
  SnapshotOptions options = work.options;
  options.children = false;
  options.child = nullptr;
  options.label.clear();
  auto trace = take_snapshot(child, options);
  if (!trace) {
    work.trace.notices.push_back({unreadable_child,
                                  child_title(child.process->pid()) + trace.error().reason,
                                  "its libraries are not in the graph",
                                  trace.error().hint});
    return;
  }
  add_notices(work.trace, std::move(trace->notices), child.process->pid());
  merge(work.trace, *trace, work.root, Costs::add);
}

void note_uncounted(Workspace& work, std::int32_t child, const Error& error) {
  work.trace.notices.push_back({unreadable_child,
                                child_title(child) + error.reason,
                                "its libraries are counted as none",
                                "run as root"});
}

}  // namespace

void join_ended_child(Trace& trace, const Trace& child) {
  if (!trace.graph.nodes().empty() && child.process) {
    // A zombie when the command was looked at, but it had been seen whole before.
    const std::string title = child_title(child.process->pid);
    std::erase_if(trace.notices, [&](const Notice& notice) {
      return notice.code == unreadable_child && notice.text.starts_with(title);
    });
    add_notices(trace, child.notices, child.process->pid);
    merge(trace, child, NodeId{0}, Costs::keep);
  }
}

void collect_children(Workspace& work) {
  if (!work.options.child) {
    return;
  }
  const std::set<FileKey> parent = files_of(work);
  std::vector<std::int32_t> queue = proc::read_children(*work.target.process);
  for (std::size_t at = 0; at < queue.size() && at < most_descendants; ++at) {
    const auto child = work.options.child(queue[at]);
    if (!child) {
      continue;  // it ended meanwhile
    }
    const auto beyond = libraries_beyond(*child->process, parent);
    work.trace.children.push_back({queue[at], command_of(*child->process), beyond ? *beyond : 0});
    if (!beyond && beyond.error().kind == ErrorKind::denied && !work.options.children) {
      note_uncounted(work, queue[at], beyond.error());
    }
    const auto grandchildren = proc::read_children(*child->process);
    queue.insert(queue.end(), grandchildren.begin(), grandchildren.end());
    if (work.options.children) {
      join_child(work, *child);
    }
  }
}

}  // namespace tracso
