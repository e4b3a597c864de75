// A file on disk: what the loader would do with it, as a graph.

#include "tracso/snapshot.hpp"

#include "base/text.hpp"
#include "collect/costs.hpp"
#include "collect/file_checks.hpp"
#include "collect/loader_notices.hpp"
#include "collect/missing_nodes.hpp"
#include "collect/needed_edges.hpp"
#include "collect/readers.hpp"
#include "loader/resolver.hpp"
#include "proc/script.hpp"

#include <fmt/format.h>

#include <bit>
#include <map>

namespace tracso {
namespace {

using loader::RequestKind;
using loader::Resolution;
using loader::ResolvedObject;

constexpr const char* cpu_words = "CPU ISA level is lower than required";

// A library that is asked about is a library; a static PIE looks like one but for its flag.
bool is_library_file(const ElfFile& file) {
  constexpr std::uint16_t et_dyn = 3;             // elf(5)
  constexpr std::uint64_t df_1_pie = 0x08000000;  // glibc elf/elf.h
  return file.type == et_dyn && file.interp.empty() && (file.dynamic.flags_1 & df_1_pie) == 0;
}

ObjectFile::Role role_of(const ResolvedObject& object) {
  switch (object.role) {
    case ResolvedObject::Role::loader:
      return ObjectFile::Role::loader;
    case ResolvedObject::Role::program:
      return object.elf && is_library_file(*object.elf) ? ObjectFile::Role::library
                                                        : ObjectFile::Role::executable;
    case ResolvedObject::Role::library:
    case ResolvedObject::Role::vdso:
      break;
  }
  return ObjectFile::Role::library;
}

EdgeKind kind_of(RequestKind kind) {
  switch (kind) {
    case RequestKind::needed:
      return EdgeKind::needed;
    case RequestKind::filter:
      return EdgeKind::filter;
    case RequestKind::auxiliary:
      return EdgeKind::auxiliary;
    case RequestKind::preload:
      return EdgeKind::preload;
    case RequestKind::audit:
      return EdgeKind::audit;
    case RequestKind::interpreter:
      return EdgeKind::interpreter;
    case RequestKind::dlopen:
      break;
  }
  return EdgeKind::dlopen;
}

// Carries a resolution over into the graph.
class FileGraph {
 public:
  FileGraph(Trace& trace, Resolution resolution)
      : trace_(trace), resolution_(std::move(resolution)), missing_(trace.graph) {}

  void build() {
    root_ = trace_.graph.add(TargetRoot{trace_.target, 0});
    for (const auto& object : resolution_.objects) {
      nodes_.push_back(add_object(object));
    }
    Edge edge = edge_between(root_, nodes_.front(), EdgeKind::origin);
    edge.first = true;
    edge.rule = Rule::direct;
    const auto& above = resolution_.above_cpu;
    edge.fatal = !above.empty() && above.front() == 0 ? cpu_words : "";
    trace_.graph.connect(std::move(edge));
    for (auto& resolved : resolution_.edges) {
      add_edge(resolved);
    }
    mark_baseline(trace_.graph);
  }

 private:
  NodeId add_object(const ResolvedObject& object) {
    if (object.role == ResolvedObject::Role::vdso) {
      return trace_.graph.add(Vdso{object.l_name});
    }
    ObjectFile file;
    file.role = role_of(object);
    file.path = object.path;
    file.device = object.status.device;
    file.inode = object.status.inode;
    file.elf = object.elf ? *object.elf : ElfFile{};
    file.link_namespace = static_cast<std::int64_t>(object.link_namespace);
    const NodeId node = trace_.graph.add(std::move(file));
    trace_.graph.mutable_node(node).cost.file = object.status.bytes;
    return node;
  }

  // Who asks for a preload is the environment, not the program.
  NodeId requester(const loader::ResolvedEdge& resolved) {
    if (resolved.kind != RequestKind::preload && resolved.kind != RequestKind::audit) {
      return nodes_[resolved.from];
    }
    if (resolved.origin.starts_with("DT_")) {
      return nodes_[resolved.from];
    }
    const std::string name =
        (resolved.origin.starts_with('/') ? "file:" : "env:") + resolved.origin;
    const auto known = origins_.find(name);
    return known != origins_.end()
               ? known->second
               : origins_.emplace(name, trace_.graph.add(EnvironmentOrigin{name, ""}))
                     .first->second;
  }

  void add_edge(loader::ResolvedEdge& resolved) {
    Edge edge = edge_between(requester(resolved),
                             resolved.to ? nodes_[*resolved.to] : missing_.get(resolved.needed),
                             kind_of(resolved.kind));
    edge.needed = resolved.needed;
    edge.rule =
        resolved.kind == RequestKind::preload && resolved.to ? Rule::preload : resolved.rule;
    edge.detail = resolved.detail;
    edge.first = resolved.first;
    edge.optional = resolved.optional;
    edge.fatal = resolved.fatal;
    edge.fragile = resolved.fragile;
    edge.search = std::move(resolved.search);
    edge.witnesses = {resolved.kind == RequestKind::preload ? Witness::environment
                                                            : Witness::dynamic_section};
    trace_.graph.connect(std::move(edge));
  }

  Trace& trace_;
  Resolution resolution_;
  NodeId root_{};
  std::vector<NodeId> nodes_;
  MissingNodes missing_;
  std::map<std::string, NodeId> origins_;
};

// A script is no ELF file, but what runs it may be: say so instead of "invalid ELF header". Of
// another file, what FILE can be.
Error with_script_hint(Error error, const FileSystem& files, const TargetPath& path) {
  const auto words = proc::script_words(files, path);
  if (!words) {
    error.hint = error.hint.empty()
                     ? "FILE is a program or a library; --from FILE reads a document "
                       "or recording of tracso"
                     : error.hint;
    return error;
  }
  error.reason = "it is a script, not an ELF file";
  const std::string command =
      path.text.find('/') == std::string::npos ? "./" + path.text : path.text;
  const auto [name, in_path] = proc::interpreter_of(*words);
  if (name.ends_with('\r')) {
    error.hint = "its first line ends in \\r, which is a part of the interpreter's name";
    return error;
  }
  error.hint = name.empty() ? "tracso --run " + command
                            : fmt::format("its interpreter is {}: tracso {}, or tracso --run {}",
                                          name,
                                          in_path ? "$(command -v " + name + ")" : name,
                                          command);
  return error;
}

Error file_error(Error error, const Target& target, const FileQuestion& question) {
  error.action = "explain";
  error.subject = question.file.text;
  if (error.kind == ErrorKind::not_found) {
    error.kind = ErrorKind::usage;
    error.reason = "no such file";
    error.hint = question.file.text.find('/') == std::string::npos
                     ? "a running process is named by its PID; a library by its path"
                     : "";
  }
  return error.kind == ErrorKind::malformed
             ? with_script_hint(std::move(error), *target.files, question.file)
             : error;
}

// 0xf -> "x86-64-v4"
std::string level_words(std::uint32_t bits) {
  const int level = std::bit_width(bits);
  return level <= 1 ? "x86-64" : fmt::format("x86-64-v{}", level);
}

void note_above_cpu(const Resolution& resolution, Trace& trace) {
  for (const std::size_t index : resolution.above_cpu) {
    const ResolvedObject& object = resolution.objects[index];
    trace.notices.push_back({"cpu-too-old",
                             fmt::format("{} is made for {} processors, this one is {}",
                                         object.path.text,
                                         level_words(object.elf->isa_needed),
                                         level_words(resolution.traits.isa.value_or(0))),
                             std::string("the loader stops there: ") + cpu_words,
                             "ask on the machine it is meant for"});
  }
}

void note_odd_results(const Resolution& resolution,
                      const loader::LoadEnvironment& environment,
                      Trace& trace) {
  note_above_cpu(resolution, trace);
  if (resolution.is_cut) {
    trace.notices.push_back({"closure-cut",
                             "there are more objects than tracso follows",
                             "the graph is not whole",
                             ""});
  }
  if (!resolution.is_static) {
    note_loader_files(environment, resolution.traits, trace.notices);
  }
  if (!resolution.cache_problem.empty()) {
    note_unreadable_cache(resolution.cache_problem, trace.notices);
  }
}

// Only what the kernel executes has a mode to be started in; a library with such a bit has none.
bool is_secure_program(const Target& target,
                       const ElfReader& reader,
                       const FileQuestion& question) {
  if (question.secure_because.empty()) {
    return false;
  }
  const ElfInput input{question.file.text, target.files->host_path(question.file), [&] {
                         return target.files->open(question.file);
                       }};
  const auto read = reader.read({&input, 1});
  return read.front() && !read.front()->interp.empty();
}

void note_secure_mode(const FileQuestion& question, Trace& trace) {
  trace.notices.push_back(
      {"secure-mode",
       fmt::format("{} would run in secure mode: {}", question.label, question.secure_because),
       "the loader ignores LD_LIBRARY_PATH, names with a slash in LD_PRELOAD and LD_AUDIT, and "
       "trusts $ORIGIN of the program below system directories only",
       ""});
}

}  // namespace

Result<Trace> explain_file(const Target& target,
                           const FileQuestion& question,
                           const SnapshotOptions& options) {
  const auto reader = make_reader(options, target);
  const bool secure = is_secure_program(target, *reader, question);
  const auto environment = loader::make_load_environment(
      *target.files, question.environment, question.working_directory, secure);
  auto resolution = loader::resolve(*target.files, *reader, environment, question.file);
  if (!resolution) {
    return file_error(resolution.error(), target, question);
  }
  Trace trace;
  trace.target = question.label;
  const auto real = target.files->resolve(question.file);
  trace.interpreter = real ? real->text : question.file.text;
  trace.intrusion.method = "none";
  if (secure) {
    note_secure_mode(question, trace);
  }
  note_odd_results(*resolution, environment, trace);
  FileGraph(trace, std::move(*resolution)).build();
  check_file(target, trace);
  if (options.relocations) {
    add_relocation_costs(trace.graph, *target.files);
  }
  note_reader_fallbacks(*reader, trace.notices);
  return trace;
}

}  // namespace tracso
