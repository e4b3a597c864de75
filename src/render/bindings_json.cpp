#include "render/bindings.hpp"
#include "render/json_parts.hpp"

#include <algorithm>

namespace tracso {
namespace {

Json id_or_null(const Summary& summary, const std::optional<NodeId>& node) {
  return node ? id_json(summary, *node) : Json(nullptr);
}

}  // namespace

std::string bindings_json(const Trace& trace,
                          const Summary& summary,
                          const ProblemFacts& facts,
                          const BindingsChoice& choice) {
  Json all = document("bindings");
  put_text(all, "target", trace.target);
  Json rows = Json::array();
  for (const Binding& binding : facts.bindings) {
    const bool object = choice.objects.empty() ||
                        std::find(choice.objects.begin(), choice.objects.end(), binding.object) !=
                            choice.objects.end();
    if (!object || (!choice.symbol.empty() && choice.symbol != binding.symbol)) {
      continue;
    }
    Json row;
    row["object"] = id_json(summary, binding.object);
    put_bytes(row, "symbol", binding.symbol);
    put_text(row, "version", binding.version);
    row["provider"] = id_or_null(summary, binding.provider);
    row["expected"] = id_or_null(summary, binding.expected);
    row["promised"] = id_or_null(summary, binding.promised);
    row["interposed"] = binding.interposed;
    put_text(row, "usual", binding.usual);
    row["bound"] = binding.bound;
    rows.push_back(std::move(row));
  }
  all["bindings"] = std::move(rows);
  all["notices"] = notices_json(trace.notices);
  return printed(all);
}

std::string unused_json(const Trace& trace, const Summary& summary, const ProblemFacts& facts) {
  Json all = document("unused");
  put_text(all, "target", trace.target);
  Json rows = Json::array();
  for (const LibraryUse& use : facts.uses) {
    const Node& node = trace.graph[use.node];
    Json row;
    row["node"] = id_json(summary, use.node);
    put_text(row, "path", object(node)->path.text);
    row["state"] = word(use.state);
    put_text(row, "reason", use.reason);
    row["functions_imported"] = use.functions;
    row["functions_called"] = use.called;
    row["imported_by"] = ids_json(summary, use.asked_by);
    row["file_bytes"] = or_null(node.cost.file);
    row["resident_bytes"] = or_null(node.cost.resident);
    rows.push_back(std::move(row));
  }
  all["libraries"] = std::move(rows);
  all["notices"] = notices_json(trace.notices);
  return printed(all);
}

}  // namespace tracso
