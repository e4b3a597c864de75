#pragma once
// How a picture shows the kinds of nodes and edges.

#include "tracso/answers.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tracso {

/// One kind of node or edge: its name in the legend and its Graphviz attributes.
struct DotLook {
  std::string_view name;
  std::string_view attributes;
};

DotLook node_look(const Node& node);
DotLook edge_look(const Graph& graph, const Summary& summary, EdgeId id);

/// Nearly everything needs it (libc, libm, ld.so, libgcc_s, libstdc++, ...): the short name that
/// stands for an edge to it in a crowded picture; empty: draw the edge.
std::string_view common_library(std::string_view soname);

/// A quoted Graphviz string that shows exactly the text: never markup, an entity or an escape such
/// as \N. Foreign bytes come out as printable() has them.
std::string dot_string(std::string_view text);
/// Lines of one label.
std::string dot_label(std::span<const std::string> lines);

}  // namespace tracso
