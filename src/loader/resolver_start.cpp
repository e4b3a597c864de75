// How a load begins: the program, its loader, audit modules, preloads; then the walk.

#include "base/text.hpp"
#include "loader/resolver_walk.hpp"
#include "loader/tokens.hpp"

namespace tracso::loader {
namespace {

constexpr std::size_t cache_limit = std::size_t{64} << 20;
constexpr std::string_view isa_words = "CPU ISA level is lower than required";

}  // namespace

Result<Done> Resolver::Walk::read_program(const TargetPath& path) {
  auto file = files_.open(path);
  if (!file) {
    return file.error();
  }
  auto status = (*file)->status();
  if (!status) {
    return status.error();
  }
  auto elf = read_path(path);
  if (!elf) {
    return elf.error();
  }
  ResolvedObject program;
  program.role = ResolvedObject::Role::program;
  program.path = path;
  program.status = *status;
  program.elf = std::make_shared<const ElfFile>(std::move(*elf));
  // The kernel hands over the program with all links followed; a loader started by name, or one
  // that looks at a library, only knows the name it was given.
  const bool by_kernel = !environment_.interpreter && !program.elf->interp.empty();
  const auto real = by_kernel ? files_.resolve(path) : Result<TargetPath>(path);
  add_object(std::move(program), std::string(directory_of(real ? real->text : path.text)));
  return Done{};
}

// A library has no interpreter either, but it is no position-independent program.
bool Resolver::Walk::is_static(const ElfFile& program) const {
  if (!program.dynamic.present) {
    return true;
  }
  const bool is_pie = (program.dynamic.flags_1 & df_1_pie) != 0;
  return program.interp.empty() && is_pie && !environment_.interpreter;
}

void Resolver::Walk::add_loader(const std::string& path) {
  ResolvedEdge edge;
  edge.needed = path;
  edge.kind = RequestKind::interpreter;
  edge.first = true;
  if (result.objects.front().elf->interp.empty()) {
    edge.detail = environment_.interpreter ? "started by name" : "the usual one of this machine";
  }
  const TargetPath absolute{absolute_path(path, environment_.working_directory)};
  const auto status = files_.status(absolute);
  auto elf = status ? read_path(absolute) : Result<ElfFile>(status.error());
  if (elf) {
    ResolvedObject loader;
    loader.role = ResolvedObject::Role::loader;
    loader.l_name = path;
    loader.path = absolute;
    loader.status = *status;
    loader.elf = std::make_shared<const ElfFile>(std::move(*elf));
    loader_ = add_object(std::move(loader), origin_of(path, environment_.working_directory));
    edge.to = loader_;
    edge.rule = Rule::direct;
  } else {
    // The kernel's answer to a program whose interpreter is not there or is none.
    edge.fatal = elf.error().kind == ErrorKind::malformed ? "Accessing a corrupted shared library"
                                                          : elf.error().reason;
  }
  result.edges.push_back(std::move(edge));
}

void Resolver::Walk::find_loader() {
  const ElfFile& program = *result.objects.front().elf;
  std::string path = program.interp;
  if (environment_.interpreter) {
    path = environment_.interpreter->text;
  } else if (path.empty()) {
    path = default_interpreter(program);
  }
  const TargetPath absolute{absolute_path(path, environment_.working_directory)};
  result.traits = read_loader_traits(
      files_, absolute, kind_of(program), with_tunables(this_cpu(), environment_.tunables));
  choose_hwcaps(environment_.hwcaps_prepend, environment_.hwcaps_mask, result.traits.hwcaps);
  if (is_musl()) {
    lists_.front() = LoadedList{};  // the program is not on its list
  }
  if (!path.empty()) {
    add_loader(path);
  }
}

void Resolver::Walk::read_cache() {
  if (is_musl() || environment_.cache != nullptr) {
    return;
  }
  auto bytes = read_whole_file(files_, TargetPath{"/etc/ld.so.cache"}, cache_limit);
  if (!bytes) {
    const bool is_there = bytes.error().kind != ErrorKind::not_found;
    result.cache_problem = is_there ? bytes.error().reason : "";
    return;
  }
  if (auto cache = parse_ld_cache(std::move(*bytes))) {
    own_cache_.emplace(std::move(*cache));
  } else {
    result.cache_problem = cache.error().reason;
  }
}

void Resolver::Walk::add_audit(std::string_view name, std::string_view origin) {
  const std::size_t link_namespace = lists_.size();
  lists_.emplace_back();
  if (loader_) {
    // ld.so itself is the same in every namespace.
    const ResolvedObject& loader = result.objects[*loader_];
    lists_.back().add_name(*loader_, loader.l_name);
    lists_.back().add_name(
        *loader_, loader.elf->dynamic.soname.value_or(loader.l_name), MatchedBy::soname);
  }
  const std::size_t edge =
      request({loader_.value_or(0), name, RequestKind::audit, link_namespace, origin});
  result.edges[edge].from = 0;
  if (const auto to = result.edges[edge].to) {
    walk(*to, {});
  }
}

void Resolver::Walk::add_audits() {
  for (const auto& audit : environment_.audit) {
    add_audit(audit.name, audit.origin);
  }
  const auto program = result.objects.front().elf;
  for (const auto& text : program->dynamic.audit) {
    for (const auto name : split_words(text, ":")) {
      add_audit(name, "DT_AUDIT");
    }
  }
  for (const auto& text : program->dynamic.depaudit) {
    for (const auto name : split_words(text, ":")) {
      add_audit(name, "DT_DEPAUDIT");
    }
  }
}

std::vector<std::size_t> Resolver::Walk::add_preloads() {
  std::vector<std::size_t> added;
  if (is_musl() && environment_.secure) {
    return added;  // musl drops the whole variable
  }
  for (const auto& preload : environment_.preload) {
    // musl reads the variable only.
    if (is_musl() && preload.origin != "LD_PRELOAD" && preload.origin != "--preload") {
      continue;
    }
    const std::size_t edge = request({0, preload.name, RequestKind::preload, 0, preload.origin});
    if (result.edges[edge].first) {
      added.push_back(*result.edges[edge].to);
    }
  }
  return added;
}

// Once everything is mapped (glibc sysdeps/x86/dl-prop.h, dl_isa_level_check).
void Resolver::Walk::check_cpu() {
  if (!result.traits.isa) {
    return;
  }
  for (std::size_t i = 0; i < result.objects.size(); ++i) {
    const ResolvedObject& object = result.objects[i];
    const bool is_checked = object.role != ResolvedObject::Role::loader && object.elf != nullptr &&
                            object.link_namespace == 0;
    if (!is_checked || (object.elf->isa_needed & ~*result.traits.isa) == 0) {
      continue;
    }
    result.above_cpu.push_back(i);
    for (auto& edge : result.edges) {
      if (edge.to == i && edge.first) {
        edge.fatal = isa_words;
      }
    }
  }
}

Result<Done> Resolver::Walk::start(const TargetPath& program) {
  lists_.emplace_back();
  const TargetPath path{absolute_path(program.text, environment_.working_directory)};
  if (auto read = read_program(path); !read) {
    return read;
  }
  if (is_static(*result.objects.front().elf)) {
    result.is_static = true;
    return Done{};
  }
  find_loader();
  read_cache();
  const LdCache* cache = environment_.cache != nullptr ? environment_.cache.get()
                         : own_cache_                  ? &*own_cache_
                                                       : nullptr;
  const ProgramKind kind = kind_of(*result.objects.front().elf);
  searcher_ = std::make_unique<Searcher>(
      SearchScene{files_, environment_, result.traits, cache}, kind, requesters_.front());
  if (!is_musl()) {
    add_audits();
  }
  walk(0, add_preloads());
  check_cpu();
  return Done{};
}

}  // namespace tracso::loader
