#include "collect/problem_facts.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace tracso {
namespace {

std::vector<WritableCode> writable_code(const std::vector<Mapping>& mappings) {
  std::vector<WritableCode> found;
  for (const Mapping& mapping : mappings) {
    if (!mapping.writable || !mapping.executable) {
      continue;
    }
    auto known = std::find_if(found.begin(), found.end(), [&](const WritableCode& one) {
      return one.name == mapping.name;
    });
    if (known == found.end()) {
      found.push_back({mapping.name, 0, 0});
      known = std::prev(found.end());
    }
    known->bytes += mapping.end - mapping.start;
    ++known->mappings;
  }
  return found;
}

// "Max open files            1024                 524288               files": the soft limit.
std::optional<std::size_t> descriptor_limit(std::string_view limits) {
  constexpr std::string_view title = "Max open files";
  for (const std::string_view line : split(limits, '\n')) {
    if (line.starts_with(title)) {
      const auto words = split_words(line.substr(title.size()), " ");
      const auto limit = words.empty() ? std::nullopt : parse_unsigned(words.front());
      return limit ? std::optional(static_cast<std::size_t>(*limit)) : std::nullopt;
    }
  }
  return std::nullopt;
}

bool has_variable(const ProcessFacts& facts, std::string_view name) {
  return facts.environment &&
         std::any_of(facts.environment->begin(), facts.environment->end(), [&](const auto& one) {
           return one.first == name && !one.second.empty();
         });
}

}  // namespace

void collect_problem_facts(const Workspace& work,
                           const loader::LoadEnvironment& environment,
                           const FactsOptions& wanted,
                           ProblemFacts& facts) {
  if (!wanted.places) {
    return;
  }
  facts.looked = true;
  facts.user = work.facts.auxv ? static_cast<std::uint32_t>(work.facts.auxv->euid) : 0;
  facts.secure = work.facts.auxv && work.facts.auxv->secure;
  facts.library_path_set = has_variable(work.facts, "LD_LIBRARY_PATH");
  facts.writable_code = writable_code(work.facts.mappings);
  facts.places = find_open_places(work, environment, facts.user);
  if (const auto open = work.target.process->list("fd")) {
    facts.descriptors = open->size();
  }
  if (const auto limits = work.target.process->read("limits")) {
    facts.descriptor_limit = descriptor_limit(*limits);
  }
}

}  // namespace tracso
