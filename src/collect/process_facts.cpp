#include "collect/process_facts.hpp"

#include "base/text.hpp"
#include "proc/maps.hpp"
#include "proc/no_memory.hpp"
#include "proc/root_prefix.hpp"

#include <fmt/format.h>

#include <array>

namespace tracso {
namespace {

std::string without_deleted_mark(std::string path) {
  constexpr std::string_view mark = " (deleted)";
  if (path.ends_with(mark)) {
    path.resize(path.size() - mark.size());
  }
  return path;
}

void read_environment(const ProcessSource& process,
                      ProcessFacts& facts,
                      std::vector<Notice>& notices) {
  auto environ = process.read("environ");
  if (environ && proc::is_environment_intact(*environ)) {
    facts.environment = proc::parse_environment(*environ);
  } else if (environ) {
    notices.push_back({"environment-overwritten",
                       "the process has written over the environment it was started with, as "
                       "programs do that set their own title",
                       "LD_LIBRARY_PATH and LD_PRELOAD are not known; nothing is said of a restart",
                       ""});
  } else {
    notices.push_back({"environment-unreadable",
                       "the environment of the process is not readable",
                       "LD_LIBRARY_PATH and LD_PRELOAD are not known; nothing is said of a restart",
                       "run as its user or as root"});
  }
}

void read_auxv(const ProcessSource& process, ProcessFacts& facts, std::vector<Notice>& notices) {
  const auto text = process.read("auxv");
  auto auxv = text ? proc::parse_auxv(*text) : Result<proc::Auxv>(text.error());
  if (auxv) {
    facts.auxv = *auxv;
  } else {
    notices.push_back({"auxv-unreadable",
                       "the auxiliary vector is not readable",
                       "the loader's own records cannot be found",
                       "run as its user or as root"});
  }
}

// Each of these has something that stands in for it, and would be missed by nobody.
void note_unreadable_links(const ProcessSource& process, std::vector<Notice>& notices) {
  constexpr std::array<std::array<std::string_view, 3>, 3> links{
      {{"exe", "the program", "it is told by the memory map alone"},
       {"cwd", "the working directory", "relative search paths are followed from /"},
       {"root", "the root directory", "files are looked at as this observer sees them"}}};
  for (const auto& [name, what, effect] : links) {
    const auto link = process.read_link(name);
    if (!link && link.error().kind == ErrorKind::denied) {
      notices.push_back(
          {fmt::format("{}-unreadable", name),
           fmt::format("{} of the process cannot be read: {}", what, link.error().reason),
           std::string(effect),
           "run as its user or as root"});
    }
  }
}

void cut_prefix(const std::string& prefix, std::vector<Mapping>& mappings) {
  if (!prefix.empty()) {
    for (auto& mapping : mappings) {
      mapping.name = proc::without_prefix(std::move(mapping.name), prefix);
    }
  }
}

// From here on every path is one that the process itself could use.
void read_paths(const ProcessSource& process, ProcessFacts& facts) {
  const std::string prefix = proc::loading_prefix(process);
  if (auto exe = process.read_link("exe")) {
    facts.exe = proc::without_prefix(without_deleted_mark(std::move(*exe)), prefix);
  }
  if (auto directory = process.read_link("cwd")) {
    facts.working_directory = proc::without_prefix(std::move(*directory), prefix);
  }
  cut_prefix(prefix, facts.mappings);
}

// A recording has both, for a replay asks for either.
Result<std::vector<Mapping>> read_mappings(const ProcessSource& process,
                                           const proc::ProcessStat& stat,
                                           const std::vector<proc::MappingCost>& costs) {
  if (!costs.empty() && process.may_read_ahead()) {
    std::vector<Mapping> mappings;
    mappings.reserve(costs.size());
    for (const auto& cost : costs) {
      mappings.push_back(cost.mapping);
    }
    return mappings;
  }
  auto text = process.read("maps");
  if (!text) {
    Error error = text.error();
    error.action = "read memory map of process";
    error.subject = proc::process_subject(process.pid(), stat);
    return error;
  }
  return proc::parse_maps(*text);
}

}  // namespace

Result<ProcessFacts> read_process_facts(const Target& target,
                                        const std::vector<proc::MappingCost>& costs,
                                        std::vector<Notice>& notices) {
  const ProcessSource& process = *target.process;
  ProcessFacts facts;
  if (const auto stat = process.read("stat")) {
    facts.stat = proc::parse_stat(*stat).value_or(proc::ProcessStat{});
  }
  if (auto error = proc::no_memory("explain process", process.pid(), facts.stat)) {
    return *error;
  }
  auto mappings = read_mappings(process, facts.stat, costs);
  if (!mappings) {
    return mappings.error();
  }
  if (mappings->empty()) {
    return Error{ErrorKind::not_found,
                 "explain process",
                 proc::process_subject(process.pid(), facts.stat),
                 "it is ending: its memory is gone already",
                 ""};
  }
  facts.mappings = std::move(*mappings);
  read_paths(process, facts);
  note_unreadable_links(process, notices);
  if (const auto command = process.read("cmdline")) {
    facts.command = proc::parse_nul_list(*command);
  }
  read_auxv(process, facts, notices);
  read_environment(process, facts, notices);
  return facts;
}

std::vector<Mapping> read_mappings_again(const ProcessSource& process) {
  const auto text = process.read("maps");
  auto mappings = text ? proc::parse_maps(*text) : Result<std::vector<Mapping>>(text.error());
  if (!mappings) {
    return {};
  }
  cut_prefix(proc::loading_prefix(process), *mappings);
  return std::move(*mappings);
}

}  // namespace tracso
