#pragma once
// Traces made by hand: a few lines per process, names instead of ids where that reads better.
//
//   TraceBuilder build;                                        // "pid:4192", a live process
//   const NodeId python = build.executable("/usr/bin/python3");
//   const NodeId ssl = build.extension("_ssl", "/lib/_ssl.cpython-311-x86_64-linux-gnu.so", 100);
//   const NodeId openssl = build.library("/lib/libssl.so.3", 4000);
//   build.needs(ssl, openssl);
//   summarize(build.trace, ByteKind::file);

#include "tracso/trace.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracso::test {

Edge make_edge(NodeId from, NodeId to, EdgeKind kind, std::string_view needed = "");

class TraceBuilder {
 public:
  /// A live process: pid 0 makes a FILE trace, in which nothing is loaded.
  explicit TraceBuilder(std::string label = "pid:4192", std::int32_t pid = 4192);

  Trace trace;

  NodeId root() const { return root_; }

  /// The program, hung on the root; later calls only add a program (a child's).
  NodeId executable(std::string_view path, std::uint64_t bytes = 0);
  /// ld.so, as the program's interpreter if there is a program.
  NodeId loader(std::string_view path, std::uint64_t bytes = 0);
  /// A library without any edge; DT_SONAME is the path's base name where that begins with "lib".
  NodeId library(std::string_view path, std::uint64_t bytes = 0);
  /// A library that was needed and not found.
  NodeId missing(std::string_view wanted);
  /// The source of that full or cut name, made if new.
  NodeId python(std::string_view name, std::string_view distribution = "");
  /// An extension module: its file, the source of the module's name and the edge between them.
  NodeId extension(std::string_view module, std::string_view path, std::uint64_t bytes = 0);
  /// "env:LD_PRELOAD" or "file:/etc/ld.so.preload", hung on nothing.
  NodeId environment(std::string_view name, std::string_view text);
  NodeId vdso();

  /// DT_NEEDED of `from` names `to`: by its soname, base name or wanted name.
  EdgeId needs(NodeId from, NodeId to);
  EdgeId connect(NodeId from, NodeId to, EdgeKind kind);

  Edge& edge(EdgeId id) { return trace.graph.mutable_edge(id); }

  ObjectFile& file(NodeId id);

  Cost& cost(NodeId id) { return trace.graph.mutable_node(id).cost; }

 private:
  NodeId object(ObjectFile::Role role, std::string_view path, std::uint64_t bytes);

  NodeId root_{};
  std::optional<NodeId> program_;
  std::uint64_t next_inode_ = 1000;
};

}  // namespace tracso::test
