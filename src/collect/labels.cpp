#include "collect/labels.hpp"

#include "base/own_agent.hpp"
#include "base/text.hpp"
#include "collect/loader_notices.hpp"
#include "collect/refused.hpp"
#include "collect/requesters.hpp"
#include "collect/target_cpu.hpp"
#include "loader/ld_cache.hpp"
#include "loader/loader_traits.hpp"
#include "loader/search.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

namespace tracso {
namespace {

constexpr std::size_t largest_cache = std::size_t{64} << 20;
constexpr std::size_t most_callers = 256;

// What keeps the rules from having the last word on a restart.
enum class Unknown : std::uint8_t { nothing, environment, directory };

std::string_view words_for(Unknown unknown) {
  return unknown == Unknown::environment
             ? "how it was found is not known: the environment at the start is not"
             : "how it was found is not known: the working directory at its load is not on record";
}

class Labeller {
 public:
  Labeller(Workspace& work,
           const StartFacts& start,
           const Requesters& requesters,
           const loader::LoaderTraits& traits,
           const loader::LdCache* cache)
      : work_(work),
        start_(start),
        requesters_(requesters),
        searcher_({*work.target.files, start.environment, traits, cache},
                  loader::kind_of(work.mapped.objects[*work.executable].elf),
                  *requesters.main) {
    for (std::size_t i = 0; i < work.node_of_object.size(); ++i) {
      object_of_node_[work.node_of_object[i]] = i;
    }
    add_seen_files();
    for (std::size_t i = 0; i < work.object_of_entry.size(); ++i) {
      if (work.object_of_entry[i]) {
        entry_of_object_.emplace(*work.object_of_entry[i], i);
      }
    }
  }

  void label(EdgeId id) {
    const Edge& edge = work_.trace.graph[id];
    switch (edge.kind) {
      case EdgeKind::needed:
      case EdgeKind::filter:
      case EdgeKind::auxiliary:
        label_needed(id);
        break;
      case EdgeKind::preload:
        label_search(id, *requesters_.main, edge.needed);
        work_.trace.graph.mutable_edge(id).rule = is_missing(edge.to) ? Rule::none : Rule::preload;
        break;
      case EdgeKind::audit:
        // The loader itself asks for its auditors.
        label_search(id, *requesters_.of_object[*work_.loader], edge.needed);
        break;
      case EdgeKind::dlopen:
        label_dlopen(id);
        break;
      case EdgeKind::origin:
      case EdgeKind::interpreter:
        break;
    }
  }

  loader::Searcher& searcher() { return searcher_; }

  /// Where the rules and the mapped files differ, but a guess is all that could be made of it.
  void note_unknown() {
    if (own_agent_) {
      work_.trace.notices.push_back({"own-agent",
                                     "the agent of an earlier 'tracso calls -p' is in it",
                                     "it is not counted",
                                     ""});
    }
    if (!without_verdict_.empty()) {
      work_.trace.notices.push_back(
          {"restart-unknown",
           fmt::format("{} looked for relative to a working directory that is not on record, "
                       "first {}",
                       counted(without_verdict_.size(), "library was", "libraries were"),
                       without_verdict_.front()),
           "nothing is said of how they were found, and of a restart",
           ""});
    }
  }

 private:
  // What is mapped has been read. A recording keeps what each question reads: there each opens the
  // file for itself, so that a replay finds it whoever reads first.
  void add_seen_files() {
    if (!work_.target.process->may_read_ahead()) {
      return;
    }
    for (const MappedObject& object : work_.mapped.objects) {
      if (object.status) {
        searcher_.probes().add_seen(
            {object.path.text, object.at_path, *object.status, std::string(object.start())});
      }
    }
  }

  bool is_missing(NodeId node) const { return object_of_node_.count(node) == 0; }

  bool is_file_of(const loader::Found& found, NodeId node) const {
    const auto known = object_of_node_.find(node);
    return known != object_of_node_.end() && found.verdict == loader::Found::Verdict::found &&
           found.status.inode == work_.mapped.objects[known->second].inode;
  }

  std::optional<std::size_t> entry_of(NodeId node) const {
    const auto object = object_of_node_.find(node);
    const auto entry = object == object_of_node_.end() ? entry_of_object_.end()
                                                       : entry_of_object_.find(object->second);
    return entry == entry_of_object_.end() ? std::nullopt : std::optional(entry->second);
  }

  void label_needed(EdgeId id) {
    const Edge& edge = work_.trace.graph[id];
    const auto from = object_of_node_.find(edge.from);
    if (from == object_of_node_.end()) {
      return;
    }
    const loader::Requester& requester = *requesters_.of_object[from->second];
    if (edge.first || is_missing(edge.to)) {
      label_search(id, requester, edge.needed);
      return;
    }
    // Loaded before: the loader did not search. Would the edge stand on its own?
    const auto alone = searcher_.search(requester, edge.needed, loader::Evidence::none);
    Edge& mutable_edge = work_.trace.graph.mutable_edge(id);
    mutable_edge.rule = Rule::already_loaded;
    mutable_edge.fragile = !is_file_of(alone, edge.to) && to_is_searched(edge.to) &&
                           what_is_unknown(edge, alone) == Unknown::nothing;
  }

  // ld.so itself is in the list before anything is searched for: every edge to it is "already
  // loaded".
  bool to_is_searched(NodeId node) const {
    const ObjectFile* file = object(work_.trace.graph[node]);
    return file != nullptr && file->role != ObjectFile::Role::loader;
  }

  // As the loader searched: from the directory in which the process was then, where that is on
  // record.
  loader::Found search_for(const Edge& edge,
                           const loader::Requester& requester,
                           const std::string& name,
                           loader::Evidence evidence) {
    const auto entry = entry_of(edge.to);
    const auto directory = entry ? start_.directory_of_entry[*entry] : std::optional<std::string>();
    if (!directory || *directory == searcher_.working_directory()) {
      return searcher_.search(requester, name, evidence);
    }
    const std::string before = searcher_.working_directory();
    searcher_.set_working_directory(*directory);
    auto found = searcher_.search(requester, name, evidence);
    searcher_.set_working_directory(before);
    return found;
  }

  void label_search(EdgeId id, const loader::Requester& requester, const std::string& name) {
    auto found = search_for(work_.trace.graph[id], requester, name, loader::Evidence::steps);
    Edge& edge = work_.trace.graph.mutable_edge(id);
    edge.search = std::move(found.steps);
    if (is_missing(edge.to)) {
      edge.fatal = found.fatal;
      if (found.verdict == loader::Found::Verdict::found && !is_loader_done()) {
        mark_unreached(edge, found);
      }
      return;
    }
    if (is_file_of(found, edge.to)) {
      edge.rule = found.rule;
      // Of a dlopen the detail says who called.
      edge.detail = edge.kind == EdgeKind::dlopen ? edge.detail : found.detail;
      return;
    }
    contradict(edge, found);
  }

  // false: it was at work, or has given up.
  bool is_loader_done() const { return !work_.link_maps || work_.link_maps->consistent; }

  // It is there, and would have been found: the loader has just not come so far.
  void mark_unreached(Edge& edge, const loader::Found& found) {
    edge.rule = found.rule;
    edge.detail = found.detail;
    auto& file = std::get<ObjectFile>(work_.trace.graph.mutable_node(edge.to).subject);
    if (file.state == ObjectFile::State::missing) {
      file.state = ObjectFile::State::current;
      file.path = found.path;
      file.first_cause = "not reached";
      file.note = "the loader did not come to it";
      edge.first = true;
    }
  }

  // A file that was found, or now would be, by way of a directory that nothing tells.
  Unknown what_is_unknown(const Edge& edge, const loader::Found& found) const {
    if (!start_.environment_known) {
      return Unknown::environment;
    }
    const auto entry = entry_of(edge.to);
    if (entry && is_relative_name(work_.link_maps->entries[*entry].name)) {
      return start_.directory_of_entry[*entry] ? Unknown::nothing : Unknown::directory;
    }
    const bool at_start =
        entry && work_.link_maps->entries[*entry].start == loader::LinkMapEntry::Start::startup;
    const bool is_known = start_.directory && (at_start || !entry);
    return is_relative_name(found.l_name) && !is_known ? Unknown::directory : Unknown::nothing;
  }

  // The records beat the rules: what is mapped was loaded, by whatever rule held then.
  void contradict(Edge& edge, const loader::Found& found) {
    const std::size_t mapped = object_of_node_.at(edge.to);
    const auto& object = work_.mapped.objects[mapped];
    if (const Unknown unknown = what_is_unknown(edge, found); unknown != Unknown::nothing) {
      edge.detail = edge.kind == EdgeKind::dlopen ? edge.detail : words_for(unknown);
      if (is_own_agent(object.path.text)) {
        own_agent_ = true;
      } else if (unknown == Unknown::directory) {
        without_verdict_.push_back(display_name(work_.trace.graph[edge.to]));
      }
      return;
    }
    if (object.elf.dynamic.present && to_is_searched(edge.to)) {
      edge.restart_would_load =
          found.verdict == loader::Found::Verdict::found ? found.path.text : "";
      const bool same_path = edge.restart_would_load == object.path.text;
      auto& node = std::get<ObjectFile>(work_.trace.graph.mutable_node(edge.to).subject);
      node.note = found.verdict != loader::Found::Verdict::found ? "a restart would not find it"
                  : same_path ? "a restart would load the file that stands at its path now"
                              : "a restart would load " + found.path.text;
    }
    for (const auto& step : edge.search) {
      if (step.outcome == SearchStep::Outcome::lost && step.path == object.path.text) {
        edge.rule = step.place;
      }
    }
  }

  // The name that was given to dlopen is in the records; who called is not.
  void label_dlopen(EdgeId id) {
    const auto entry = entry_of(work_.trace.graph[id].to);
    if (!entry) {
      return;
    }
    const auto& names = work_.link_maps->entries[*entry].requested;
    if (!names.empty()) {
      work_.trace.graph.mutable_edge(id).needed = names.front();
      label_search(id, possible_caller(work_.trace.graph[id], names.front()), names.front());
    }
  }

  // The program, unless another object's RUNPATH or $ORIGIN leads to the file and the program's do
  // not.
  const loader::Requester& possible_caller(const Edge& edge, const std::string& name) {
    const auto leads_there = [&](const loader::Requester& requester) {
      return is_file_of(search_for(edge, requester, name, loader::Evidence::none), edge.to);
    };
    const bool has_tokens = loader::has_token(name);
    if (leads_there(*requesters_.main) || (name.find('/') != std::string::npos && !has_tokens)) {
      return *requesters_.main;
    }
    std::set<std::string> tried;
    for (const auto& requester : requesters_.all) {
      const DynamicSection& dynamic = requester.elf->dynamic;
      const std::string key = requester.origin + '\0' + dynamic.runpath.value_or("") + '\0' +
                              dynamic.rpath.value_or("");
      if ((has_tokens || dynamic.runpath || dynamic.rpath) && tried.size() < most_callers &&
          tried.insert(key).second && leads_there(requester)) {
        return requester;
      }
    }
    return *requesters_.main;
  }

  Workspace& work_;
  const StartFacts& start_;
  const Requesters& requesters_;
  loader::Searcher searcher_;
  std::map<NodeId, std::size_t> object_of_node_;
  std::map<std::size_t, std::size_t> entry_of_object_;  // the first entry of each
  std::vector<std::string> without_verdict_;
  bool own_agent_ = false;
};

std::optional<loader::LdCache> read_cache(Workspace& work) {
  auto bytes = loader::read_whole_file(*work.target.files, {"/etc/ld.so.cache"}, largest_cache);
  if (!bytes) {
    work.log("no ld.so.cache: " + bytes.error().reason);
    if (bytes.error().kind != ErrorKind::not_found) {
      note_unreadable_cache(bytes.error().reason, work.trace.notices);
    }
    return std::nullopt;
  }
  auto cache = loader::parse_ld_cache(std::move(*bytes));
  if (!cache) {
    work.trace.notices.push_back({"ld-cache-damaged",
                                  "/etc/ld.so.cache cannot be read: " + cache.error().reason,
                                  "libraries found through it have no rule",
                                  "run ldconfig"});
    return std::nullopt;
  }
  return std::move(*cache);
}

}  // namespace

void label_edges(Workspace& work, const StartFacts& start) {
  if (!work.executable || !work.loader) {
    return;  // static: nobody searches
  }
  const ElfFile& program = work.mapped.objects[*work.executable].elf;
  auto traits = loader::read_loader_traits(
      *work.target.files,
      work.mapped.objects[*work.loader].path,
      loader::kind_of(program),
      loader::with_tunables(cpu_of_target(work.options.cpu), start.environment.tunables));
  loader::choose_hwcaps(
      start.environment.hwcaps_prepend, start.environment.hwcaps_mask, traits.hwcaps);
  note_loader_files(start.environment, traits, work.trace.notices);
  const auto cache = traits.family == loader::LoaderFamily::glibc ? read_cache(work) : std::nullopt;
  const Requesters requesters = make_requesters(work, start);
  Labeller labeller(work, start, requesters, traits, cache ? &*cache : nullptr);
  for (std::size_t i = 0; i < work.trace.graph.edges().size(); ++i) {
    labeller.label(static_cast<EdgeId>(i));
  }
  labeller.note_unknown();
  explain_refused(work, requesters, labeller.searcher());
}

}  // namespace tracso
