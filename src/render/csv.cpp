// RFC 4180 with LF. Bytes of names and paths stay as they are, control characters too: a field that
// holds a quote, a comma or a line end is quoted, nothing is rewritten, so that a script gets the
// path that the kernel has.

#include "graph/trace_words.hpp"
#include "render/forms.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <optional>

namespace tracso {
namespace {

constexpr std::string_view columns_line =
    "soname,path,size,in_degree,out_degree,sources,resident,private,kind,state,loaded,baseline,"
    "first_cause,build_id,used,calls_in,calls_out,called_by\n";

std::string number(const std::optional<std::uint64_t>& value) {
  return value ? fmt::format("{}", *value) : "";
}

// Empty where calls were not counted.
std::string use(const Summary& summary, NodeId id) {
  if (summary.uses.empty()) {
    return ",,,";
  }
  const CalledLibrary& use = summary.uses[index(id)];
  std::string callers;
  for (const LibraryCaller& caller : use.callers) {
    callers += (callers.empty() ? "" : ";") + caller.name;
  }
  return fmt::format("{},{},{},{}", use.is_used(), use.called, use.calls, csv_field(callers));
}

std::string row(const Trace& trace, const Summary& summary, NodeId id) {
  const Node& node = trace.graph[id];
  const ObjectFile* file = object(node);
  if (file == nullptr) {
    return "";
  }
  std::string sources;
  for (const NodeId source : summary.sources[index(id)]) {
    sources += (sources.empty() ? "" : ";") + display_name(trace.graph[source]);
  }
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                     csv_field(display_name(node)),
                     csv_field(file->path.text),
                     number(node.cost.file),
                     summary.in_degree[index(id)],
                     summary.out_degree[index(id)],
                     csv_field(sources),
                     number(node.cost.resident),
                     number(node.cost.private_bytes),
                     word(file->role),
                     word(file->state),
                     file->loaded,
                     file->baseline,
                     csv_field(file->first_cause),
                     csv_field(file->elf.build_id),
                     use(summary, id));
}

}  // namespace

Result<std::string> CsvRenderer::trace(const Trace& trace, const Summary& summary) const {
  std::string out(columns_line);
  for (const DependedOn& library : summary.libraries) {
    out += row(trace, summary, library.node);
  }
  return out;
}

Result<std::string> CsvRenderer::why(const Trace& trace,
                                     const Summary& summary,
                                     const WhyAnswer& answer) const {
  std::string out(columns_line);
  for (const WhyMatch& match : answer.matches) {
    out += row(trace, summary, match.node);
  }
  return out;
}

}  // namespace tracso
