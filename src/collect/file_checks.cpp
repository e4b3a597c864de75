#include "collect/file_checks.hpp"

#include "base/text.hpp"
#include "elf/symbols.hpp"
#include "elf/versions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace tracso {
namespace {

constexpr std::size_t most_candidates_looked_at = 500;
constexpr std::size_t most_symbols_named = 3;

std::string name_of(const Trace& trace, NodeId node) {
  return display_name(trace.graph[node]);
}

class VersionCheck {
 public:
  VersionCheck(const Target& target, Trace& trace) : target_(target), trace_(trace) {}

  void run() {
    for (std::size_t i = 0; i < trace_.graph.nodes().size(); ++i) {
      const auto node = static_cast<NodeId>(i);
      const ObjectFile* file = object(trace_.graph[node]);
      if (file == nullptr || file->path.text.empty()) {
        continue;
      }
      // A copy: marking edges must not move what is walked over.
      const std::vector<elf::VersionNeed> needs = versions(file->path).needed;
      for (const auto& need : needs) {
        check(node, need);
      }
    }
  }

 private:
  const elf::Versions& versions(const TargetPath& path) {
    const auto known = versions_.find(path.text);
    if (known != versions_.end()) {
      return known->second;
    }
    elf::Versions read;
    if (const auto file = target_.files->open(path)) {
      if (auto found = elf::read_versions(**file, path.text)) {
        read = std::move(*found);
      }
    }
    return versions_.emplace(path.text, std::move(read)).first->second;
  }

  std::optional<EdgeId> edge_to(NodeId from, const std::string& needed) const {
    for (const EdgeId id : trace_.graph.effects_of(from)) {
      if (trace_.graph[id].kind == EdgeKind::needed && trace_.graph[id].needed == needed) {
        return id;
      }
    }
    return std::nullopt;
  }

  void check(NodeId from, const elf::VersionNeed& need) {
    const auto id = edge_to(from, need.file);
    const ObjectFile* definer = id ? object(trace_.graph[trace_.graph[*id].to]) : nullptr;
    if (definer == nullptr || definer->path.text.empty()) {
      return;  // not needed by that name, or missing altogether: that is said elsewhere
    }
    const auto missing = elf::missing_versions(need, versions(definer->path));
    if (missing.empty()) {
      return;
    }
    trace_.graph.mutable_edge(*id).fatal = fmt::format(
        "version `{}' not found (required by {})", missing.front(), name_of(trace_, from));
    for (const auto& version : missing) {
      note(from, need.file, version, definer->path);
    }
  }

  void note(NodeId from,
            const std::string& file,
            const std::string& version,
            const TargetPath& definer) {
    const std::string requester = object(trace_.graph[from])->path.text;
    const auto symbols = symbols_of(requester, file, version);
    const auto candidate = find_candidate(definer, version);
    trace_.notices.push_back(
        {"missing-version",
         fmt::format("{} needs version {} of {}{}, which {} does not have",
                     name_of(trace_, from),
                     version,
                     file,
                     symbols.empty() ? "" : " (" + symbols + ")",
                     definer.text),
         "the loader stops there" + (candidate ? "; " + *candidate + " has it" : std::string()),
         ""});
  }

  std::string symbols_of(const std::string& requester,
                         const std::string& file,
                         const std::string& version) const {
    const auto opened = target_.files->open({requester});
    auto table = opened ? elf::SymbolTable::open(**opened, requester)
                        : Result<elf::SymbolTable>(opened.error());
    const auto undefined =
        table ? table->undefined() : Result<std::vector<elf::UndefinedSymbol>>(table.error());
    std::vector<std::string> names;
    for (const auto& symbol : undefined ? *undefined : std::vector<elf::UndefinedSymbol>()) {
      if (symbol.file == file && symbol.version == version) {
        names.push_back(symbol.name);
      }
    }
    const std::size_t more =
        names.size() > most_symbols_named ? names.size() - most_symbols_named : 0;
    names.resize(names.size() - more);
    const std::string word = names.size() == 1 && more == 0 ? "symbol " : "symbols ";
    return names.empty()
               ? ""
               : word + join(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
  }

  // Another file of that name nearby: beside its folder, as wheels and build trees lie, or below
  // the folder of what was asked about.
  std::optional<std::string> find_candidate(const TargetPath& definer, const std::string& version) {
    const std::string name(base_name(definer.text));
    std::set<std::string> looked{definer.text};
    for (const auto& base : {std::string(directory_of(directory_of(definer.text))),
                             std::string(directory_of(trace_.interpreter))}) {
      const auto folders = target_.files->list({base});
      for (const auto& folder : folders ? *folders : std::vector<std::string>()) {
        const std::string path = base + "/" + folder + "/" + name;
        if (looked.size() < most_candidates_looked_at && looked.insert(path).second &&
            defines({path}, version)) {
          return path;
        }
      }
    }
    return std::nullopt;
  }

  bool defines(const TargetPath& path, const std::string& version) {
    const auto& defined = versions(path).defined;
    return std::any_of(defined.begin(), defined.end(), [&](const elf::DefinedVersion& one) {
      return !one.base && one.name == version;
    });
  }

  const Target& target_;
  Trace& trace_;
  std::map<std::string, elf::Versions> versions_;
};

// What the search came across and had to pass over says more than "not found".
std::string passed_over(const Edge& edge) {
  for (const auto& step : edge.search) {
    if (step.outcome == SearchStep::Outcome::wrong_class) {
      return fmt::format("; {} is there, but {}",
                         step.path,
                         step.note.empty() ? "for another machine" : "passed over: " + step.note);
    }
    if (step.outcome == SearchStep::Outcome::denied) {
      return fmt::format("; {} is there, but not readable", step.path);
    }
  }
  return "";
}

void note_missing_files(Trace& trace) {
  for (const auto& edge : trace.graph.edges()) {
    const ObjectFile* file = object(trace.graph[edge.to]);
    if (file == nullptr || file->state != ObjectFile::State::missing || edge.optional) {
      continue;
    }
    const std::string who = name_of(trace, edge.from);
    if (!edge.fatal.empty()) {
      trace.notices.push_back({"load-stops",
                               fmt::format("{} needs {}: {}", who, edge.needed, edge.fatal),
                               "the loader stops there",
                               ""});
      continue;
    }
    trace.notices.push_back(
        {"missing-needed",
         fmt::format("{} needs {}, which is not found{}", who, edge.needed, passed_over(edge)),
         "the loader stops there",
         "--why " + edge.needed + " lists the places searched"});
  }
}

void note_executable_stacks(Trace& trace) {
  for (const auto& node : trace.graph.nodes()) {
    const ObjectFile* file = object(node);
    if (file != nullptr && file->elf.executable_stack && file->role == ObjectFile::Role::library) {
      trace.notices.push_back(
          {"executable-stack",
           fmt::format("{} asks for an executable stack", display_name(node)),
           "every thread's stack becomes executable; glibc 2.41 and later refuse to dlopen it",
           "patchelf --clear-execstack, or link it with -z noexecstack"});
    }
  }
}

}  // namespace

void check_file(const Target& target, Trace& trace) {
  note_missing_files(trace);
  VersionCheck(target, trace).run();
  note_executable_stacks(trace);
}

}  // namespace tracso
