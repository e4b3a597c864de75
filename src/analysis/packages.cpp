#include "analysis/packages.hpp"

#include "analysis/attribution.hpp"
#include "analysis/bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

namespace tracso {
namespace {

struct Account {
  std::size_t libraries = 0;
  CostSum sum;

  void add(const Cost& cost) {
    ++libraries;
    sum.add(cost);
  }
};

Package package(const Account& account) {
  Package package;
  package.libraries = account.libraries;
  package.file = account.sum.file.known();
  package.resident = account.sum.resident.complete();
  package.private_bytes = account.sum.private_bytes.complete();
  return package;
}

Package package_of(const Graph& graph, NodeId source, const Account& account) {
  Package result = package(account);
  result.name = display_name(graph[source]);
  result.source = source;
  if (const auto* python = std::get_if<PythonSource>(&graph[source].subject)) {
    result.distribution = python->distribution;
  }
  return result;
}

/// Ranked by what was measured, even where that is not all.
class Table {
 public:
  explicit Table(ByteKind by) : by_(by) {}

  void add(Package package, const Account& account) {
    const std::uint64_t bytes = account.sum.of(by_).known();
    total_ += static_cast<double>(bytes);
    rows_.emplace_back(bytes, std::move(package));
  }

  std::vector<Package> take() {
    std::stable_sort(rows_.begin(), rows_.end(), [](const auto& one, const auto& other) {
      if (one.second.source.has_value() != other.second.source.has_value()) {
        return one.second.source.has_value();
      }
      return one.first != other.first ? one.first > other.first
                                      : one.second.name < other.second.name;
    });
    std::vector<Package> packages;
    for (auto& [bytes, package] : rows_) {
      package.share = total_ > 0 ? static_cast<double>(bytes) / total_ : 0;
      packages.push_back(std::move(package));
    }
    return packages;
  }

 private:
  ByteKind by_;
  double total_ = 0;
  std::vector<std::pair<std::uint64_t, Package>> rows_;
};

}  // namespace

std::vector<Package> packages_of(const Graph& graph,
                                 std::span<const NodeId> libraries,
                                 const std::vector<std::vector<NodeId>>& owners,
                                 ByteKind by) {
  std::vector<Account> accounts(graph.nodes().size());
  Account nobody;
  for (const NodeId library : libraries) {
    const std::vector<NodeId>& sources = owners[index(library)];
    const Cost& cost = graph[library].cost;
    for (std::size_t rank = 0; rank < sources.size(); ++rank) {
      accounts[index(sources[rank])].add(share_of(cost, sources.size(), rank));
    }
    if (sources.empty()) {
      nobody.add(cost);
    }
  }
  Table table(by);
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    if (accounts[i].libraries > 0) {
      table.add(package_of(graph, static_cast<NodeId>(i), accounts[i]), accounts[i]);
    }
  }
  if (nobody.libraries > 0) {
    Package unattributed = package(nobody);
    unattributed.name = "(unattributed / system)";
    table.add(std::move(unattributed), nobody);
  }
  return table.take();
}

}  // namespace tracso
