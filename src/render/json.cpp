#include "graph/trace_words.hpp"
#include "render/forms.hpp"
#include "render/json_parts.hpp"
#include "render/memory_json.hpp"

#include <algorithm>

namespace tracso {
namespace {

Json python_json(const std::optional<PythonInfo>& python) {
  if (!python) {
    return nullptr;
  }
  Json out = Json::object();
  put_text(out, "version", python->version);
  put_text(out, "implementation", python->implementation);
  put_text(out, "probe", python->probe);
  out["modules"] = python->modules;
  return out;
}

Json process_json(const std::optional<ProcessInfo>& process) {
  if (!process) {
    return nullptr;
  }
  Json out = Json::object();
  out["pid"] = process->pid;
  out["start_time"] = process->start_time;
  put_text(out, "exe", process->exe);
  put_texts(out, "command", process->command);
  out["python"] = python_json(process->python);
  return out;
}

Json intrusion_json(const Intrusion& intrusion) {
  Json out = Json::object();
  out["stopped_ns"] = intrusion.stopped_ns;
  out["code_executed"] = intrusion.code_executed;
  put_text(out, "method", intrusion.method);
  return out;
}

Json totals_json(const Totals& totals) {
  Json out = Json::object();
  out["libraries"] = totals.libraries;
  out["file_bytes"] = totals.file;
  out["resident_bytes"] = or_null(totals.resident);
  out["private_bytes"] = or_null(totals.private_bytes);
  return out;
}

Json packages_json(const std::vector<Package>& packages) {
  Json out = Json::array();
  for (const Package& package : packages) {
    Json one = Json::object();
    put_bytes(one, "name", package.name);
    put_text(one, "distribution", package.distribution);
    one["libraries"] = package.libraries;
    one["file_bytes"] = package.file;
    one["resident_bytes"] = or_null(package.resident);
    one["private_bytes"] = or_null(package.private_bytes);
    one["share"] = package.share;
    out.push_back(std::move(one));
  }
  return out;
}

Json modules_json(const std::vector<PythonModule>& modules) {
  Json out = Json::array();
  for (const PythonModule& module : modules) {
    Json one = Json::object();
    put_bytes(one, "name", module.name);
    if (module.file) {
      put_bytes(one, "file", *module.file);
    } else {
      one["file"] = nullptr;
    }
    put_text(one, "origin", module.origin);
    out.push_back(std::move(one));
  }
  return out;
}

Json imports_json(const std::vector<ImportStep>& imports) {
  Json out = Json::array();
  for (const ImportStep& step : imports) {
    Json one = Json::object();
    put_text(one, "module", step.module);
    put_text(one, "importer", step.importer);
    put_text(one, "file", step.file);
    one["line"] = step.line;
    out.push_back(std::move(one));
  }
  return out;
}

Json loads_json(const Trace& trace, const Summary& summary) {
  Json out = Json::array();
  for (const Load& load : trace.loads) {
    Json one = Json::object();
    one["time_ns"] = load.time_ns;
    one["duration_ns"] = load.duration_ns;
    one["object"] = id_json(summary, load.object);
    one["cause"] = load.cause ? id_json(summary, *load.cause) : Json(nullptr);
    one["unloaded_ns"] = or_null(load.unloaded_ns);
    one["imports"] = imports_json(load.imports);
    one["dlopen"] = load.dlopen;
    out.push_back(std::move(one));
  }
  return out;
}

Json failed_loads_json(const Trace& trace, const Summary& summary) {
  Json out = Json::array();
  for (std::size_t i = 0; i < trace.failed_loads.size(); ++i) {
    const FailedLoad& failed = trace.failed_loads[i];
    Json one = Json::object();
    one["time_ns"] = failed.time_ns;
    put_text(one, "name", failed.name);
    put_text(one, "reason", failed.reason);
    put_text(one, "meaning", i < summary.refusals.size() ? summary.refusals[i] : "");
    one["cause"] = failed.cause ? id_json(summary, *failed.cause) : Json(nullptr);
    one["imports"] = imports_json(failed.imports);
    put_text(one, "asked", failed.asked);
    put_text(one, "needed_by", failed.needed_by);
    one["search"] = search_json(failed.search);
    out.push_back(std::move(one));
  }
  return out;
}

Json import_costs_json(const std::vector<ImportCost>& costs) {
  Json out = Json::array();
  for (const ImportCost& cost : costs) {
    Json one = Json::object();
    put_text(one, "module", cost.module);
    put_text(one, "file", cost.asked.file);
    one["line"] = cost.asked.line;
    one["libraries"] = cost.libraries;
    one["file_bytes"] = cost.file;
    one["load_ns"] = cost.load_ns;
    out.push_back(std::move(one));
  }
  return out;
}

Json children_json(const std::vector<ChildInfo>& children) {
  Json out = Json::array();
  for (const ChildInfo& child : children) {
    Json one = Json::object();
    one["pid"] = child.pid;
    put_text(one, "command", child.command);
    one["libraries_beyond_parent"] = or_null(child.libraries_beyond_parent);
    put_texts(one, "beyond", child.beyond);
    out.push_back(std::move(one));
  }
  return out;
}

Json calls_json(const Trace& trace, const Summary& summary) {
  if (!trace.calls) {
    return nullptr;
  }
  Json out = Json::object();
  out["window_ns"] = trace.calls->window_ns;
  out["pairs"] = Json::array();
  for (const CountedCalls& pair : trace.calls->pairs) {
    Json one = Json::object();
    one["caller"] = id_json(summary, pair.caller);
    one["callee"] = id_json(summary, pair.callee);
    one["calls"] = pair.calls;
    out["pairs"].push_back(std::move(one));
  }
  out["elsewhere"] = trace.calls->elsewhere;
  return out;
}

Json findings_json(const Trace& trace, const Summary& summary) {
  Json out = Json::array();
  for (const Finding& finding : trace.findings) {
    Json one = Json::object();
    put_bytes(one, "code", finding.code);
    one["severity"] = word(finding.severity);
    put_bytes(one, "title", finding.title);
    one["nodes"] = ids_json(summary, finding.nodes);
    put_texts(one, "owners", finding.owners);
    put_texts(one, "evidence", finding.evidence);
    put_text(one, "confidence", finding.confidence);
    put_text(one, "what_to_do", finding.what_to_do);
    out.push_back(std::move(one));
  }
  return out;
}

std::string_view ranking_name(ByteKind by) {
  switch (by) {
    case ByteKind::file:
      return "file";
    case ByteKind::resident:
      return "resident";
    case ByteKind::private_bytes:
      return "private";
  }
  return "";
}

// The nodes of a chain, from its beginning to the library.
Json chain_json(const Trace& trace, const Summary& summary, const std::vector<EdgeId>& chain) {
  Json out = Json::array();
  for (const EdgeId edge : chain) {
    if (out.empty()) {
      out.push_back(id_json(summary, trace.graph[edge].from));
    }
    out.push_back(id_json(summary, trace.graph[edge].to));
  }
  return out;
}

// Every edge of every chain once, in the order of the document.
Json chain_edges_json(const Trace& trace, const Summary& summary, const WhyMatch& match) {
  std::vector<EdgeId> edges;
  for (const auto& chain : match.chains) {
    edges.insert(edges.end(), chain.begin(), chain.end());
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  Json out = Json::array();
  for (const EdgeId edge : edges) {
    out.push_back(edge_json(trace, summary, edge));
  }
  return out;
}

Json losers_json(const std::vector<Loser>& losers) {
  Json out = Json::array();
  for (const Loser& loser : losers) {
    Json one = Json::object();
    put_text(one, "path", loser.path);
    put_text(one, "place", loser.place);
    put_text(one, "reason", loser.reason);
    out.push_back(std::move(one));
  }
  return out;
}

Json match_json(const Trace& trace, const Summary& summary, const WhyMatch& match) {
  Json out = Json::object();
  out["node"] = id_json(summary, match.node);
  out["chains"] = Json::array();
  for (const auto& chain : match.chains) {
    out["chains"].push_back(chain_json(trace, summary, chain));
  }
  put_text(out, "winner", match.winner);
  out["losers"] = losers_json(match.losers);
  put_text(out, "restart_would_load", match.restart_would_load.value_or(""));
  out["chains_cut"] = match.chains_cut;
  if (match.cut_from) {
    out["cut_from"] = id_json(summary, *match.cut_from);
  }
  out["edges"] = chain_edges_json(trace, summary, match);
  return out;
}

}  // namespace

Result<std::string> JsonRenderer::trace(const Trace& trace, const Summary& summary) const {
  Json out = document("trace");
  put_bytes(out, "target", trace.target);
  put_text(out, "interpreter", trace.interpreter);
  out["process"] = process_json(trace.process);
  out["command"] = command_json(trace.command);
  out["intrusion"] = intrusion_json(trace.intrusion);
  out["totals"] = totals_json(summary.totals);
  out["memory"] = memory_json(trace.memory);
  out["packages"] = packages_json(summary.packages);
  out["nodes"] = Json::array();
  for (std::size_t i = 0; i < trace.graph.nodes().size(); ++i) {
    out["nodes"].push_back(node_json(trace, summary, NodeId{static_cast<std::uint32_t>(i)}));
  }
  out["edges"] = Json::array();
  for (std::size_t i = 0; i < trace.graph.edges().size(); ++i) {
    out["edges"].push_back(edge_json(trace, summary, EdgeId{static_cast<std::uint32_t>(i)}));
  }
  out["modules"] = modules_json(trace.modules);
  out["loads"] = loads_json(trace, summary);
  out["failed_loads"] = failed_loads_json(trace, summary);
  out["import_costs"] = import_costs_json(summary.import_costs);
  out["children"] = children_json(trace.children);
  out["calls"] = calls_json(trace, summary);
  out["findings"] = findings_json(trace, summary);
  out["notices"] = notices_json(trace.notices);
  out["ranked_by"] = ranking_name(summary.by);
  out["name_depth"] = trace.name_depth;
  out["partial"] = trace.partial;
  return printed(out);
}

Result<std::string> JsonRenderer::why(const Trace& trace,
                                      const Summary& summary,
                                      const WhyAnswer& answer) const {
  Json out = document("why");
  out["notices"] = notices_json(trace.notices);
  put_bytes(out, "target", trace.target);
  put_bytes(out, "query", answer.query);
  out["matches"] = Json::array();
  for (const WhyMatch& match : answer.matches) {
    out["matches"].push_back(match_json(trace, summary, match));
  }
  put_texts(out, "did_you_mean", answer.did_you_mean);
  return printed(out);
}

}  // namespace tracso
