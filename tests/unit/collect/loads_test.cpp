#include "collect/loads.hpp"

#include "support/build_trace.hpp"
#include "support/catch.hpp"

#include <algorithm>

using namespace tracso;

using launch::LoadCause;
using launch::LoadRecord;
using std::chrono::milliseconds;

namespace {

constexpr std::uint64_t dynamic_offset = 0x2000;

// A process whose libraries lie 1 MB apart; records name them by their addresses.
class Run {
 public:
  NodeId place(NodeId node) {
    next_base_ += 0x100000;
    build.file(node).bases = {next_base_};
    build.file(node).in_link_map = true;
    return node;
  }

  std::uint64_t dynamic_of(NodeId node) { return build.file(node).bases.front() + dynamic_offset; }

  LoadRecord record(NodeId node, LoadCause cause, int at_ms) {
    LoadRecord record;
    record.name = build.file(node).path.text;
    record.base = build.file(node).bases.front();
    record.dynamic = dynamic_of(node);
    record.cause = cause;
    record.began = milliseconds(at_ms);
    record.ended = milliseconds(at_ms + 2);
    record.dlopen = cause == LoadCause::startup ? 0 : static_cast<std::size_t>(at_ms);
    return record;
  }

  EdgeId hang_on_root(NodeId node) {
    const EdgeId id = build.connect(build.root(), node, EdgeKind::dlopen);
    build.edge(id).detail = "dlopen, caller unknown";
    build.edge(id).first = true;
    return id;
  }

  std::vector<const Edge*> causes(NodeId node) const {
    std::vector<const Edge*> edges;
    for (const EdgeId id : build.trace.graph.causes_of(node)) {
      edges.push_back(&build.trace.graph[id]);
    }
    return edges;
  }

  test::TraceBuilder build;

 private:
  std::uint64_t next_base_ = 0x7f0000000000;
};

std::vector<ImportStep> chain() {
  return {{"pkg", "/srv/app.py", 3, "__main__"}, {"pkg._core", "/site/pkg/__init__.py", 12, "pkg"}};
}

}  // namespace

TEST_CASE("loads: an extension module came by its own import", "[collect][loads]") {
  Run run;
  run.place(run.build.executable("/usr/bin/python3"));
  const NodeId core = run.place(run.build.extension("pkg._core", "/site/pkg/_core.so"));
  const NodeId z = run.place(run.build.library("/lib/libz.so.1"));
  run.build.needs(core, z);
  auto first = run.record(core, LoadCause::dlopen, 10);
  first.imports = chain();
  auto second = run.record(z, LoadCause::needed, 10);
  second.requester = run.dynamic_of(core);
  second.imports = chain();
  const std::vector<LoadRecord> records{first, second};
  add_loads(run.build.trace, records, {});

  const Trace& trace = run.build.trace;
  REQUIRE(trace.loads.size() == 2);
  CHECK(trace.loads[0].object == core);
  CHECK(display_name(trace.graph[*trace.loads[0].cause]) == "py:pkg._core");
  CHECK(trace.loads[0].time_ns == 10'000'000);
  CHECK(trace.loads[0].duration_ns == 2'000'000);
  CHECK(trace.loads[1].cause == core);
  CHECK(trace.loads[0].dlopen == trace.loads[1].dlopen);
  const auto causes = run.causes(core);
  REQUIRE(causes.size() == 1);
  REQUIRE(causes[0]->importers.size() == 1);
  CHECK(causes[0]->importers[0] == Importer{"pkg", "/site/pkg/__init__.py", 12, true});
  CHECK(run.causes(z)[0]->importers.empty());
}

TEST_CASE("loads: what was inferred before gives way to what was seen", "[collect][loads]") {
  Run run;
  const NodeId core = run.place(run.build.extension("pkg._core", "/site/pkg/_core.so"));
  const EdgeId origin = run.build.trace.graph.causes_of(core)[0];
  run.build.edge(origin).importers = {Importer{"guess", "/site/guess.py", 1, false}};
  auto record = run.record(core, LoadCause::dlopen, 10);
  record.imports = chain();
  const std::vector<LoadRecord> records{record};
  add_loads(run.build.trace, records, {});
  REQUIRE(run.causes(core)[0]->importers.size() == 1);
  CHECK(run.causes(core)[0]->importers[0].observed);
}

TEST_CASE("loads: a dlopen hangs on its caller once that is known", "[collect][loads]") {
  Run run;
  const NodeId ctypes = run.place(run.build.extension("_ctypes", "/lib/_ctypes.so"));
  const NodeId plugin = run.place(run.build.library("/opt/libplugin.so"));
  run.hang_on_root(plugin);
  auto record = run.record(plugin, LoadCause::dlopen, 20);
  record.requester = run.dynamic_of(ctypes);
  record.imports = {{"", "/srv/app.py", 7, "__main__"}};
  std::vector<LoadRecord> records{run.record(ctypes, LoadCause::dlopen, 10), record};
  SECTION("an object") {
    add_loads(run.build.trace, records, {});
    const auto causes = run.causes(plugin);
    REQUIRE(causes.size() == 1);
    CHECK(causes[0]->from == ctypes);
    CHECK(causes[0]->kind == EdgeKind::dlopen);
    CHECK(causes[0]->first);
    CHECK(causes[0]->detail.empty());
    CHECK(causes[0]->importers[0] == Importer{"__main__", "/srv/app.py", 7, true});
  }
  SECTION("nobody knows") {
    records[1].requester = 0;
    add_loads(run.build.trace, records, {});
    REQUIRE(run.causes(plugin).size() == 1);
    CHECK(run.causes(plugin)[0]->from == run.build.root());
    CHECK(run.causes(plugin)[0]->detail == "dlopen, caller unknown");
  }
  SECTION("libc opens for itself: no user speaks") {
    const NodeId libc = run.place(run.build.library("/lib/libc.so.6"));
    records.insert(records.begin(), run.record(libc, LoadCause::startup, 0));
    records.back().requester = run.dynamic_of(libc);
    add_loads(run.build.trace, records, {});
    CHECK(run.causes(plugin)[0]->from == run.build.root());
  }
}

TEST_CASE("loads: what came and went is there and counts nowhere", "[collect][loads]") {
  Run run;
  const NodeId opener = run.place(run.build.library("/opt/libopener.so"));
  run.hang_on_root(opener);
  LoadRecord gone;
  gone.name = "/opt/libgone.so";
  gone.base = 0x7f0000900000;
  gone.dynamic = gone.base + dynamic_offset;
  gone.cause = LoadCause::dlopen;
  gone.requester = run.dynamic_of(opener);
  gone.began = milliseconds(30);
  gone.ended = milliseconds(31);
  gone.unloaded = milliseconds(40);
  LoadRecord again = gone;
  again.began = milliseconds(50);
  again.unloaded = milliseconds(60);
  LoadRecord below = gone;  // came with it, by its need
  below.name = "/opt/libbelow.so";
  below.dynamic += 0x100000;
  below.cause = LoadCause::needed;
  below.requester = gone.dynamic;
  const std::vector<LoadRecord> records{
      run.record(opener, LoadCause::dlopen, 20), gone, below, again};
  add_loads(run.build.trace, records, {});

  const Trace& trace = run.build.trace;
  REQUIRE(trace.loads.size() == 4);
  const NodeId node = trace.loads[1].object;
  const ObjectFile* file = object(trace.graph[node]);
  REQUIRE(file != nullptr);
  CHECK_FALSE(file->loaded);
  CHECK(file->path.text == "/opt/libgone.so");
  CHECK(file->note == "it was unloaded again");
  CHECK(trace.loads[3].object == node);
  CHECK(trace.loads[1].unloaded_ns == 40'000'000);
  CHECK(trace.loads[1].cause == opener);
  CHECK(trace.loads[2].cause == node);
  CHECK(run.causes(trace.loads[2].object)[0]->kind == EdgeKind::needed);
}

TEST_CASE("loads: an address that is used again names the object of its time", "[collect][loads]") {
  Run run;
  const NodeId now = run.place(run.build.library("/opt/libnow.so"));
  const NodeId late = run.place(run.build.library("/opt/liblate.so"));
  run.hang_on_root(now);
  run.hang_on_root(late);
  LoadRecord before = run.record(now, LoadCause::dlopen, 10);
  before.name = "/opt/libbefore.so";
  before.unloaded = milliseconds(20);
  LoadRecord opened_before = run.record(late, LoadCause::dlopen, 15);
  opened_before.requester = before.dynamic;
  const std::vector<LoadRecord> records{
      before, opened_before, run.record(now, LoadCause::dlopen, 30)};
  add_loads(run.build.trace, records, {});
  const Trace& trace = run.build.trace;
  CHECK(trace.loads[0].object != now);
  CHECK(trace.loads[2].object == now);
  CHECK(trace.loads[1].cause == trace.loads[0].object);
}

TEST_CASE("loads: a load address above the first segment is no obstacle", "[collect][loads]") {
  Run run;
  const NodeId odd = run.place(run.build.library("/opt/libodd.so.1"));
  auto record = run.record(odd, LoadCause::dlopen, 10);
  record.base -= 0x10000;  // l_addr of a library whose first segment begins at 0x10000
  const std::vector<LoadRecord> records{record};
  add_loads(run.build.trace, records, {});
  CHECK(run.build.trace.loads[0].object == odd);
}

TEST_CASE("loads: a file is one node by whatever name it came", "[collect][loads]") {
  Run run;
  const NodeId plugin = run.place(run.build.library("/opt/c/libplugin.so"));
  const auto before = [&](std::string name) {
    LoadRecord record = run.record(plugin, LoadCause::dlopen, 10);
    record.name = std::move(name);
    record.unloaded = milliseconds(20);
    return record;
  };
  const std::vector<LoadRecord> records{before("./c/libplugin.so"),
                                        before("/opt/x/../c/./libplugin.so"),
                                        run.record(plugin, LoadCause::dlopen, 30)};
  const std::size_t nodes = run.build.trace.graph.nodes().size();
  add_loads(run.build.trace, records, {});
  CHECK(run.build.trace.graph.nodes().size() == nodes);
  for (const Load& load : run.build.trace.loads) {
    CHECK(load.object == plugin);
  }
}

TEST_CASE("loads: the vdso is no load", "[collect][loads]") {
  Run run;
  LoadRecord vdso;
  vdso.name = "linux-vdso.so.1";
  vdso.dynamic = 0x7ffff000;
  const std::vector<LoadRecord> records{vdso};
  const std::size_t nodes = run.build.trace.graph.nodes().size();
  add_loads(run.build.trace, records, {});
  CHECK(run.build.trace.loads.empty());
  CHECK(run.build.trace.graph.nodes().size() == nodes);
}

TEST_CASE("loads: the program has no name", "[collect][loads]") {
  Run run;
  const NodeId program = run.place(run.build.executable("/usr/bin/app"));
  auto record = run.record(program, LoadCause::startup, 0);
  record.name.clear();
  const std::vector<LoadRecord> records{record};
  add_loads(run.build.trace, records, {});
  CHECK(run.build.trace.loads[0].object == program);
  CHECK(run.build.trace.loads[0].dlopen == 0);
}

TEST_CASE("loads: a refusal keeps the loader's words and who asked", "[collect][loads]") {
  Run run;
  const NodeId opener = run.place(run.build.library("/opt/libopener.so"));
  launch::FailedLoad failed;
  failed.name = "libnone.so.1";
  failed.reason = "cannot open shared object file: No such file or directory";
  failed.at = milliseconds(50);
  failed.requester = run.dynamic_of(opener);
  failed.imports = chain();
  const std::vector<LoadRecord> records{run.record(opener, LoadCause::dlopen, 20)};
  const std::vector<launch::FailedLoad> refused{failed};
  add_loads(run.build.trace, records, refused);
  REQUIRE(run.build.trace.failed_loads.size() == 1);
  const auto& seen = run.build.trace.failed_loads[0];
  CHECK(seen.time_ns == 50'000'000);
  CHECK(seen.name == "libnone.so.1");
  CHECK(seen.cause == opener);
  CHECK(seen.imports == chain());
}
