#include "support/render_cases.hpp"

#include "tracso/analysis.hpp"

#include "support/catch.hpp"

#include <fmt/format.h>

namespace tracso::test {
namespace {

constexpr std::uint64_t kib(double count) {
  return static_cast<std::uint64_t>(count * 1024);
}

constexpr std::uint64_t mib(double count) {
  return kib(count * 1024);
}

SearchStep step(Rule place,
                std::string_view setting,
                std::string_view directory,
                SearchStep::Outcome outcome,
                std::string_view path = "",
                std::string_view note = "") {
  return {place,
          std::string(setting),
          std::string(directory),
          outcome,
          std::string(path),
          std::string(note)};
}

// LD_LIBRARY_PATH beats the RUNPATH of the module, as in the report that blames a wheel.
void beat_runpath(TraceBuilder& build, EdgeId id) {
  using Outcome = SearchStep::Outcome;
  Edge& edge = build.edge(id);
  edge.first = true;
  edge.rule = Rule::env;
  edge.detail = "entry 2";
  edge.witnesses.push_back(Witness::link_map);
  edge.search = {step(Rule::env, "LD_LIBRARY_PATH entry 1", "/opt/empty", Outcome::absent),
                 step(Rule::env,
                      "LD_LIBRARY_PATH entry 2",
                      "/opt/cuda/lib64",
                      Outcome::found,
                      "/opt/cuda/lib64/libdnn.so.9"),
                 step(Rule::runpath,
                      "RUNPATH of /site/gpu/_core.so",
                      "/site/gpu.libs",
                      Outcome::lost,
                      "/site/gpu.libs/libdnn.so.9",
                      "LD_LIBRARY_PATH comes first"),
                 step(Rule::default_dir, "", "/usr/lib", Outcome::skipped, "", "already found")};
}

void add_lists(Trace& trace, NodeId object, NodeId cause) {
  trace.modules = {{"sys", std::nullopt, "built-in"},
                   {"gpu", "/site/gpu/__init__.py", "/site/gpu/__init__.py"},
                   {"gpu._core", "/site/gpu/_core.cpython-311-x86_64-linux-gnu.so", ""}};
  const std::vector<ImportStep> imports{{"gpu", "/home/u/app.py", 3, "__main__"},
                                        {"gpu._core", "/site/gpu/__init__.py", 12, "gpu"}};
  trace.loads = {{2'000'000, 100'000, NodeId{1}, std::nullopt, std::nullopt, {}, 0},
                 {12'000'000, 340'000, object, cause, std::nullopt, imports, 1},
                 {900'000'000, 20'000, object, std::nullopt, 950'000'000, {}, 2}};
  trace.failed_loads = {
      {950'000'000,
       "/site/gpu/_fast.so",
       "version `GLIBCXX_3.4.32' not found (required by /site/gpu/_fast.so)",
       cause,
       imports},
      {960'000'000,
       "libnone.so",
       "cannot open shared object file",
       {},
       {},
       "./plug.so",
       "/opt/plug.so",
       {{Rule::runpath, "RUNPATH of /opt/plug.so", "/opt/lib", SearchStep::Outcome::absent, "", ""},
        {Rule::cache, "ld.so.cache", "/etc/ld.so.cache", SearchStep::Outcome::absent, "", ""}}}};
  trace.children = {{4193,
                     "python3 worker.py --id 1",
                     4,
                     {"/opt/liba.so", "/opt/libb.so", "/opt/libc.so", "/opt/libd.so"}},
                    {4194, "sh -c 'sleep 5'", 0}};
  trace.notices = {{"link-map-unreadable",
                    "the link map cannot be read",
                    "who opened a library with dlopen is not known",
                    "run as root"},
                   {"no-gdb", "gdb is not installed", "", ""}};
  trace.findings = {{"missing-needed",
                     Finding::Severity::error,
                     "libgone.so.7 is not found",
                     {object},
                     {"py:gpu._core"},
                     {"/site/gpu/_core.so needs it"},
                     "certain",
                     "install the package that has libgone.so.7"}};
}

MemoryByClass memory() {
  MemoryByClass out;
  out[MemoryClass::libraries] = {mib(500), mib(210), mib(12), mib(11.5), 0};
  out[MemoryClass::heap] = {mib(70), mib(66.1), mib(66.1), mib(66.1), mib(1)};
  out[MemoryClass::python] = {mib(32), mib(31), mib(31), mib(31), 0};
  out[MemoryClass::stacks] = {mib(8), kib(132), kib(132), kib(132), 0};
  out[MemoryClass::files] = {mib(3), kib(220), 0, 0, 0};
  out[MemoryClass::other] = {mib(900), mib(36), mib(36), mib(36), kib(512)};
  return out;
}

}  // namespace

Sample sample() {
  TraceBuilder build("run:python:50506", 50506);
  build.executable("/usr/bin/python");
  const NodeId torch = build.python("torch._C", "torch 2.1.0");
  const NodeId numpy = build.python("numpy._core");
  const NodeId libc = build.library("/lib/libc.so.6", mib(1.9));
  const NodeId umath =
      build.extension("numpy._core._multiarray_umath",
                      "/site/numpy/_core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so",
                      mib(10.2));
  const NodeId orphan = build.library("/opt/libmymalloc.so.2", kib(15.9));
  Sample made;
  Summary& summary = made.summary;
  summary.totals = {31, mib(478.0), mib(210.5), mib(12.25)};
  summary.packages = {
      {"py:torch._C", "torch 2.1.0", torch, 16, mib(435.8), mib(190.0), mib(10), 0.912},
      {"py:numpy._core", "", numpy, 12, mib(25.9), mib(20), std::nullopt, 0.054},
      {"(unattributed / system)", "", std::nullopt, 2, kib(202.2), kib(12), 0, 0.0004}};
  summary.libraries = {{libc, 26, 6}, {umath, 1, 1}};
  summary.orphans = {orphan};
  summary.notable = {
      "libscipy_openblas64_-017048f4.so is loaded directly by 2 py: packages (py:numpy._core, "
      "py:numpy.linalg)",
      "py:torch._C owns 91% of the total footprint (435.8 MB)",
      "libtorch_cpu.so alone is 407.3 MB (85% of the total)"};
  made.trace = build.trace;
  made.trace.memory = memory();
  return made;
}

Trace everything() {
  TraceBuilder build;
  const NodeId python = build.executable("/usr/bin/python3.11", mib(6.5));
  const NodeId loader = build.loader("/lib64/ld-linux-x86-64.so.2", kib(206));
  const NodeId libc = build.library("/lib/libc.so.6", mib(1.9));
  const NodeId core =
      build.extension("gpu._core", "/site/gpu/_core.cpython-311-x86_64-linux-gnu.so", kib(64));
  const NodeId ssl = build.extension("_ssl", "/lib/_ssl.cpython-311-x86_64-linux-gnu.so", kib(150));
  const NodeId dnn = build.library("/opt/cuda/lib64/libdnn.so.9", mib(300));
  const NodeId openssl = build.library("/lib/libssl.so.3", kib(668));
  const NodeId gone = build.missing("libgone.so.7");
  const NodeId plugin = build.library("/opt/plugins/libplugin.so", kib(15.9));
  const NodeId vdso = build.vdso();
  build.edge(build.needs(python, libc)).first = true;
  build.needs(libc, loader);
  build.connect(build.root(), vdso, EdgeKind::origin);
  beat_runpath(build, build.needs(core, dnn));
  build.needs(core, libc);
  build.edge(build.needs(ssl, openssl)).rule = Rule::cache;
  build.needs(ssl, libc);
  build.needs(dnn, libc);
  Edge& missing = build.edge(build.needs(core, gone));
  missing.fatal = "cannot open shared object file";
  missing.search = {
      step(Rule::cache, "ld.so.cache", "/etc/ld.so.cache", SearchStep::Outcome::absent)};
  Edge& opened = build.edge(build.connect(build.root(), plugin, EdgeKind::dlopen));
  opened.first = true;
  opened.importers = {{"gpu.plugins", "/site/gpu/plugins.py", 17, false}};
  build.file(dnn).state = ObjectFile::State::replaced;
  build.file(dnn).note = "a restart would load another file";
  build.file(dnn).bases = {0x7f0000000000, 0x7fffffffffff};
  build.file(libc).baseline = true;
  build.file(libc).load_order = 1;
  build.file(libc).elf.build_id = "0a1b2c";
  build.file(libc).elf.dynamic.needed = {{NeededEntry::Kind::needed, "ld-linux-x86-64.so.2"}};
  build.file(core).elf.dynamic.runpath = "$ORIGIN/../gpu.libs";
  build.file(core).elf.elf_class = ElfClass::elf64;
  build.cost(dnn) = {mib(300), mib(120), mib(4), 4096};
  build.trace.process->command = {"python3", "train.py"};
  build.trace.process->python = PythonInfo{"3.11.2", "cpython", "memory", 3};
  build.trace.command = CommandInfo{{"python3", "train.py"}, std::nullopt, 11, 2'500'000'000};
  build.trace.intrusion = {1'200'000, false, "ptrace"};
  build.trace.name_depth = 2;
  build.trace.partial = true;
  build.trace.memory = memory();
  build.trace.calls = CallWatch{2'000'000'000,
                                {{core, libc, 12'345'678},
                                 {ssl, libc, 9'999},
                                 {python, libc, 40},
                                 {dnn, libc, 12},
                                 {ssl, openssl, 3}},
                                2};
  add_lists(build.trace, dnn, core);
  return build.trace;
}

Trace hostile() {
  TraceBuilder build("pid:\x1b]0;owned\x07", 1);
  const NodeId python = build.executable("/tmp/py \"thon\\\x1b[31m");
  const NodeId quoted = build.library("/tmp/a\"b,c;d\\N\\G.so", 10);
  const NodeId lines = build.library("/tmp/line\nbreak\r\n\ttab.so", 20);
  const NodeId bytes = build.library("/tmp/\xff\xfe raw \xc3.so", 30);
  const NodeId other_bytes = build.library("/tmp/\xfd\xfe raw \xc3.so", 31);
  const NodeId markup = build.library("/tmp/<b>&amp;lt; =cmd|calc!A0.so", 40);
  const NodeId endless = build.library("/tmp/lib" + std::string(3000, 'x') + ".so", 50);
  const NodeId wide = build.extension(
      "\xe6\xbc\xa2\xe5\xad\x97.mod\xffule", "/tmp/\xe6\xbc\xa2\xe5\xad\x97\xe2\x80\xae.so", 60);
  for (const NodeId library : {quoted, lines, bytes, other_bytes, markup, endless, wide}) {
    build.needs(python, library);
  }
  build.edge(build.needs(wide, build.missing("gone\x1b[2J\n.so"))).fatal = "no \x1b[5m way\n";
  build.trace.process->command = {"py\xff", "--flag=\n", ""};
  build.trace.notices = {{"odd", "text\x1b[1m\nline", "effect\x9b", "try\r"}};
  build.trace.children = {{2, "child\x1b[31m\n", 1}};
  return build.trace;
}

Trace file_with_missing() {
  TraceBuilder build("libuse.so", 0);
  build.trace.interpreter = "/lab/libuse.so";
  const NodeId use = build.library("/lab/libuse.so", kib(15.5));
  build.connect(build.root(), use, EdgeKind::origin);
  const NodeId version = build.library("/lab/old/libver.so.1", kib(14));
  const NodeId nowhere = build.missing("libnowhere.so.7");
  Edge& found = build.edge(build.needs(use, version));
  found.rule = Rule::runpath;
  found.first = true;
  found.search = {step(Rule::runpath,
                       "RUNPATH of /lab/libuse.so",
                       "/lab/old",
                       SearchStep::Outcome::found,
                       "/lab/old/libver.so.1")};
  Edge& lost = build.edge(build.needs(use, nowhere));
  lost.first = true;
  lost.fatal = "cannot open shared object file: No such file or directory";
  lost.search = {
      step(Rule::runpath, "RUNPATH of /lab/libuse.so", "/lab/old", SearchStep::Outcome::absent),
      step(Rule::cache, "ld.so.cache", "/etc/ld.so.cache", SearchStep::Outcome::absent),
      step(Rule::default_dir,
           "",
           "/usr/lib",
           SearchStep::Outcome::wrong_class,
           "/usr/lib/libnowhere.so.7",
           "32 bit")};
  return build.trace;
}

Trace cyclic() {
  TraceBuilder build;
  const NodeId program = build.executable("/bin/prog", 100);
  const NodeId one = build.library("/lib/libone.so.1", 1000);
  const NodeId two = build.library("/lib/libtwo.so.1", 2000);
  build.needs(program, one);
  build.needs(one, two);
  build.needs(two, one);
  build.needs(program, two);
  return build.trace;
}

Trace preloaded() {
  TraceBuilder build;
  const NodeId python = build.executable("/usr/bin/python3", mib(6));
  const NodeId libc = build.library("/lib/libc.so.6", mib(1.9));
  build.needs(python, libc);
  const NodeId preload =
      build.environment("env:LD_PRELOAD", "/lab/libmymalloc.so.2:/lab/libjemalloc.so.9");
  const NodeId malloc = build.library("/lab/libmymalloc.so.2", kib(15.9));
  const NodeId gone = build.missing("/lab/libjemalloc.so.9");
  for (const NodeId library : {malloc, gone}) {
    Edge edge = make_edge(preload,
                          library,
                          EdgeKind::preload,
                          library == malloc ? "/lab/libmymalloc.so.2" : "/lab/libjemalloc.so.9");
    edge.first = true;
    edge.rule = library == malloc ? Rule::preload : Rule::none;
    edge.optional = true;
    build.trace.graph.connect(std::move(edge));
  }
  build.needs(malloc, libc);
  return build.trace;
}

Trace statically_linked() {
  TraceBuilder build("pid:77", 77);
  build.executable("/bin/static", kib(900));
  return build.trace;
}

Trace many(std::size_t libraries) {
  TraceBuilder build;
  const NodeId python = build.executable("/usr/bin/python3", mib(6));
  const NodeId libc = build.library("/lib/libc.so.6", mib(1.9));
  build.needs(python, libc);
  std::vector<NodeId> made;
  for (std::size_t i = 0; made.size() < libraries; ++i) {
    const std::string module = fmt::format("pkg{}.part{}", i / 6, i % 6);
    made.push_back(build.extension(module,
                                   fmt::format("/site/pkg{}/part{}.abi3.so", i / 6, i % 6),
                                   std::uint64_t{1024} * (100 + i)));
    build.needs(made.back(), libc);
    if (i % 3 == 0) {
      const NodeId bundled =
          build.library(fmt::format("/site/pkg{0}.libs/libbundled{1}.so.1", i / 6, i),
                        std::uint64_t{1024} * (500 + 3 * i));
      build.needs(made.back(), bundled);
      build.needs(bundled, libc);
      if (made.size() > 7) {
        build.needs(bundled, made[made.size() - 7]);
      }
      made.push_back(bundled);
    }
  }
  for (int i = 0; i < 12; ++i) {
    build.library(fmt::format("/opt/liborphan{}.so", i), kib(10 + i));
  }
  return build.trace;
}

std::string rendered(std::string_view form, const Trace& trace, const RenderOptions& options) {
  const auto text = make_renderer(form, options)->trace(trace, summarize(trace, ByteKind::file));
  REQUIRE(text);
  return text.value();
}

std::string why_rendered(std::string_view form,
                         const Trace& trace,
                         std::string_view query,
                         const RenderOptions& options) {
  const Summary summary = summarize(trace, ByteKind::file);
  const WhyAnswer answer = explain_why(trace, summary, query, options.depth);
  const auto text = make_renderer(form, options)->why(trace, summary, answer);
  REQUIRE(text);
  return text.value();
}

}  // namespace tracso::test
