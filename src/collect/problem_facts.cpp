#include "collect/problem_facts.hpp"

#include "base/text.hpp"
#include "collect/late_variables.hpp"
#include "collect/malloc_arenas.hpp"
#include "collect/processors.hpp"
#include "collect/start_facts.hpp"
#include "collect/thread_pools.hpp"
#include "loader/musl_rules.hpp"
#include "proc/smaps.hpp"

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

// The kernel's account of all memory costs more than the map of it: it is asked for only where the
// map alone shows many arenas.
std::optional<MallocArenas> malloc_arenas(const Workspace& work, std::size_t more_than) {
  const auto& mappings = work.facts.mappings;
  const ProcessSource& process = *work.target.process;
  std::size_t count = 0;
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    const Mapping* next = i + 1 < mappings.size() ? &mappings[i + 1] : nullptr;
    count += is_malloc_arena(process, mappings[i], next) ? 1 : 0;
  }
  const auto text = count > more_than ? process.read("smaps") : Result<std::string>(std::string());
  const auto costs =
      text ? proc::parse_smaps(*text) : Result<std::vector<proc::MappingCost>>(text.error());
  MallocArenas arenas;
  for (std::size_t i = 0; costs && i < costs->size(); ++i) {
    arenas.of_all += (*costs)[i].resident;
    const Mapping* next = i + 1 < costs->size() ? &(*costs)[i + 1].mapping : nullptr;
    if (is_malloc_arena(process, (*costs)[i].mapping, next)) {
      ++arenas.count;
      arenas.resident += (*costs)[i].resident;
    }
  }
  return arenas.count == 0 ? std::nullopt : std::optional(arenas);
}

std::vector<std::pair<NodeId, std::string>> relative_names(const Workspace& work) {
  std::vector<std::pair<NodeId, std::string>> found;
  const std::size_t count = work.link_maps ? work.link_maps->entries.size() : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& entry = work.link_maps->entries[i];
    if (work.object_of_entry[i] && work.object_of_entry[i] != work.executable &&
        is_relative_name(entry.name)) {
      std::pair one(work.node_of_entry(i), entry.name);
      if (std::find(found.begin(), found.end(), one) == found.end()) {  // else a copy (dlmopen)
        found.push_back(std::move(one));
      }
    }
  }
  return found;
}

bool is_of_musl(const Workspace& work) {
  return work.executable &&
         base_name(work.mapped.objects[*work.executable].elf.interp).starts_with("ld-musl");
}

// What is a matter of how many threads there are for how many processors.
void add_crowds(const Workspace& work, ProblemFacts& facts) {
  facts.processors = usable_processors(*work.target.process, *work.target.files);
  if (!facts.processors) {
    return;
  }
  const std::size_t many = 2 * *facts.processors;
  if (count_threads(*work.target.process) > many) {
    facts.pools = find_thread_pools(work);
  }
  facts.arenas = malloc_arenas(work, many);
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
  if (environment.library_path && !environment.secure) {
    facts.library_path = is_of_musl(work)
                             ? join(loader::split_musl_path(*environment.library_path), ":")
                             : *environment.library_path;
    facts.library_path_setting = environment.library_path_setting;
  }
  facts.writable_code = writable_code(work.facts.mappings);
  facts.places = find_open_places(work, environment, facts.user);
  facts.relative_names = relative_names(work);
  facts.changed_variables = find_changed_variables(work);
  add_crowds(work, facts);
  if (const auto open = work.target.process->list("fd")) {
    facts.descriptors = open->size();
  }
  if (const auto limits = work.target.process->read("limits")) {
    facts.descriptor_limit = descriptor_limit(*limits);
  }
}

}  // namespace tracso
