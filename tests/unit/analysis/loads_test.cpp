// What is computed from the loads that --run saw.

#include "tracso/analysis.hpp"

#include "support/build_trace.hpp"
#include "support/catch.hpp"

using namespace tracso;

namespace {

ImportStep step(std::string module, std::uint32_t line) {
  return {std::move(module), "/srv/app.py", line, "__main__"};
}

Load load_of(NodeId object, std::vector<ImportStep> imports, std::uint32_t dlopen) {
  Load load;
  load.object = object;
  load.duration_ns = 1'000'000;
  load.imports = std::move(imports);
  load.dlopen = dlopen;
  return load;
}

FailedLoad refused(std::string reason) {
  FailedLoad failed;
  failed.name = "/site/_fast.so";
  failed.reason = std::move(reason);
  return failed;
}

std::string meaning(test::TraceBuilder& build, std::string reason) {
  build.trace.failed_loads = {refused(std::move(reason))};
  const Summary summary = summarize(build.trace, ByteKind::file);
  REQUIRE(summary.refusals.size() == 1);
  return summary.refusals[0];
}

}  // namespace

TEST_CASE("import cost: the outermost import pays for all that came under it", "[loads]") {
  test::TraceBuilder build;
  const NodeId core = build.extension("numpy._core", "/site/numpy/_core.so", 1000);
  const NodeId blas = build.library("/site/libblas.so.3", 5000);
  const NodeId linalg = build.extension("numpy.linalg._l", "/site/numpy/_l.so", 300);
  const NodeId ssl = build.extension("_ssl", "/lib/_ssl.so", 200);
  const NodeId libc = build.library("/lib/libc.so.6", 9000);
  build.trace.loads = {
      load_of(libc, {}, 0),
      load_of(core, {step("numpy", 3), {"numpy._core", "/site/numpy/__init__.py", 9, "numpy"}}, 1),
      load_of(blas, {step("numpy", 3), {"numpy._core", "/site/numpy/__init__.py", 9, "numpy"}}, 1),
      load_of(linalg, {step("numpy.linalg", 3)}, 2),
      load_of(ssl, {step("ssl", 4)}, 3),
      load_of(ssl, {step("ssl", 4)}, 4)};  // unloaded and loaded again: bytes count once
  const Summary summary = summarize(build.trace, ByteKind::file);
  REQUIRE(summary.import_costs.size() == 2);
  CHECK(summary.import_costs[0].module == "numpy");
  CHECK(summary.import_costs[0].libraries == 3);
  CHECK(summary.import_costs[0].file == 6300);
  CHECK(summary.import_costs[0].load_ns == 2'000'000);
  CHECK(summary.import_costs[0].asked.line == 3);
  CHECK(summary.import_costs[1].module == "ssl");
  CHECK(summary.import_costs[1].libraries == 1);
  CHECK(summary.import_costs[1].file == 200);
  CHECK(summary.import_costs[1].load_ns == 2'000'000);
}

TEST_CASE("import cost: without loads there is none", "[loads]") {
  test::TraceBuilder build;
  build.library("/lib/libc.so.6", 9000);
  CHECK(summarize(build.trace, ByteKind::file).import_costs.empty());
}

TEST_CASE("refusals: the loader's words get a meaning", "[loads]") {
  test::TraceBuilder build;
  const auto [reason, expected] = GENERATE(table<std::string, std::string>(
      {{"cannot open shared object file: No such file or directory", "no place where the loader"},
       {"cannot open shared object file: Permission denied", "may not be read"},
       {"/lib/libc.so.6: version `GLIBC_2.38' not found (required by x)", "has no GLIBC_2.38"},
       {"version `GLIBCXX_3.4.32' not found (required by x)", "libstdc++.so.6"},
       {"version `V2' not found (required by x)", "has no version V2"},
       {"wrong ELF class: ELFCLASS32", "another word size"},
       {"undefined symbol: PyFloat_Type", "defines that symbol"},
       {"invalid ELF header", "no shared library"},
       {"file too short", "no shared library"},
       {"No such file or directory (needed by /opt/p.so)", "no place where the loader"},
       {"leaf: symbol not found", "defines that symbol"},
       {"Exec format error", "no shared library"},
       {"cannot enable executable stack as shared object requires", "executable stack"}}));
  CHECK(meaning(build, reason).find(expected) != std::string::npos);
}

TEST_CASE("refusals: static TLS names who used it up", "[loads]") {
  test::TraceBuilder build;
  const NodeId gomp = build.library("/lib/libgomp.so.1");
  build.file(gomp).elf.dynamic.flags = 0x10;
  build.library("/lib/libplain.so.1");
  const std::string text = meaning(build, "cannot allocate memory in static TLS block");
  CHECK(text.find("by libgomp.so.1;") != std::string::npos);
  CHECK(text.find("libplain") == std::string::npos);
}

TEST_CASE("refusals: unknown words stand alone", "[loads]") {
  test::TraceBuilder build;
  CHECK(meaning(build, "something that no loader says").empty());
}
