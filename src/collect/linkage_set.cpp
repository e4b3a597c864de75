#include "collect/linkage_set.hpp"

#include "collect/mapped_file.hpp"

#include <algorithm>

namespace tracso {
namespace {

bool is_dependency(EdgeKind kind) {
  return kind == EdgeKind::needed || kind == EdgeKind::filter || kind == EdgeKind::auxiliary;
}

}  // namespace

LinkageSet::LinkageSet(const Workspace& work)
    : work_(work),
      tables_(work.mapped.objects.size()),
      closures_(work.mapped.objects.size()),
      object_of_node_(work.trace.graph.nodes().size()) {
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    object_of_node_[index(work.node_of_object[i])] = i;
    read(i);
  }
}

void LinkageSet::read(std::size_t object) {
  const MappedObject& about = work_.mapped.objects[object];
  if (!about.elf.dynamic.present) {
    return;  // a static program asks nobody
  }
  const Mapping& mapping = work_.facts.mappings[about.mappings.front()];
  const MappedRange range{mapping.start, mapping.end, mapping.device, mapping.inode};
  const auto file = open_mapped_object(work_.target, range, about.path);
  auto table =
      file ? elf::Linkage::read(**file, about.path.text) : Result<elf::Linkage>(file.error());
  if (table) {
    tables_[object] = std::move(*table);
  } else {
    work_.log("no symbols of " + about.path.text + ": " + table.error().reason);
    ++unreadable_;
  }
}

std::vector<std::uint64_t> LinkageSet::biases(std::size_t object) const {
  const ObjectFile& file = *tracso::object(work_.trace.graph[work_.node_of_object[object]]);
  if (file.in_link_map) {
    return file.bases;
  }
  return {work_.mapped.objects[object].base - tables_[object]->first_address()};
}

const std::vector<std::size_t>& LinkageSet::closure(std::size_t object) {
  if (closures_[object]) {
    return *closures_[object];
  }
  std::vector<std::size_t> found{object};
  add_needed(found);
  closures_[object] = std::move(found);
  return *closures_[object];
}

// All that these need, breadth first, behind them.
void LinkageSet::add_needed(std::vector<std::size_t>& order) const {
  std::vector<bool> seen(tables_.size());
  for (const std::size_t object : order) {
    seen[object] = true;
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const EdgeId id : work_.trace.graph.effects_of(work_.node_of_object[order[i]])) {
      const Edge& edge = work_.trace.graph[id];
      const auto to = is_dependency(edge.kind) ? object_of(edge.to) : std::nullopt;
      if (to && !seen[*to]) {
        seen[*to] = true;
        order.push_back(*to);
      }
    }
  }
}

const std::vector<std::size_t>& LinkageSet::global_order() {
  if (!global_order_) {
    std::vector<std::size_t> order;
    if (work_.executable) {
      order.push_back(*work_.executable);
    }
    for (const Edge& edge : work_.trace.graph.edges()) {
      const auto to = edge.kind == EdgeKind::preload ? object_of(edge.to) : std::nullopt;
      if (to && std::find(order.begin(), order.end(), *to) == order.end()) {
        order.push_back(*to);
      }
    }
    add_needed(order);
    global_order_ = std::move(order);
  }
  return *global_order_;
}

std::optional<LinkageSet::Found> LinkageSet::expected(std::size_t object,
                                                      const elf::SymbolName& name) {
  const elf::Linkage* own = table(object);
  constexpr std::uint64_t symbolic = 2;  // DF_SYMBOLIC
  if (own != nullptr && (work_.mapped.objects[object].elf.dynamic.flags & symbolic) != 0) {
    if (const auto symbol = own->find(name)) {
      return Found{object, *symbol};
    }
  }
  const auto found = first_in(global_order(), name, 0);
  return found ? found : promised(object, name);
}

std::optional<LinkageSet::Found> LinkageSet::promised(std::size_t object,
                                                      const elf::SymbolName& name) {
  return first_of(object, name, 0);
}

std::optional<LinkageSet::Found> LinkageSet::copied_from(std::size_t object,
                                                         const elf::SymbolName& name) {
  return first_of(object, name, 1);
}

std::optional<LinkageSet::Found> LinkageSet::first_of(std::size_t object,
                                                      const elf::SymbolName& name,
                                                      std::size_t from) {
  return first_in(closure(object), name, from);  // the object itself is the first
}

std::optional<LinkageSet::Found> LinkageSet::first_in(const std::vector<std::size_t>& order,
                                                      const elf::SymbolName& name,
                                                      std::size_t from) const {
  for (std::size_t i = from; i < order.size(); ++i) {
    const elf::Linkage* table = this->table(order[i]);
    const auto symbol = table != nullptr ? table->find(name) : std::nullopt;
    if (symbol) {
      return Found{order[i], *symbol};
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> LinkageSet::object_of(NodeId node) const {
  return index(node) < object_of_node_.size() ? object_of_node_[index(node)] : std::nullopt;
}

}  // namespace tracso
