// One request: is it loaded already, else which file, and may it be loaded at all?

#include "base/text.hpp"
#include "loader/musl_rules.hpp"
#include "loader/resolver_walk.hpp"
#include "loader/tokens.hpp"

#include <elf.h>

#include <iterator>
#include <utility>

namespace tracso::loader {
namespace {

constexpr std::size_t most_objects = std::size_t{1} << 16;
constexpr std::uint64_t df_1_noopen = 0x40;

// The soname of the page of code that the kernel maps into every process.
std::string_view vdso_name(std::uint16_t machine) {
  switch (machine) {
    case EM_386:
      return "linux-gate.so.1";
    case EM_PPC64:
    case EM_S390:
      return "linux-vdso64.so.1";
    case EM_PPC:
      return "linux-vdso32.so.1";
    default:
      return "linux-vdso.so.1";
  }
}

bool is_optional(RequestKind kind) {
  return kind == RequestKind::auxiliary || kind == RequestKind::preload ||
         kind == RequestKind::audit || kind == RequestKind::dlopen;
}

void add_part(std::string& text, std::string_view part) {
  if (!part.empty()) {
    text.append(text.empty() ? "" : ", ").append(part);
  }
}

}  // namespace

std::size_t Resolver::Walk::add_object(ResolvedObject object, std::string origin) {
  const std::size_t index = result.objects.size();
  Requester requester;
  requester.is_main = object.role == ResolvedObject::Role::program;
  requester.name = requester.is_main ? object.path.text : object.l_name;
  requester.origin = std::move(origin);
  requester.elf = object.elf.get();
  requester.loader = object.loader ? &requesters_[*object.loader] : nullptr;
  requesters_.push_back(std::move(requester));
  walked_.push_back(object.role == ResolvedObject::Role::loader ||
                    object.role == ResolvedObject::Role::vdso);
  in_walk_.push_back(false);
  read_ahead_.push_back(false);
  result.objects.push_back(std::move(object));
  brought_by_.emplace_back();
  add_names(index);
  return index;
}

void Resolver::Walk::add_names(std::size_t index) {
  const ResolvedObject& object = result.objects[index];
  LoadedList& list = lists_[object.link_namespace];
  // musl compares short names only, see take().
  if (!is_musl()) {
    list.add_name(index, object.l_name);
    if (const auto& soname = object.elf->dynamic.soname) {
      list.add_name(index, *soname, MatchedBy::soname);
    }
  }
  // The kernel maps the program: glibc does not know its file then, musl never compares it.
  if (object.role != ResolvedObject::Role::program || environment_.interpreter) {
    list.add_file(index, object.status);
  }
}

// Tokens of needed names are expanded before anything is compared.
std::optional<std::string> Resolver::Walk::expanded(const Request& request,
                                                    ResolvedEdge& edge) const {
  if (request.kind == RequestKind::preload || is_musl() || !has_token(request.name)) {
    return std::string(request.name);
  }
  std::string words = "empty dynamic string token substitution";
  if (environment_.secure && request.kind != RequestKind::dlopen) {
    words = "DST not allowed in SUID/SGID programs";
  } else if (auto name = searcher_->expand(requesters_[request.requester], request.name);
             name && !name->empty()) {
    return name;
  }
  edge.fatal = words;
  return std::nullopt;
}

void Resolver::Walk::note_loaded(ResolvedEdge& edge, std::size_t object, std::string_view how) {
  edge.to = object;
  edge.rule = Rule::already_loaded;
  edge.detail.clear();
  if (object == loader_) {
    add_part(edge.detail, "interpreter");
  }
  add_part(edge.detail, brought_by_[object]);
  add_part(edge.detail, how);
  const ResolvedObject& known = result.objects[object];
  edge.search.insert(edge.search.begin(),
                     {Rule::already_loaded,
                      "list of loaded objects",
                      {},
                      SearchStep::Outcome::found,
                      known.l_name.empty() ? known.path.text : known.l_name,
                      edge.detail});
}

bool Resolver::Walk::match_vdso(std::string_view name, ResolvedEdge& edge) {
  if (name != vdso_name(result.objects.front().elf->machine)) {
    return false;
  }
  ResolvedObject vdso;
  vdso.role = ResolvedObject::Role::vdso;
  vdso.l_name = name;
  vdso.elf = std::make_shared<const ElfFile>();
  note_loaded(edge, add_object(std::move(vdso), ""), "vdso");
  return true;
}

bool Resolver::Walk::match_musl(const Request& request, ResolvedEdge& edge) {
  if (is_musl_reserved(request.name) && loader_) {
    auto found = searcher_->search(requesters_[request.requester], request.name, Evidence::steps);
    edge.to = loader_;
    edge.rule = found.rule;
    edge.search = std::move(found.steps);
    return true;
  }
  if (request.name.find('/') != std::string_view::npos) {
    return false;
  }
  const auto match = lists_[request.link_namespace].find(request.name);
  if (!match) {
    return false;
  }
  note_loaded(edge, match->object, "");
  return true;
}

bool Resolver::Walk::match_loaded(const Request& request,
                                  std::string_view name,
                                  ResolvedEdge& edge) {
  if (is_musl()) {
    return match_musl(request, edge);
  }
  const auto match = lists_[request.link_namespace].find(name);
  if (!match) {
    return match_vdso(name, edge);
  }
  note_loaded(edge, match->object, match->by == MatchedBy::soname ? "soname" : "");
  return true;
}

// Why the loader would not have this file as a library; empty: it would.
std::string_view Resolver::Walk::refusal(const ElfFile& file, RequestKind kind) const {
  if (is_musl()) {
    return file.type == ET_DYN && file.dynamic.present ? "" : "Exec format error";
  }
  if (file.type == ET_EXEC) {
    return "cannot dynamically load executable";
  }
  if (!file.dynamic.present) {
    return "object file has no dynamic section";
  }
  if ((file.dynamic.flags_1 & df_1_pie) != 0) {
    return "cannot dynamically load position-independent executable";
  }
  if ((file.dynamic.flags_1 & df_1_noopen) != 0 && kind == RequestKind::dlopen) {
    return "shared object cannot be dlopen()ed";
  }
  return "";
}

// Alone, with nothing loaded before: would this edge end at the same file?
void Resolver::Walk::check_fragile(const Request& request,
                                   const std::string& name,
                                   ResolvedEdge& edge) {
  const ResolvedObject& object = result.objects[*edge.to];
  if (object.role != ResolvedObject::Role::library) {
    return;
  }
  const Requester& requester = requesters_[request.requester];
  const auto alone = searcher_->search(requester, name, Evidence::none);
  edge.fragile =
      alone.verdict != Found::Verdict::found || !is_same_file(alone.status, object.status);
  if (edge.fragile) {
    auto steps = searcher_->search(requester, name, Evidence::steps).steps;
    edge.search.insert(edge.search.end(),
                       std::make_move_iterator(steps.begin()),
                       std::make_move_iterator(steps.end()));
  }
}

// A file was found: it is a loaded one under another name, or a new object, or unfit.
void Resolver::Walk::take(const Request& request,
                          const std::string& name,
                          Found& found,
                          ResolvedEdge& edge) {
  LoadedList& list = lists_[request.link_namespace];
  const bool by_path = name.find('/') != std::string::npos;
  edge.search = std::move(found.steps);
  if (const auto same = list.find(found.status)) {
    note_loaded(edge, *same, "inode");
    list.add_name(*same, is_musl() ? base_name(result.objects[*same].l_name) : name);
    return;
  }
  const FileProbe& probe = searcher_->probes().at(found.path.text);
  const ElfResult read = read_file(probe);
  const std::string_view words =
      !*read ? std::string_view(read->error().reason) : refusal(read->value(), request.kind);
  if (!words.empty() || result.objects.size() >= most_objects) {
    result.is_cut = result.is_cut || words.empty();
    edge.fatal = words.empty() ? "more objects than are looked at" : words;
    for (auto& step : edge.search) {
      if (step.outcome == SearchStep::Outcome::found) {
        step.outcome = SearchStep::Outcome::fatal;
        step.note = edge.fatal;
      }
    }
    return;
  }
  ResolvedObject object;
  object.l_name = std::move(found.l_name);
  object.path = std::move(found.path);
  object.status = found.status;
  object.elf = std::shared_ptr<const ElfFile>(read, &read->value());
  object.link_namespace = request.link_namespace;
  if (request.kind != RequestKind::dlopen && request.kind != RequestKind::audit) {
    object.loader = request.requester;
  }
  std::string origin = origin_of(object.l_name, searcher_->working_directory());
  const std::size_t index = add_object(std::move(object), std::move(origin));
  brought_by_[index] = request.origin;
  if (!is_musl()) {
    list.add_name(index, name);
  } else if (!by_path) {
    list.add_name(index, base_name(result.objects[index].l_name));
  }
  edge.to = index;
  edge.rule = found.rule;
  edge.detail = std::move(found.detail);
  edge.first = true;
}

void Resolver::Walk::search(const Request& request, const std::string& name, ResolvedEdge& edge) {
  const bool is_secure_preload = environment_.secure && (request.kind == RequestKind::preload ||
                                                         request.kind == RequestKind::audit);
  auto found = searcher_->search(requesters_[request.requester],
                                 name,
                                 Evidence::steps,
                                 is_secure_preload ? Purpose::secure_preload : Purpose::needed);
  switch (found.verdict) {
    case Found::Verdict::found:
      take(request, name, found, edge);
      break;
    case Found::Verdict::missing:
      edge.detail = std::move(found.detail);
      edge.search = std::move(found.steps);
      break;
    case Found::Verdict::fatal:
      edge.fatal = std::move(found.fatal);
      edge.search = std::move(found.steps);
      break;
  }
}

std::size_t Resolver::Walk::request(const Request& request) {
  ResolvedEdge edge;
  edge.from = request.requester;
  edge.needed = request.name;
  edge.kind = request.kind;
  edge.origin = request.origin;
  edge.optional = is_optional(request.kind);
  if (const auto name = expanded(request, edge)) {
    if (match_loaded(request, *name, edge)) {
      check_fragile(request, *name, edge);
    } else {
      search(request, *name, edge);
    }
  }
  // What may fail does not stop the load: the words are a remark.
  if (edge.optional && !edge.fatal.empty()) {
    edge.detail = std::exchange(edge.fatal, {});
  }
  result.edges.push_back(std::move(edge));
  return result.edges.size() - 1;
}

}  // namespace tracso::loader
