#include "analysis/import_costs.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace tracso {
namespace {

using Key = std::tuple<std::string, std::string, std::uint32_t>;  // module, file, line

/// "numpy" of "numpy.linalg": what is imported first under a name is its package.
std::string top_level(const std::string& module) {
  return module.substr(0, module.find('.'));
}

Key key_of(const ImportStep& step) {
  return {top_level(step.module), step.file, step.line};
}

}  // namespace

std::vector<ImportCost> import_costs(const Trace& trace) {
  std::map<Key, ImportCost> costs;
  std::set<NodeId> counted;
  std::set<std::uint32_t> timed;  // dlopens: their objects share one duration
  for (const Load& load : trace.loads) {
    if (load.imports.empty()) {
      continue;
    }
    const ImportStep& outermost = load.imports.front();
    ImportCost& cost = costs[key_of(outermost)];
    cost.module = top_level(outermost.module);
    cost.asked = outermost;
    if (timed.insert(load.dlopen).second) {
      cost.load_ns += load.duration_ns;
    }
    const ObjectFile* file = object(trace.graph[load.object]);
    if (file != nullptr && file->loaded && counted.insert(load.object).second) {
      ++cost.libraries;
      cost.file += trace.graph[load.object].cost.file.value_or(0);
    }
  }
  std::vector<ImportCost> result;
  for (auto& [key, cost] : costs) {
    result.push_back(std::move(cost));
  }
  std::stable_sort(result.begin(), result.end(), [](const ImportCost& one, const ImportCost& two) {
    return one.file > two.file;
  });
  return result;
}

}  // namespace tracso
