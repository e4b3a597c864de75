#pragma once
// The one in-memory graph: what is in a process (or would be), and what caused what. All renderers
// read this.

#include "tracso/dynamic_section.hpp"
#include "tracso/search_step.hpp"
#include "tracso/target.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace tracso {

enum class NodeId : std::uint32_t {};  ///< index into Graph::nodes(); nodes are never removed
enum class EdgeId : std::uint32_t {};  ///< index into Graph::edges()

constexpr std::size_t index(NodeId id) {
  return static_cast<std::size_t>(id);
}

constexpr std::size_t index(EdgeId id) {
  return static_cast<std::size_t>(id);
}

/// What was asked for: "pid:4192", "run:python3:4192", "libfoo.so". Roots hang on it. With
/// --children one per process.
struct TargetRoot {
  std::string label;
  std::int32_t pid = 0;  ///< 0: a file, nothing runs
  bool operator==(const TargetRoot&) const = default;
};

/// One ELF file as the kernel sees it: by device and inode of its mapping, never by name.
struct ObjectFile {
  enum class Role : std::uint8_t { executable, library, loader };
  enum class State : std::uint8_t {
    current,    ///< the path still names the mapped file
    deleted,    ///< no file at the path any more (or it never had one: memfd)
    replaced,   ///< another file stands at the path now
    rewritten,  ///< the same inode, but its content changed since it was loaded
    missing     ///< needed, but not found
  };
  Role role = Role::library;
  State state = State::current;
  bool loaded = false;  ///< mapped in a live process
  TargetPath path;      ///< empty: missing
  std::uint64_t device = 0, inode = 0;
  std::string wanted;  ///< of a missing one: the name that was needed
  ElfFile elf;
  std::vector<std::uint64_t> bases;  ///< load addresses (two with dlmopen)
  std::int64_t link_namespace = 0;   ///< lmid of dlmopen; 0: the base list
  bool in_link_map =
      false;  ///< ld.so knows it; false in a live process: mapped by other means, or not known
  std::uint32_t dlopen_count = 0;           ///< l_direct_opencount
  std::optional<std::uint32_t> load_order;  ///< position in ld.so's list
  bool baseline = false;                    ///< in the executable's own closure
  std::string first_cause;  ///< "startup", "dlopen", "preload", "nss", "gconv", "other means";
                            ///< empty: not known
  std::string note;  ///< what a reader should know: "a restart would load /usr/lib/libz.so.1"
  bool operator==(const ObjectFile&) const = default;
};

/// A Python module name cut at --name-depth; the source of the extension modules below it.
struct PythonSource {
  std::string name;                  ///< "numpy.linalg", printed as py:numpy.linalg
  std::vector<std::string> modules;  ///< full names of the extension modules it stands for
  std::string distribution;          ///< "numpy 2.1.0"; empty: not known
  bool operator==(const PythonSource&) const = default;
};

/// LD_PRELOAD, LD_AUDIT or /etc/ld.so.preload.
struct EnvironmentOrigin {
  std::string name;  ///< "env:LD_PRELOAD", "file:/etc/ld.so.preload"
  std::string text;  ///< its value
  bool operator==(const EnvironmentOrigin&) const = default;
};

struct Vdso {
  std::string soname;
  bool operator==(const Vdso&) const = default;
};

using Subject = std::variant<TargetRoot, ObjectFile, PythonSource, EnvironmentOrigin, Vdso>;

/// Bytes; nullopt: not measured.
struct Cost {
  std::optional<std::uint64_t> file, resident, private_bytes, relocations;
  bool operator==(const Cost&) const = default;
};

struct Node {
  Subject subject;
  Cost cost;
  bool operator==(const Node&) const = default;
};

enum class EdgeKind : std::uint8_t {
  origin,       ///< root -> executable, Python module -> its file, child process -> its program
  interpreter,  ///< PT_INTERP
  needed,
  filter,
  auxiliary,
  preload,
  audit,
  dlopen  ///< by whom, where that is known; else from the root
};

enum class Witness : std::uint8_t {
  maps,
  link_map,
  dynamic_section,
  environment,
  sys_modules,
  trace,
  path
};

/// Who in Python wrote the import.
struct Importer {
  std::string module, file;
  std::uint32_t line = 0;
  bool observed = false;  ///< false: inferred
  bool operator==(const Importer&) const = default;
};

/// `from` caused `to`.
struct Edge {
  NodeId from{}, to{};
  EdgeKind kind = EdgeKind::needed;
  std::string needed;  ///< the name as written
  Rule rule = Rule::none;
  std::string
      detail;  ///< the rest: "inherited from exe", "hwcaps x86-64-v3", "soname", "inode", "cwd"
  bool first = false;     ///< this one caused the load; the others also need it
  bool optional = false;  ///< a missing one is no error (DT_AUXILIARY, preload)
  bool fragile =
      false;  ///< alone it would be missing or another file: something loaded earlier saves it
  std::string fatal;  ///< the loader's words where it would stop
  std::string
      restart_would_load;  ///< the file that the rules give now, where it is not the mapped one
  std::vector<Witness> witnesses;
  std::vector<SearchStep> search;
  std::vector<Importer> importers;
  bool operator==(const Edge&) const = default;
};

class Graph {
 public:
  /// Always a new node; who wants one node per file asks find_object first.
  NodeId add(Subject subject);
  /// The edge between the two of that kind and needed name, made if new; else witnesses and
  /// importers are merged and what the known edge lacks is filled in. Both nodes must exist.
  EdgeId connect(Edge edge);

  std::span<const Node> nodes() const { return nodes_; }

  std::span<const Edge> edges() const { return edges_; }

  /// Edges that end or begin at the node, in the order they were made.
  std::span<const EdgeId> causes_of(NodeId effect) const;
  std::span<const EdgeId> effects_of(NodeId cause) const;

  const Node& operator[](NodeId id) const { return nodes_[index(id)]; }

  const Edge& operator[](EdgeId id) const { return edges_[index(id)]; }

  Node& mutable_node(NodeId id) { return nodes_[index(id)]; }

  Edge& mutable_edge(EdgeId id) { return edges_[index(id)]; }

  bool operator==(const Graph& other) const {
    return nodes_ == other.nodes_ && edges_ == other.edges_;
  }

 private:
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<std::vector<EdgeId>> causes_, effects_;
  std::map<std::tuple<NodeId, NodeId, EdgeKind, std::string>, EdgeId> known_;
};

/// A bare edge, to be filled in and connected.
Edge edge_between(NodeId from, NodeId to, EdgeKind kind);

/// The object behind the node, or null.
const ObjectFile* object(const Node& node);
/// A library or loader: what totals, packages and tables count (if loaded, or found for a FILE).
bool is_library(const Node& node);
/// A library or loader that is there: not missing.
bool is_counted(const Node& node);
/// A Python module or LD_PRELOAD and the like: what a library can belong to.
bool is_source(const Node& node);
/// DT_SONAME, else the base name of the path, without a ".cpython-…" or ".abi3" tag;
/// "py:numpy.linalg"; "env:LD_PRELOAD"; the label.
std::string display_name(const Node& node);

}  // namespace tracso
