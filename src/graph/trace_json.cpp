#include "graph/trace_json.hpp"

#include "base/text.hpp"
#include "graph/subject_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <utility>

namespace tracso {
namespace {

constexpr std::size_t largest_trace = std::size_t{256} << 20U;
constexpr std::size_t deepest_trace = 64;

// The ids of the document: edges, loads and findings name nodes by them.
using NodeIds = std::map<std::string, NodeId, std::less<>>;

void read_nodes(const JsonItem& document, Graph& graph, NodeIds& ids) {
  if (document.at("nodes").is_null()) {
    document.at("nodes").wrong("missing");
  }
  for (const JsonItem& item : document.items("nodes")) {
    const JsonItem id_item = item.at("id");
    const std::string_view id = id_item.own_text();
    const NodeId node = graph.add(read_subject(item));
    if (!ids.emplace(id, node).second) {
      id_item.wrong(fmt::format("'{}' is the id of two nodes", id));
    }
    Cost& cost = graph.mutable_node(node).cost;
    cost.file = item.optional_number<std::uint64_t>("size");
    cost.resident = item.optional_number<std::uint64_t>("resident");
    cost.private_bytes = item.optional_number<std::uint64_t>("private");
    cost.relocations = item.optional_number<std::uint64_t>("relocations");
  }
}

NodeId named_node(const JsonItem& id, const NodeIds& ids) {
  const auto found = ids.find(id.own_text());
  if (found == ids.end()) {
    id.wrong(fmt::format("no node has the id '{}'", id.own_text()));
    return NodeId{0};
  }
  return found->second;
}

std::vector<SearchStep> read_search(const JsonItem& edge) {
  std::vector<SearchStep> search;
  for (const JsonItem& item : edge.items("search")) {
    SearchStep step;
    step.place = enumerator(item, "place", Rule::none);
    step.setting = item.text("setting");
    step.directory = item.text("directory");
    step.outcome = enumerator(item, "outcome", SearchStep::Outcome::absent);
    step.path = item.text("path");
    step.note = item.text("note");
    search.push_back(std::move(step));
  }
  return search;
}

std::vector<Importer> read_importers(const JsonItem& edge) {
  std::vector<Importer> importers;
  for (const JsonItem& item : edge.items("importers")) {
    Importer importer;
    importer.module = item.text("module");
    importer.file = item.text("file");
    importer.line = item.number<std::uint32_t>("line");
    importer.observed = item.text("confidence") == "observed";
    importers.push_back(std::move(importer));
  }
  return importers;
}

// "missing" and "cycle" are what an edge is in the document; relation is what made it.
EdgeKind read_edge_kind(const JsonItem& item) {
  const std::string kind = item.text("kind");
  const bool described = kind == "missing" || kind == "cycle";
  if (!item.at("relation").is_null() || described) {
    return enumerator(item, "relation", EdgeKind::needed);
  }
  return enumerator(item, "kind", EdgeKind::needed);
}

void read_edges(const JsonItem& document, Graph& graph, const NodeIds& ids) {
  for (const JsonItem& item : document.items("edges")) {
    Edge edge;
    edge.from = named_node(item.at("source"), ids);
    edge.to = named_node(item.at("target"), ids);
    edge.kind = read_edge_kind(item);
    edge.needed = item.text("needed");
    edge.rule = enumerator(item, "rule", Rule::none);
    edge.detail = item.text("detail");
    edge.first = item.flag("first");
    edge.optional = item.flag("optional");
    edge.fragile = item.flag("fragile");
    edge.fatal = item.text("fatal");
    edge.restart_would_load = item.text("restart_would_load");
    for (const JsonItem& witness : item.items("witnesses")) {
      const auto value = from_word<Witness>(witness.own_text());
      if (!value) {
        witness.wrong(fmt::format("unknown word '{}'", witness.own_text()));
      }
      edge.witnesses.push_back(value.value_or(Witness::maps));
    }
    edge.search = read_search(item);
    edge.importers = read_importers(item);
    if (!graph.nodes().empty()) {
      graph.connect(std::move(edge));
    }
  }
}

std::optional<PythonInfo> read_python(const JsonItem& item) {
  if (item.is_null()) {
    return std::nullopt;
  }
  return PythonInfo{item.text("version"),
                    item.text("implementation"),
                    item.text("probe"),
                    item.number<std::size_t>("modules")};
}

std::optional<ProcessInfo> read_process(const JsonItem& item) {
  if (item.is_null()) {
    return std::nullopt;
  }
  return ProcessInfo{item.number<std::int32_t>("pid"),
                     item.number<std::uint64_t>("start_time"),
                     item.text("exe"),
                     item.texts("command"),
                     read_python(item.at("python"))};
}

std::optional<CommandInfo> read_command(const JsonItem& item) {
  if (item.is_null()) {
    return std::nullopt;
  }
  return CommandInfo{item.texts("argv"),
                     item.optional_number<int>("exit_status"),
                     item.optional_number<int>("signal"),
                     item.number<std::int64_t>("wall_ns")};
}

Intrusion read_intrusion(const JsonItem& item) {
  Intrusion intrusion;
  intrusion.stopped_ns = item.number<std::int64_t>("stopped_ns");
  intrusion.code_executed = item.flag("code_executed");
  intrusion.method = item.text("method");
  return intrusion;
}

// The sums stand in the document for its readers; they are made anew.
std::optional<MemoryByClass> read_memory(const JsonItem& item) {
  if (item.is_null()) {
    return std::nullopt;
  }
  MemoryByClass memory;
  const JsonItem classes = item.at("by_class");
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    const auto what = static_cast<MemoryClass>(i);
    const JsonItem use = classes.at(std::string(memory_class_name(what)).c_str());
    memory[what] = {use.number<std::uint64_t>("mapped"),
                    use.number<std::uint64_t>("resident"),
                    use.number<std::uint64_t>("private"),
                    use.number<std::uint64_t>("dirty"),
                    use.number<std::uint64_t>("swapped")};
  }
  return memory;
}

std::vector<ImportStep> read_imports(const JsonItem& load) {
  std::vector<ImportStep> imports;
  for (const JsonItem& item : load.items("imports")) {
    imports.push_back({item.text("module"),
                       item.text("file"),
                       item.number<std::uint32_t>("line"),
                       item.text("importer")});
  }
  return imports;
}

std::optional<NodeId> read_cause(const JsonItem& item, const NodeIds& ids) {
  return item.at("cause").is_null() ? std::nullopt
                                    : std::optional(named_node(item.at("cause"), ids));
}

std::vector<FailedLoad> read_failed_loads(const JsonItem& document, const NodeIds& ids) {
  std::vector<FailedLoad> failed;
  for (const JsonItem& item : document.items("failed_loads")) {
    failed.push_back({item.number<std::int64_t>("time_ns"),
                      item.text("name"),
                      item.text("reason"),
                      read_cause(item, ids),
                      read_imports(item),
                      item.text("asked"),
                      item.text("needed_by"),
                      read_search(item)});
  }
  return failed;
}

std::vector<Load> read_loads(const JsonItem& document, const NodeIds& ids) {
  std::vector<Load> loads;
  for (const JsonItem& item : document.items("loads")) {
    Load load;
    load.time_ns = item.number<std::int64_t>("time_ns");
    load.duration_ns = item.number<std::int64_t>("duration_ns");
    load.object = named_node(item.at("object"), ids);
    load.cause = read_cause(item, ids);
    load.unloaded_ns = item.optional_number<std::int64_t>("unloaded_ns");
    load.imports = read_imports(item);
    load.dlopen = item.number<std::uint32_t>("dlopen");
    loads.push_back(std::move(load));
  }
  return loads;
}

std::optional<CallWatch> read_calls(const JsonItem& item, const NodeIds& ids) {
  if (item.is_null()) {
    return std::nullopt;
  }
  CallWatch calls;
  calls.window_ns = item.number<std::int64_t>("window_ns");
  for (const JsonItem& pair : item.items("pairs")) {
    calls.pairs.push_back({named_node(pair.at("caller"), ids),
                           named_node(pair.at("callee"), ids),
                           pair.number<std::uint64_t>("calls")});
  }
  calls.elsewhere = item.number<std::uint64_t>("elsewhere");
  return calls;
}

std::vector<Finding> read_findings(const JsonItem& document, const NodeIds& ids) {
  std::vector<Finding> findings;
  for (const JsonItem& item : document.items("findings")) {
    Finding finding;
    finding.code = item.text("code");
    finding.severity = enumerator(item, "severity", Finding::Severity::note);
    finding.title = item.text("title");
    for (const JsonItem& node : item.items("nodes")) {
      finding.nodes.push_back(named_node(node, ids));
    }
    finding.owners = item.texts("owners");
    finding.evidence = item.texts("evidence");
    finding.confidence = item.text("confidence");
    finding.what_to_do = item.text("what_to_do");
    findings.push_back(std::move(finding));
  }
  return findings;
}

void read_lists(const JsonItem& document, Trace& trace) {
  for (const JsonItem& item : document.items("modules")) {
    trace.modules.push_back({item.text("name"), item.optional_text("file"), item.text("origin")});
  }
  for (const JsonItem& item : document.items("children")) {
    trace.children.push_back({item.number<std::int32_t>("pid"),
                              item.text("command"),
                              item.optional_number<std::size_t>("libraries_beyond_parent"),
                              item.texts("beyond")});
  }
  for (const JsonItem& item : document.items("notices")) {
    trace.notices.push_back(
        {item.text("code"), item.text("text"), item.text("effect"), item.text("try")});
  }
}

Trace read_document(const JsonItem& document) {
  Trace trace;
  trace.target = document.text("target");
  trace.interpreter = document.text("interpreter");
  trace.process = read_process(document.at("process"));
  trace.command = read_command(document.at("command"));
  trace.intrusion = read_intrusion(document.at("intrusion"));
  trace.memory = read_memory(document.at("memory"));
  NodeIds ids;
  read_nodes(document, trace.graph, ids);
  read_edges(document, trace.graph, ids);
  trace.loads = read_loads(document, ids);
  trace.failed_loads = read_failed_loads(document, ids);
  trace.calls = read_calls(document.at("calls"), ids);
  trace.findings = read_findings(document, ids);
  read_lists(document, trace);
  trace.name_depth = document.number<std::size_t>("name_depth");
  trace.partial = document.flag("partial");
  return trace;
}

// What is no trace of ours at all, in the words of its own keys.
std::string foreign(const JsonItem& document) {
  const std::string schema = document.text("schema");
  if (schema != "tracso/1") {
    return schema.empty() ? "it has no \"schema\": it is not a document of tracso"
                          : fmt::format("its schema is '{}', not 'tracso/1'", schema);
  }
  const std::string kind = document.text("kind");
  return kind == "trace" ? "" : fmt::format("it is a document of kind '{}', not 'trace'", kind);
}

Error malformed_trace(std::string_view name, std::string reason) {
  return {ErrorKind::malformed,
          "read document",
          std::string(name),
          std::move(reason),
          "tracso --json PID > FILE makes a document that can be read back"};
}

Result<nlohmann::json> parse(std::string_view text, std::string_view name) {
  if (text.size() > largest_trace) {
    return malformed_trace(name, "larger than 256 MB");
  }
  const JsonShape shape = json_shape(text);
  if (shape.depth > deepest_trace) {
    return malformed_trace(name, fmt::format("nested deeper than {} levels", deepest_trace));
  }
  if (shape.values > most_json_values) {
    return malformed_trace(name, fmt::format("more than {} values", most_json_values));
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& problem) {
    return malformed_trace(name, fmt::format("not JSON: it goes wrong at byte {}", problem.byte));
  } catch (const nlohmann::json::exception& problem) {
    return malformed_trace(name, fmt::format("not JSON: {}", problem.what()));
  }
}

}  // namespace

Result<Trace> read_trace_json(std::string_view text, std::string_view name) {
  const Result<nlohmann::json> parsed = parse(text, name);
  if (!parsed) {
    return parsed.error();
  }
  JsonProblem problem;
  const JsonItem document(&parsed.value(), "", &problem);
  const std::string not_ours = parsed->is_object() ? foreign(document) : "not a JSON object";
  if (!not_ours.empty()) {
    return malformed_trace(name, not_ours);
  }
  Trace trace = read_document(document);
  if (problem.any()) {
    return malformed_trace(name, problem.text());
  }
  return trace;
}

}  // namespace tracso
