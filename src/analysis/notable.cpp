#include "analysis/notable.hpp"

#include "analysis/bytes.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

namespace tracso {
namespace {

constexpr std::size_t most_sentences = 4;
constexpr std::size_t most_packages_named = 6;  // a sentence stays a sentence
constexpr double heavy_package = 0.30;
constexpr double heavy_library = 0.20;

std::uint64_t size_of(const Trace& trace, NodeId node, ByteKind by) {
  return bytes_of(trace.graph[node].cost, by).value_or(0);
}

std::uint64_t bytes_about(const Trace& trace, const Finding& finding) {
  ByteSum sum;
  for (const NodeId node : finding.nodes) {
    if (index(node) < trace.graph.nodes().size()) {
      sum.add(trace.graph[node].cost.file.value_or(0));
    }
  }
  return sum.known();
}

std::vector<const Finding*> ranked_findings(const Trace& trace) {
  std::vector<std::pair<const Finding*, std::uint64_t>> ranked;
  for (const Finding& finding : trace.findings) {
    if (!is_told_elsewhere(finding.code)) {
      ranked.emplace_back(&finding, bytes_about(trace, finding));
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& one, const auto& other) {
    if (one.first->severity != other.first->severity) {
      return one.first->severity < other.first->severity;
    }
    return one.second > other.second;
  });
  std::vector<const Finding*> findings;
  for (const auto& [finding, bytes] : ranked) {
    findings.push_back(finding);
  }
  return findings;
}

/// Everything needs these: that many packages load them says nothing.
bool is_of_libc(const Node& node) {
  constexpr std::array<std::string_view, 6> names{
      "libc", "libm", "libdl", "libpthread", "librt", "libgcc_s"};
  if (object(node)->role == ObjectFile::Role::loader) {
    return true;
  }
  const std::string name = display_name(node);
  const std::string_view stem = std::string_view(name).substr(0, name.find(".so"));
  return std::find(names.begin(), names.end(), stem) != names.end() ||
         stem.starts_with("ld-linux") || stem.starts_with("ld-musl") || stem == "ld" ||
         stem.starts_with("libc.musl");
}

bool is_python(const Node& node) {
  return std::holds_alternative<PythonSource>(node.subject);
}

/// Python sources with an edge to the library, or whose own extension module has one; by name.
std::vector<std::string> direct_packages(const Graph& graph, NodeId library) {
  std::vector<NodeId> sources;
  for (const EdgeId id : graph.causes_of(library)) {
    const NodeId from = graph[id].from;
    if (is_python(graph[from])) {
      sources.push_back(from);
    } else if (object(graph[from]) != nullptr) {
      for (const EdgeId origin : graph.causes_of(from)) {
        if (graph[origin].kind == EdgeKind::origin && is_python(graph[graph[origin].from])) {
          sources.push_back(graph[origin].from);
        }
      }
    }
  }
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  std::vector<std::string> names;
  for (const NodeId source : sources) {
    names.push_back(display_name(graph[source]));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<Weight> shared_library(const Trace& trace, const Summary& summary) {
  const DependedOn* best = nullptr;
  std::vector<std::string> packages;
  // The table is ranked by in-degree, size and name: of two with as many packages the first wins.
  for (const DependedOn& library : summary.libraries) {
    if (library.packages <= std::max<std::size_t>(1, packages.size()) ||
        is_of_libc(trace.graph[library.node])) {
      continue;
    }
    std::vector<std::string> names = direct_packages(trace.graph, library.node);
    if (names.size() >= 2 && names.size() > packages.size()) {
      best = &library;
      packages = std::move(names);
    }
  }
  if (best == nullptr) {
    return std::nullopt;
  }
  const std::size_t count = packages.size();
  if (count > most_packages_named) {
    packages.resize(most_packages_named);
    packages.emplace_back("...");
  }
  return Weight{"shared-by",
                fmt::format("{} is loaded directly by {} py: packages ({})",
                            display_name(trace.graph[best->node]),
                            count,
                            join(packages, ", ")),
                {best->node}};
}

std::optional<Weight> heavy_package_of(const Summary& summary) {
  const auto heaviest = std::find_if(summary.packages.begin(),
                                     summary.packages.end(),
                                     [](const Package& package) { return package.source; });
  if (heaviest == summary.packages.end() || heaviest->share < heavy_package) {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> bytes = bytes_of(*heaviest, summary.by);
  if (!bytes) {
    return std::nullopt;
  }
  return Weight{"heavy-one",
                fmt::format("{} owns {:.0f}% of the total footprint ({})",
                            heaviest->name,
                            heaviest->share * 100,
                            size_text(*bytes)),
                {*heaviest->source}};
}

/// For a program without Python the words would be true of everything.
std::optional<Weight> orphans(const Trace& trace, const Summary& summary) {
  const auto nodes = trace.graph.nodes();
  if (summary.orphans.empty() || std::none_of(nodes.begin(), nodes.end(), is_python)) {
    return std::nullopt;
  }
  ByteSum sum;
  for (const NodeId orphan : summary.orphans) {
    sum.add(bytes_of(trace.graph[orphan].cost, summary.by));
  }
  return Weight{"orphan",
                fmt::format("{} with no Python origin ({})",
                            counted(summary.orphans.size(), "library", "libraries"),
                            size_text(sum.known())),
                summary.orphans};
}

std::optional<Weight> largest_library(const Trace& trace, const Summary& summary) {
  const std::optional<std::uint64_t> total = bytes_of(summary.totals, summary.by);
  const DependedOn* largest = nullptr;
  std::uint64_t bytes = 0;
  for (const DependedOn& library : summary.libraries) {
    const std::uint64_t size = size_of(trace, library.node, summary.by);
    if (size > bytes) {
      largest = &library;
      bytes = size;
    }
  }
  if (!total || largest == nullptr) {
    return std::nullopt;
  }
  const double share = static_cast<double>(bytes) / static_cast<double>(*total);
  if (share < heavy_library) {
    return std::nullopt;
  }
  return Weight{"heavy-one",
                fmt::format("{} alone is {} ({:.0f}% of the total)",
                            display_name(trace.graph[largest->node]),
                            size_text(bytes),
                            share * 100),
                {largest->node}};
}

}  // namespace

std::vector<Weight> weights(const Trace& trace, const Summary& summary) {
  std::vector<Weight> all;
  for (auto& weight : {shared_library(trace, summary),
                       heavy_package_of(summary),
                       orphans(trace, summary),
                       largest_library(trace, summary)}) {
    if (weight) {
      all.push_back(*weight);
    }
  }
  return all;
}

bool is_told_elsewhere(std::string_view code) {
  return code == "shared-by" || code == "heavy-one" || code == "orphan" || code == "probe-skipped";
}

Notable notable(const Trace& trace, const Summary& summary) {
  Notable result;
  const std::vector<const Finding*> findings = ranked_findings(trace);
  for (std::size_t i = 0; i < std::min(most_sentences, findings.size()); ++i) {
    result.sentences.push_back(findings[i]->title);
  }
  result.more_findings = findings.size() - result.sentences.size();
  for (const Weight& weight : weights(trace, summary)) {
    const auto& told = result.sentences;
    if (told.size() < most_sentences &&
        std::find(told.begin(), told.end(), weight.sentence) == told.end()) {
      result.sentences.push_back(weight.sentence);
    }
  }
  return result;
}

}  // namespace tracso
