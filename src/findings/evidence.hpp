#pragma once
// What every rule looks at.

#include "tracso/problem_facts.hpp"
#include "tracso/trace.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tracso::findings {

class Evidence {
 public:
  Evidence(const Trace& trace, const ProblemFacts& facts);

  const Trace& trace() const { return trace_; }

  const ProblemFacts& facts() const { return facts_; }

  const Graph& graph() const { return trace_.graph; }

  /// Objects that are mapped (of a FILE: found), the program included, in the order of the graph.
  const std::vector<NodeId>& objects() const { return objects_; }

  const ObjectFile& file(NodeId node) const { return *object(trace_.graph[node]); }

  std::string name(NodeId node) const { return display_name(trace_.graph[node]); }

  /// "py:numpy.linalg", by name.
  std::vector<std::string> owners(NodeId node) const;
  /// "libgomp.so.1 (/usr/lib/libgomp.so.1), of py:pkga._a": a line of evidence.
  std::string described(NodeId node) const;

 private:
  const Trace& trace_;
  const ProblemFacts& facts_;
  std::vector<NodeId> objects_;
  std::vector<std::vector<NodeId>> sources_;  // per node
};

/// A finding about these nodes: owners and a line of evidence each.
Finding finding_about(const Evidence& evidence,
                      std::string_view code,
                      Finding::Severity severity,
                      std::string title,
                      const std::vector<NodeId>& nodes);

/// "a, b, c and 4 more".
std::string listed(const std::vector<std::string>& names, std::size_t most = 4);
/// "a and b".
std::string joined_by_and(const std::vector<std::string>& names);

/// The names of the nodes.
std::vector<std::string> names_of(const Evidence& evidence, const std::vector<NodeId>& nodes);

/// "A of libx goes to liby, not to libz": one line per crossed symbol, at most `most`.
void add_crossings(const Evidence& evidence,
                   const std::vector<const Binding*>& bindings,
                   Finding& finding,
                   std::size_t most = 5);

/// What makes two files two libraries: another build, or where that is not known another file.
std::string build_of(const ObjectFile& file);

/// "1 library is", "3 libraries are".
std::string libraries_are(std::size_t count);

}  // namespace tracso::findings
