#include "collect/python_modules.hpp"

#include "base/text.hpp"
#include "collect/importers.hpp"
#include "python/path_probe_rules.hpp"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

namespace tracso {
namespace {

class ObjectIndex {
 public:
  explicit ObjectIndex(const Workspace& work) : work_(work) {
    for (std::size_t i = 0; i < work.mapped.objects.size(); ++i) {
      by_path_.emplace(work.mapped.objects[i].path.text, i);
      by_inode_.emplace(work.mapped.objects[i].inode, i);
    }
  }

  // By the path as Python has it, else (a link, a relative path) by the file that stands there.
  std::optional<std::size_t> find(const std::string& file) const {
    if (const auto found = by_path_.find(file); found != by_path_.end()) {
      return found->second;
    }
    if (base_name(file).find(".so") == std::string_view::npos) {
      return std::nullopt;
    }
    const auto status = work_.target.files->status({file});
    const auto found = status ? by_inode_.find(status->inode) : by_inode_.end();
    return found == by_inode_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  const Workspace& work_;
  std::unordered_map<std::string, std::size_t> by_path_;
  std::unordered_map<std::uint64_t, std::size_t> by_inode_;
};

// sys.modules has some extension modules without their package: scipy/_cyutility.so as
// "_cyutility", which code of Cython enters itself. Whose it is the folder says. nullopt: as named.
std::optional<std::string> name_by_folder(const FileSystem& files, const PythonModule& module) {
  const auto stem = python::extension_name(base_name(*module.file));
  if (!stem || stem->stem != module.name) {
    return std::nullopt;
  }
  const auto root = python::import_root(*module.file, {});
  auto name = python::module_of_path(*module.file, {}, [](const std::string&) { return false; });
  if (!root || !name || *name == module.name) {
    return std::nullopt;
  }
  const std::string top = fmt::format("{}/{}", *root, name->substr(0, name->find('.')));
  // What is no package is a folder of sys.path itself.
  return files.status({top + "/__init__.py"}) ? name : std::nullopt;
}

// Where the package's name of it is there as well, both are one file of one owner.
void name_by_folders(const Workspace& work,
                     const ObjectIndex& index,
                     std::vector<PythonModule>& modules) {
  std::unordered_set<std::string> names;
  for (const PythonModule& module : modules) {
    names.insert(module.name);
  }
  std::erase_if(modules, [&](PythonModule& module) {
    const bool bare = module.file && module.name.find('.') == std::string::npos;
    const auto name = bare && index.find(*module.file) ? name_by_folder(*work.target.files, module)
                                                       : std::nullopt;
    if (!name) {
      return false;
    }
    if (!names.insert(*name).second) {
      return true;
    }
    module.name = *name;
    return false;
  });
}

void add_source(Workspace& work, const PythonModule& module, std::size_t object, Witness witness) {
  Graph& graph = work.trace.graph;
  const NodeId source = graph.add(PythonSource{module.name, {module.name}, ""});
  Edge edge = edge_between(source, work.node_of_object[object], EdgeKind::origin);
  edge.rule = Rule::direct;
  edge.detail = module.name;
  edge.witnesses = {witness};
  graph.connect(std::move(edge));
}

ProbeInput probe_input(const Workspace& work) {
  ProbeInput input;
  input.target = work.target;
  input.mappings = work.facts.mappings;
  input.executable =
      work.executable ? work.mapped.objects[*work.executable].path.text : work.facts.exe;
  input.timeout = work.options.timeout;
  return input;
}

}  // namespace

void collect_python_modules(Workspace& work) {
  if (!work.options.python) {
    return;
  }
  auto facts = work.options.python(probe_input(work), work.trace.notices);
  if (!facts) {
    return;
  }
  work.log(fmt::format("python: {} by the {} probe ({})",
                       counted(facts->modules.size(), "module"),
                       facts->probe,
                       facts->detail));
  const Witness witness = facts->complete ? Witness::sys_modules : Witness::path;
  const ObjectIndex index(work);
  std::vector<PythonModule> named = facts->modules;
  name_by_folders(work, index, named);
  for (const auto& module : named) {
    const auto object = module.file ? index.find(*module.file) : std::nullopt;
    if (object && object != work.executable) {
      add_source(work, module, *object, witness);
    }
  }
  work.trace.intrusion.stopped_ns += facts->stopped.count();
  work.trace.intrusion.code_executed = facts->code_executed;
  if (facts->probe == "gdb") {
    work.trace.intrusion.method = "gdb";
  }
  work.trace.process->python =
      PythonInfo{facts->version, facts->implementation, facts->probe, facts->modules.size()};
  work.trace.modules = std::move(named);  // as the graph has them, until all is looked up
  if (work.options.distributions) {
    add_distributions(work.trace, *work.target.files, work.options.module_files);
  }
  if (work.options.importers) {
    add_importers(work.trace, *work.target.files, work.options.module_files);
  }
  work.trace.modules = std::move(facts->modules);
}

}  // namespace tracso
