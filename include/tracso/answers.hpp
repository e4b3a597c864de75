#pragma once
// What analysis says of a trace. Renderers print these and compute nothing.

#include "tracso/trace.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracso {

enum class ByteKind : std::uint8_t { file, resident, private_bytes };

struct Totals {
  std::size_t libraries = 0;
  std::uint64_t file = 0;
  std::optional<std::uint64_t> resident,
      private_bytes;  ///< nullopt: not measured for every library
};

/// What a source owns: an equal part of every library it reaches.
struct Package {
  std::string name;  ///< "py:torch._C", "env:LD_PRELOAD", "(unattributed / system)"
  std::string distribution;
  std::optional<NodeId> source;  ///< nullopt: (unattributed / system)
  std::size_t libraries = 0;
  std::uint64_t file = 0;
  std::optional<std::uint64_t> resident, private_bytes;
  double share = 0;  ///< of the total of the ranking bytes; all shares sum to 1
};

struct DependedOn {
  NodeId node{};
  std::size_t in_degree = 0;  ///< objects that need it and sources that load it
  std::size_t packages = 0;   ///< that reach it
};

/// What one import of the program brought in, as --run saw it.
struct ImportCost {
  std::string module;  ///< as imported: "numpy"; empty: not an import, but code of the program
  ImportStep asked;    ///< the outermost step: the line that wrote the import
  std::size_t libraries = 0;
  std::uint64_t file = 0;    ///< bytes of their files
  std::int64_t load_ns = 0;  ///< spent in dlopen
};

/// Who has called a library while --calls counted: a Python package where the calling library
/// belongs to one alone, else that library.
struct LibraryCaller {
  std::string name;
  std::uint64_t calls = 0;
  bool operator==(const LibraryCaller&) const = default;
};

/// How an object was used while --calls counted.
struct CalledLibrary {
  std::uint64_t called = 0;            ///< calls into it
  std::uint64_t calls = 0;             ///< its calls into others: then its code has run, too
  std::vector<LibraryCaller> callers;  ///< most calls first, then by name

  bool is_used() const { return called != 0 || calls != 0; }
};

struct Summary {
  ByteKind by = ByteKind::file;
  Totals totals;
  std::vector<Package> packages;  ///< by bytes, then name; (unattributed / system) last, absent if
                                  ///< it owns no library
  std::vector<DependedOn> libraries;  ///< all counted libraries, by in-degree, then size, then name
  std::vector<NodeId> orphans;        ///< by size
  std::vector<CalledLibrary> uses;    ///< per node; empty: calls were not counted
  std::vector<std::string> notable;   ///< at most four sentences
  std::size_t more_findings = 0;
  std::vector<ImportCost> import_costs;      ///< by bytes, then module; empty without loads
  std::vector<std::string> refusals;         ///< per failed load: what the loader's words mean
  std::vector<std::vector<NodeId>> sources;  ///< per node: the sources that reach it, by name
  std::vector<std::size_t> in_degree, out_degree;  ///< per node, as the document has them
  std::vector<bool> cycle;                         ///< per edge: it closes a cycle
  std::vector<std::string> ids;                    ///< per node: unique in the document
  std::vector<Notice> notices;  ///< what the analysis itself left out; belongs to the trace's own
};

/// One file that did not win.
struct Loser {
  std::string path, place, reason;
};

/// How one library came in.
struct WhyMatch {
  NodeId node{};
  std::vector<std::vector<EdgeId>>
      chains;  ///< from a source or root to the node, shortest first, cut at --depth
  bool chains_cut = false;
  /// Of a lone chain whose upper end --depth cut off: the root or source it hangs on, and how many
  /// steps lie between.
  std::optional<NodeId> cut_from;
  std::size_t steps_cut = 0;
  std::string winner;  ///< the path
  std::vector<Loser> losers;
  std::optional<std::string> restart_would_load;
};

struct WhyAnswer {
  std::string query;
  std::vector<WhyMatch> matches;
  std::vector<std::string> did_you_mean;
};

}  // namespace tracso
