// The other half of trace_json.cpp: each function writes what its namesake there reads.

#include "graph/json_fields.hpp"
#include "graph/trace_json.hpp"
#include "graph/trace_words.hpp"

namespace tracso {
namespace {

void write_elf(JsonFields& out, const ElfFile& elf) {
  out.text("class", word(elf.elf_class));
  out.text("byte_order", word(elf.byte_order));
  out.number("os_abi", elf.os_abi);
  out.number("type", elf.type);
  out.number("machine", elf.machine);
  out.number("flags", elf.flags);
  out.text("interpreter", elf.interp);
  out.flag("executable_stack", elf.executable_stack);
  out.flag("dynamic", elf.dynamic.present);
  out.optional_text("rpath", elf.dynamic.rpath);
  out.optional_text("runpath", elf.dynamic.runpath);
  out.objects("needed", elf.dynamic.needed, [](JsonFields& one, const NeededEntry& entry) {
    one.text("kind", word(entry.kind));
    one.text("name", entry.name);
  });
  out.texts("audit", elf.dynamic.audit);
  out.texts("depaudit", elf.dynamic.depaudit);
  out.number("dynamic_flags", elf.dynamic.flags);
  out.number("dynamic_flags_1", elf.dynamic.flags_1);
}

struct SubjectWriter {
  JsonFields& out;

  void operator()(const TargetRoot& root) const {
    out.text("kind", "process");
    out.text("name", root.label);
    out.number("pid", root.pid);
  }

  void operator()(const ObjectFile& file) const {
    out.text("kind", word(file.role));
    out.text("state", word(file.state));
    out.flag("loaded", file.loaded);
    out.text("path", file.path.text);
    out.number("device", file.device);
    out.number("inode", file.inode);
    out.text("wanted", file.wanted);
    out.object("elf", [&](JsonFields& elf) { write_elf(elf, file.elf); });
    out.optional_text("soname", file.elf.dynamic.soname);
    out.text("build_id", file.elf.build_id);
    out.numbers("bases", file.bases);
    out.number("link_namespace", file.link_namespace);
    out.flag("in_link_map", file.in_link_map);
    out.number("dlopen_count", file.dlopen_count);
    out.optional_number("load_order", file.load_order);
    out.flag("baseline", file.baseline);
    out.text("first_cause", file.first_cause);
    out.text("note", file.note);
  }

  void operator()(const PythonSource& source) const {
    out.text("kind", "module");
    out.text("name", "py:" + source.name);
    out.texts("modules", source.modules);
    out.text("distribution", source.distribution);
  }

  void operator()(const EnvironmentOrigin& origin) const {
    out.text("kind", "environment");
    out.text("name", origin.name);
    out.text("value", origin.text);
  }

  void operator()(const Vdso& vdso) const {
    out.text("kind", "vdso");
    out.text("soname", vdso.soname);
  }
};

// An id is the place in the list: nobody but the reader sees it.
void write_nodes(JsonFields& out, const Graph& graph) {
  std::uint32_t next = 0;
  out.objects("nodes", graph.nodes(), [&](JsonFields& one, const Node& node) {
    one.id("id", next++);
    std::visit(SubjectWriter{one}, node.subject);
    one.optional_number("size", node.cost.file);
    one.optional_number("resident", node.cost.resident);
    one.optional_number("private", node.cost.private_bytes);
    one.optional_number("relocations", node.cost.relocations);
  });
}

void write_id(JsonFields& out, std::string_view key, NodeId id) {
  out.id(key, static_cast<std::uint32_t>(id));
}

void write_search(JsonFields& out, const std::vector<SearchStep>& search) {
  out.objects("search", search, [](JsonFields& one, const SearchStep& step) {
    one.text("place", word(step.place));
    one.text("setting", step.setting);
    one.text("directory", step.directory);
    one.text("outcome", word(step.outcome));
    one.text("path", step.path);
    one.text("note", step.note);
  });
}

void write_edges(JsonFields& out, const Graph& graph) {
  out.objects("edges", graph.edges(), [](JsonFields& one, const Edge& edge) {
    write_id(one, "source", edge.from);
    write_id(one, "target", edge.to);
    one.text("relation", word(edge.kind));
    one.text("needed", edge.needed);
    one.text("rule", word(edge.rule));
    one.text("detail", edge.detail);
    one.flag("first", edge.first);
    one.flag("optional", edge.optional);
    one.flag("fragile", edge.fragile);
    one.text("fatal", edge.fatal);
    one.text("restart_would_load", edge.restart_would_load);
    one.words("witnesses", edge.witnesses, [](Witness witness) { return word(witness); });
    write_search(one, edge.search);
    one.objects("importers", edge.importers, [](JsonFields& from, const Importer& importer) {
      from.text("module", importer.module);
      from.text("file", importer.file);
      from.number("line", importer.line);
      from.text("confidence", importer.observed ? "observed" : "inferred");
    });
  });
}

void write_process(JsonFields& out, const ProcessInfo& process) {
  out.number("pid", process.pid);
  out.number("start_time", process.start_time);
  out.text("exe", process.exe);
  out.texts("command", process.command);
  if (const auto& python = process.python) {
    out.object("python", [&](JsonFields& one) {
      one.text("version", python->version);
      one.text("implementation", python->implementation);
      one.text("probe", python->probe);
      one.number("modules", python->modules);
    });
  }
}

void write_command(JsonFields& out, const CommandInfo& command) {
  out.texts("argv", command.argv);
  out.optional_number("exit_status", command.exit_status);
  out.optional_number("signal", command.signal);
  out.number("wall_ns", command.wall_ns);
}

void write_memory(JsonFields& out, const MemoryByClass& memory) {
  out.object("by_class", [&](JsonFields& classes) {
    for (std::size_t i = 0; i < memory_class_count; ++i) {
      const auto what = static_cast<MemoryClass>(i);
      const MemoryUse& use = memory[what];
      classes.object(memory_class_name(what), [&](JsonFields& one) {
        one.number("mapped", use.mapped);
        one.number("resident", use.resident);
        one.number("private", use.private_bytes);
        one.number("dirty", use.dirty);
        one.number("swapped", use.swapped);
      });
    }
  });
}

void write_imports(JsonFields& out, const std::vector<ImportStep>& imports) {
  out.objects("imports", imports, [](JsonFields& one, const ImportStep& step) {
    one.text("module", step.module);
    one.text("file", step.file);
    one.number("line", step.line);
    one.text("importer", step.importer);
  });
}

void write_cause(JsonFields& out, const std::optional<NodeId>& cause) {
  if (cause) {
    write_id(out, "cause", *cause);
  }
}

void write_loads(JsonFields& out, const std::vector<Load>& loads) {
  out.objects("loads", loads, [](JsonFields& one, const Load& load) {
    one.number("time_ns", load.time_ns);
    one.number("duration_ns", load.duration_ns);
    write_id(one, "object", load.object);
    write_cause(one, load.cause);
    one.optional_number("unloaded_ns", load.unloaded_ns);
    write_imports(one, load.imports);
    one.number("dlopen", load.dlopen);
  });
}

void write_failed_loads(JsonFields& out, const std::vector<FailedLoad>& failed) {
  out.objects("failed_loads", failed, [](JsonFields& one, const FailedLoad& load) {
    one.number("time_ns", load.time_ns);
    one.text("name", load.name);
    one.text("reason", load.reason);
    write_cause(one, load.cause);
    write_imports(one, load.imports);
    one.text("asked", load.asked);
    one.text("needed_by", load.needed_by);
    write_search(one, load.search);
  });
}

void write_calls(JsonFields& out, const CallWatch& calls) {
  out.number("window_ns", calls.window_ns);
  out.objects("pairs", calls.pairs, [](JsonFields& one, const CountedCalls& pair) {
    write_id(one, "caller", pair.caller);
    write_id(one, "callee", pair.callee);
    one.number("calls", pair.calls);
  });
  out.number("elsewhere", calls.elsewhere);
}

void write_findings(JsonFields& out, const std::vector<Finding>& findings) {
  out.objects("findings", findings, [](JsonFields& one, const Finding& finding) {
    one.text("code", finding.code);
    one.text("severity", word(finding.severity));
    one.text("title", finding.title);
    one.ids("nodes", finding.nodes);
    one.texts("owners", finding.owners);
    one.texts("evidence", finding.evidence);
    one.text("confidence", finding.confidence);
    one.text("what_to_do", finding.what_to_do);
  });
}

void write_lists(JsonFields& out, const Trace& trace) {
  out.objects("modules", trace.modules, [](JsonFields& one, const PythonModule& module) {
    one.text("name", module.name);
    one.optional_text("file", module.file);
    one.text("origin", module.origin);
  });
  out.objects("children", trace.children, [](JsonFields& one, const ChildInfo& child) {
    one.number("pid", child.pid);
    one.text("command", child.command);
    one.optional_number("libraries_beyond_parent", child.libraries_beyond_parent);
    one.texts("beyond", child.beyond);
  });
  out.objects("notices", trace.notices, [](JsonFields& one, const Notice& notice) {
    one.text("code", notice.code);
    one.text("text", notice.text);
    one.text("effect", notice.effect);
    one.text("try", notice.try_);
  });
}

template <class T, class Write>
void write_if_there(JsonFields& out,
                    std::string_view key,
                    const std::optional<T>& value,
                    const Write& write) {
  if (value) {
    out.object(key, [&](JsonFields& one) { write(one, *value); });
  }
}

void write_document(JsonFields& out, const Trace& trace) {
  out.text("schema", "tracso/1");
  out.text("kind", "trace");
  out.text("target", trace.target);
  out.text("interpreter", trace.interpreter);
  write_if_there(out, "process", trace.process, write_process);
  write_if_there(out, "command", trace.command, write_command);
  out.object("intrusion", [&](JsonFields& one) {
    one.number("stopped_ns", trace.intrusion.stopped_ns);
    one.flag("code_executed", trace.intrusion.code_executed);
    one.text("method", trace.intrusion.method);
  });
  write_if_there(out, "memory", trace.memory, write_memory);
  write_nodes(out, trace.graph);
  write_edges(out, trace.graph);
  write_loads(out, trace.loads);
  write_failed_loads(out, trace.failed_loads);
  write_if_there(out, "calls", trace.calls, write_calls);
  write_findings(out, trace.findings);
  write_lists(out, trace);
  out.number("name_depth", trace.name_depth);
  out.flag("partial", trace.partial);
}

}  // namespace

std::string write_trace_json(const Trace& trace) {
  std::string text;
  {
    JsonFields document(text);
    write_document(document, trace);
  }
  text += '\n';
  return text;
}

}  // namespace tracso
