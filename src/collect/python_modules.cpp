#include "collect/python_modules.hpp"

#include "base/text.hpp"
#include "collect/importers.hpp"

#include <fmt/format.h>

#include <unordered_map>

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
  for (const auto& module : facts->modules) {
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
  work.trace.modules = std::move(facts->modules);
  if (work.options.distributions) {
    add_distributions(work.trace, *work.target.files, work.options.module_files);
  }
  if (work.options.importers) {
    add_importers(work.trace, *work.target.files, work.options.module_files);
  }
}

}  // namespace tracso
