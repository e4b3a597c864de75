#include "collect/preloads.hpp"

#include "base/text.hpp"
#include "collect/missing_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tracso {
namespace {

std::string origin_name(const std::string& origin) {
  const std::string_view kind = origin.starts_with('/')   ? "file:"
                                : origin.starts_with('-') ? "option:"
                                                          : "env:";
  return std::string(kind) + origin;
}

// The variable's value; of an option the names it gives.
std::string origin_text(const Workspace& work,
                        const std::vector<loader::ExtraObject>& extras,
                        const std::string& origin) {
  if (origin.starts_with('-')) {
    std::vector<std::string> names;
    for (const auto& extra : extras) {
      if (extra.origin == origin) {
        names.push_back(extra.name);
      }
    }
    return join(names, ":");
  }
  if (work.facts.environment) {
    for (const auto& [name, value] : *work.facts.environment) {
      if (name == origin) {
        return value;
      }
    }
  }
  return "";
}

// By the names the loader noted, else by path, file name or soname.
std::optional<std::size_t> find_entry_object(const Workspace& work, const std::string& wanted) {
  if (!work.link_maps) {
    return std::nullopt;
  }
  const auto& entries = work.link_maps->entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& names = entries[i].requested;
    if (work.object_of_entry[i] && (entries[i].name == wanted ||
                                    std::find(names.begin(), names.end(), wanted) != names.end())) {
      return work.object_of_entry[i];
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> find_object(const Workspace& work, const std::string& wanted) {
  if (const auto found = find_entry_object(work, wanted)) {
    return found;
  }
  const auto status = wanted.find('/') == std::string::npos ? Result<FileStatus>(Error{})
                                                            : work.target.files->status({wanted});
  for (std::size_t i = 0; i < work.mapped.objects.size(); ++i) {
    const MappedObject& object = work.mapped.objects[i];
    const bool by_file = object.path.text == wanted || (status && status->inode == object.inode);
    const bool by_name =
        wanted.find('/') == std::string::npos &&
        (base_name(object.path.text) == wanted || object.elf.dynamic.soname == wanted);
    if (by_file || by_name) {
      return i;
    }
  }
  return std::nullopt;
}

// A set-user-ID program's loader drops names with a slash, so one that is not there proves nothing.
void note_missing(Workspace& work, const loader::ExtraObject& extra) {
  work.trace.notices.push_back(
      {"preload-missing",
       fmt::format("{} asks for '{}', which is not loaded", extra.origin, extra.name),
       "the loader only warns and goes on without it",
       fmt::format("tracso --why '{}'", extra.name)});
}

void add_extra(Workspace& work,
               MissingNodes& missing,
               const loader::ExtraObject& extra,
               EdgeKind kind,
               NodeId origin) {
  const auto object = find_object(work, extra.name);
  Edge edge =
      edge_between(origin, object ? work.node_of_object[*object] : missing.get(extra.name), kind);
  edge.needed = extra.name;
  edge.rule = object && kind == EdgeKind::preload ? Rule::preload : Rule::none;
  edge.optional = true;
  edge.first = true;
  edge.witnesses = {extra.origin.starts_with("DT_") ? Witness::dynamic_section
                                                    : Witness::environment};
  if (object) {
    edge.witnesses.push_back(work.link_maps ? Witness::link_map : Witness::maps);
    auto& node = work.trace.graph.mutable_node(work.node_of_object[*object]);
    std::get<ObjectFile>(node.subject).first_cause =
        kind == EdgeKind::preload ? "preload" : "audit";
  } else {
    note_missing(work, extra);
  }
  work.trace.graph.connect(std::move(edge));
}

// DT_AUDIT and DT_DEPAUDIT: the program itself asks (ld.so(8), rtld-audit(7)).
void add_audits_of_program(Workspace& work, MissingNodes& missing) {
  if (!work.executable) {
    return;
  }
  const auto add = [&](const std::vector<std::string>& lists, const std::string& origin) {
    for (const auto& list : lists) {
      for (const auto name : split_words(list, ":")) {
        add_extra(work,
                  missing,
                  {std::string(name), origin},
                  EdgeKind::audit,
                  work.node_of_object[*work.executable]);
      }
    }
  };
  const DynamicSection& program = work.mapped.objects[*work.executable].elf.dynamic;
  add(program.audit, "DT_AUDIT");
  add(program.depaudit, "DT_DEPAUDIT");
}

}  // namespace

void add_preloads(Workspace& work, const loader::LoadEnvironment& environment) {
  if (!work.loader && !work.link_maps) {
    return;  // a static program: no loader reads them
  }
  MissingNodes missing(work.trace.graph);
  std::map<std::string, NodeId> origins;
  const auto add_all = [&](const std::vector<loader::ExtraObject>& extras, EdgeKind kind) {
    for (const auto& extra : extras) {
      auto known = origins.find(extra.origin);
      if (known == origins.end()) {
        const NodeId made = work.trace.graph.add(
            EnvironmentOrigin{origin_name(extra.origin), origin_text(work, extras, extra.origin)});
        known = origins.emplace(extra.origin, made).first;
      }
      add_extra(work, missing, extra, kind, known->second);
    }
  };
  add_all(environment.preload, EdgeKind::preload);
  add_all(environment.audit, EdgeKind::audit);
  add_audits_of_program(work, missing);
}

}  // namespace tracso
