// More threads, and more heaps for them, than there are processors.

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "findings/families.hpp"
#include "findings/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tracso::findings {
namespace {

using Severity = Finding::Severity;

// Runtimes that start as many threads as they see processors, each for itself.
bool is_maths_runtime(const ObjectFile& file) {
  static constexpr std::array<std::string_view, 3> families{"openmp", "openblas", "tbb"};
  static constexpr std::array<std::string_view, 3> stems{"libblis", "libmkl", "libdnnl"};
  const auto family = family_of(file);
  if (family && std::find(families.begin(), families.end(), family->name) != families.end()) {
    return true;
  }
  const std::string stem = stem_of(file);
  return std::any_of(
      stems.begin(), stems.end(), [&](std::string_view start) { return stem.starts_with(start); });
}

std::string processors(std::size_t count) {
  return counted(count, "processor");
}

bool has_other_allocator(const Evidence& evidence) {
  return std::any_of(evidence.objects().begin(), evidence.objects().end(), [&](NodeId node) {
    const auto family = family_of(evidence.file(node));
    return family && family->name == "allocator";
  });
}

}  // namespace

std::vector<Finding> too_many_threads(const Evidence& evidence) {
  const auto& usable = evidence.facts().processors;
  std::vector<NodeId> nodes;
  std::vector<std::string> lines;
  std::size_t threads = 0;
  std::size_t idle = 0;
  for (const ThreadPool& pool : evidence.facts().pools) {
    if (is_maths_runtime(evidence.file(pool.object))) {
      nodes.push_back(pool.object);
      lines.push_back(fmt::format("{} of {}, {} of them asleep",
                                  counted(pool.threads, "thread"),
                                  evidence.described(pool.object),
                                  pool.idle));
      threads += pool.threads;
      idle += pool.idle;
    }
  }
  if (!usable || threads <= 2 * *usable) {
    return {};
  }
  Finding finding = finding_about(evidence,
                                  "threads-over",
                                  Severity::warning,
                                  fmt::format("{} threads of maths runtimes for {}{}",
                                              threads,
                                              processors(*usable),
                                              idle == threads ? ", idle now" : ""),
                                  nodes);
  finding.evidence = std::move(lines);
  finding.evidence.push_back(fmt::format("the process may use {}", processors(*usable)));
  // By the function that each thread was started with, as it stands on its stack.
  finding.confidence = "inferred";
  return {std::move(finding)};
}

std::vector<Finding> heavy_arenas(const Evidence& evidence) {
  constexpr std::uint64_t percent = 40;
  const auto& arenas = evidence.facts().arenas;
  const auto& usable = evidence.facts().processors;
  if (!arenas || !usable || arenas->count <= 2 * *usable ||
      arenas->resident * 100 <= arenas->of_all * percent || has_other_allocator(evidence)) {
    return {};
  }
  Finding finding = finding_about(evidence,
                                  "arena-heavy",
                                  Severity::note,
                                  fmt::format("{} of {} resident are in {} arenas of malloc",
                                              size_text(arenas->resident),
                                              size_text(arenas->of_all),
                                              arenas->count),
                                  {});
  finding.evidence = {fmt::format(
      "{} arenas, each with free memory of its own, for {}", arenas->count, processors(*usable))};
  finding.confidence = "inferred";  // by where the memory lies
  return {std::move(finding)};
}

}  // namespace tracso::findings
