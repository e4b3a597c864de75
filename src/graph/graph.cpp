#include "tracso/graph.hpp"

#include "base/own_agent.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace tracso {
namespace {

/// Above this many a repeated witness of an import is appended unseen: a document that repeats one
/// edge a hundred thousand times must not cost the square of it.
constexpr std::size_t compared_importers = 64;

template <class T>
void add_unknown(std::vector<T>& known, std::vector<T>&& more, std::size_t compared) {
  for (auto& one : more) {
    const bool compare = known.size() <= compared;
    if (!compare || std::find(known.begin(), known.end(), one) == known.end()) {
      known.push_back(std::move(one));
    }
  }
}

template <class T>
void fill(T& known, T&& more) {
  if (known.empty()) {
    known = std::move(more);
  }
}

void merge(Edge& known, Edge&& more) {
  add_unknown(known.witnesses, std::move(more.witnesses), std::numeric_limits<std::size_t>::max());
  add_unknown(known.importers, std::move(more.importers), compared_importers);
  if (known.rule == Rule::none) {
    known.rule = more.rule;
  }
  fill(known.detail, std::move(more.detail));
  fill(known.fatal, std::move(more.fatal));
  fill(known.restart_would_load, std::move(more.restart_would_load));
  fill(known.search, std::move(more.search));
  known.first = known.first || more.first;
  known.fragile = known.fragile || more.fragile;
  known.optional = known.optional && more.optional;
}

/// "_ssl.cpython-311-x86_64-linux-gnu.so" -> "_ssl.so", "x.abi3.so" -> "x.so" (PEP 3149).
std::string without_abi_tag(std::string_view name) {
  constexpr std::string_view suffix = ".so";
  if (!name.ends_with(suffix)) {
    return std::string(name);
  }
  const std::string_view stem = name.substr(0, name.size() - suffix.size());
  const std::size_t dot = stem.rfind('.');
  if (dot == std::string_view::npos || dot == 0) {
    return std::string(name);
  }
  const std::string_view tag = stem.substr(dot);
  if (tag != ".abi3" && !tag.starts_with(".cpython-")) {
    return std::string(name);
  }
  return std::string(stem.substr(0, dot)) + std::string(suffix);
}

std::string object_name(const ObjectFile& file) {
  if (file.elf.dynamic.soname && !file.elf.dynamic.soname->empty()) {
    return without_abi_tag(*file.elf.dynamic.soname);
  }
  if (file.path.text.empty()) {
    return std::string(base_name(file.wanted));
  }
  return without_abi_tag(base_name(file.path.text));
}

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

// clang before 17 does not deduce the parameters of an aggregate.
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace

NodeId Graph::add(Subject subject) {
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({.subject = std::move(subject), .cost = {}});
  causes_.emplace_back();
  effects_.emplace_back();
  return id;
}

EdgeId Graph::connect(Edge edge) {
  assert(index(edge.from) < nodes_.size() && index(edge.to) < nodes_.size());
  const auto id = static_cast<EdgeId>(edges_.size());
  const auto [known, is_new] = known_.try_emplace({edge.from, edge.to, edge.kind, edge.needed}, id);
  if (!is_new) {
    merge(edges_[index(known->second)], std::move(edge));
    return known->second;
  }
  effects_[index(edge.from)].push_back(id);
  causes_[index(edge.to)].push_back(id);
  edges_.push_back(std::move(edge));
  return id;
}

std::span<const EdgeId> Graph::causes_of(NodeId effect) const {
  return causes_[index(effect)];
}

std::span<const EdgeId> Graph::effects_of(NodeId cause) const {
  return effects_[index(cause)];
}

Edge edge_between(NodeId from, NodeId to, EdgeKind kind) {
  Edge edge;
  edge.from = from;
  edge.to = to;
  edge.kind = kind;
  return edge;
}

const ObjectFile* object(const Node& node) {
  return std::get_if<ObjectFile>(&node.subject);
}

bool is_library(const Node& node) {
  const ObjectFile* file = object(node);
  return file != nullptr && file->role != ObjectFile::Role::executable;
}

bool is_counted(const Node& node) {
  return is_library(node) && object(node)->state != ObjectFile::State::missing &&
         !is_own_agent(object(node)->path.text);
}

bool is_source(const Node& node) {
  return std::holds_alternative<PythonSource>(node.subject) ||
         std::holds_alternative<EnvironmentOrigin>(node.subject);
}

std::string display_name(const Node& node) {
  return std::visit(
      Overloaded{[](const TargetRoot& root) { return root.label; },
                 [](const ObjectFile& file) { return object_name(file); },
                 [](const PythonSource& python) { return "py:" + python.name; },
                 [](const EnvironmentOrigin& environment) { return environment.name; },
                 [](const Vdso& vdso) { return vdso.soname; }},
      node.subject);
}

}  // namespace tracso
