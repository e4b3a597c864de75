#pragma once
// Small phrases that several forms print.

#include "tracso/answers.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tracso {

/// How many levels of a tree or a chain are drawn each further to the right: the lead of a line
/// grows with its depth, so without a limit a chain of n nodes would cost n squared bytes.
inline constexpr std::size_t deepest_drawn = 256;

/// display_name, harmless for a terminal.
std::string shown_name(const Node& node);

/// Names that tell two files of one name apart: by the piece of the path that the document's ids
/// have.
class DistinctNames {
 public:
  DistinctNames(const Trace& trace, const Summary& summary);

  /// Harmless for a terminal.
  std::string operator()(NodeId node) const;

 private:
  const Trace& trace_;
  const Summary& summary_;
  std::set<std::string> shared_;  // names that more than one file has
};

/// "  (deleted)", "  (replaced on disk)"; empty: the mapped file stands at its path.
std::string_view state_mark(ObjectFile::State state);
/// The node's file bytes as people read them; empty where not known.
std::string shown_size(const Node& node);
/// As RFC 4180 has it: in quotes where it must be.
std::string csv_field(std::string_view field);
/// "-" where not measured.
std::string size_or_dash(const std::optional<std::uint64_t>& bytes);
/// "SIGSEGV", "signal 34" (signal(7), the numbers of x86 and ARM).
std::string signal_name(int number);
/// The place that chose the file, in words: "LD_LIBRARY_PATH entry 2 (detail)"; empty: no rule.
std::string rule_phrase(const Edge& edge);
/// The setting of a search without the folders of the file that has it: "RUNPATH of _ssl.so".
std::string shown_setting(std::string_view setting);
/// The edge that caused the load; nullopt: none is marked.
std::optional<EdgeId> first_cause_of(const Graph& graph, NodeId node);
/// The file's path; empty for what is no file or is missing.
std::string_view path_of(const Node& node);
bool is_missing(const Node& node);
/// A file of a process that was loaded for a while, or after the look.
bool is_gone(const Trace& trace, const Node& node);

}  // namespace tracso
