#include "compare/trace_diff.hpp"

#include "tracso/analysis.hpp"

#include "render/diff_forms.hpp"
#include "support/build_trace.hpp"
#include "support/catch.hpp"

#include <algorithm>

namespace tracso {
namespace {

using test::TraceBuilder;

TraceDiff diff_of(const TraceBuilder& before, const TraceBuilder& after) {
  return compare_traces(before.trace,
                        summarize(before.trace, ByteKind::file),
                        after.trace,
                        summarize(after.trace, ByteKind::file));
}

TEST_CASE("diff: a trace has no difference to itself", "[compare][diff]") {
  TraceBuilder one;
  one.executable("/usr/bin/python3");
  one.library("/usr/lib/libz.so.1", 100);
  const TraceDiff diff = diff_of(one, one);
  CHECK(diff.added.empty());
  CHECK(diff.removed.empty());
  CHECK(diff.changed.empty());
  CHECK(diff.packages.empty());
  CHECK(diff.same == 1);
  CHECK(diff_text({}, diff).find("No difference") != std::string::npos);
}

TEST_CASE("diff: a process that grows by its heap is said to", "[compare][diff]") {
  constexpr std::uint64_t megabyte = 1024 * 1024;
  TraceBuilder before;
  before.library("/usr/lib/libz.so.1", 100);
  before.trace.memory.emplace().uses[static_cast<std::size_t>(MemoryClass::heap)].private_bytes =
      14 * megabyte;
  TraceBuilder after = before;
  after.trace.memory->uses[static_cast<std::size_t>(MemoryClass::heap)].private_bytes =
      308 * megabyte;
  const std::string grown = diff_text({}, diff_of(before, after));
  CHECK(grown.find("all private memory of the process") != std::string::npos);
  CHECK(grown.find("heap (malloc)") != std::string::npos);
  CHECK(grown.find("+294.0 MB") != std::string::npos);
  CHECK(grown.find("No difference") == std::string::npos);
  // A page more or less is no news.
  after.trace.memory->uses[static_cast<std::size_t>(MemoryClass::heap)].private_bytes =
      14 * megabyte + 4096;
  CHECK(diff_text({}, diff_of(before, after)).find("No difference") != std::string::npos);
}

TEST_CASE("diff: a wheel's new hash is the same library, not two", "[compare][diff]") {
  TraceBuilder before;
  before.library("/site/numpy.libs/libfoo-1a2b3c4d.so.1.2.3", 100);
  TraceBuilder after;
  after.library("/site/numpy.libs/libfoo-9f8e7d6c.so.1.3.0", 160);
  const TraceDiff diff = diff_of(before, after);
  CHECK(diff.added.empty());
  CHECK(diff.removed.empty());
  REQUIRE(diff.changed.size() == 1);
  CHECK(diff.changed[0].how == "name without version");
  CHECK(diff.changed[0].file == BytesChange{100, 160});
}

TEST_CASE("diff: the parts of a family are matched each with its own", "[compare][diff]") {
  TraceBuilder before;
  before.library("/old/libssl.so.1.1", 10);
  before.library("/old/libcrypto.so.1.1", 20);
  TraceBuilder after;
  after.library("/new/libcrypto.so.3", 40);
  after.library("/new/libssl.so.3", 30);
  const TraceDiff diff = diff_of(before, after);
  REQUIRE(diff.changed.size() == 2);
  for (const LibraryChange& one : diff.changed) {
    const bool ssl = one.old_path == "/old/libssl.so.1.1";
    CHECK(one.new_path == (ssl ? "/new/libssl.so.3" : "/new/libcrypto.so.3"));
    CHECK(one.how == (ssl ? "family openssl ssl" : "family openssl crypto"));
  }
}

TEST_CASE("diff: the same path with other content is changed", "[compare][diff]") {
  TraceBuilder before;
  before.file(before.library("/usr/lib/libz.so.1", 100)).elf.build_id = "aa";
  TraceBuilder after;
  after.file(after.library("/usr/lib/libz.so.1", 100)).elf.build_id = "bb";
  const TraceDiff diff = diff_of(before, after);
  REQUIRE(diff.changed.size() == 1);
  CHECK(diff.changed[0].what == std::vector<std::string>{"build id"});
}

TEST_CASE("diff: what came, what went, and the sums", "[compare][diff]") {
  TraceBuilder before;
  before.library("/usr/lib/liba.so", 100);
  TraceBuilder after;
  after.library("/usr/lib/libb.so", 300);
  after.library("/usr/lib/libd.so", 400);
  const TraceDiff diff = diff_of(before, after);
  REQUIRE(diff.added.size() == 2);
  CHECK(diff.added[0].new_path == "/usr/lib/libd.so");  // heaviest first
  REQUIRE(diff.removed.size() == 1);
  CHECK(diff.file == BytesChange{100, 700});
  const std::string json = diff_json(diff);
  CHECK(json.find("\"kind\": \"diff\"") != std::string::npos);
  CHECK(json.find("/usr/lib/libd.so") != std::string::npos);
}

TEST_CASE("diff: findings that appeared and that are gone", "[compare][diff]") {
  TraceBuilder before;
  const NodeId old_library = before.library("/a/libfoo-1a2b3c4d.so.1", 1);
  TraceBuilder after;
  const NodeId new_library = after.library("/a/libfoo-9f8e7d6c.so.1", 1);
  Finding finding;
  finding.code = "dup-openmp";
  finding.title = "two runtimes";
  finding.nodes = {old_library};
  before.trace.findings = {finding};
  finding.nodes = {new_library};
  after.trace.findings = {finding};
  finding.code = "deleted-file";
  after.trace.findings.push_back(finding);
  finding.code = "heavy-one";  // of a document: a process has none of these
  before.trace.findings.push_back(finding);
  const TraceDiff diff = diff_of(before, after);
  REQUIRE(diff.appeared.size() == 1);
  CHECK(diff.appeared[0].code == "deleted-file");
  CHECK(diff.gone.empty());
}

}  // namespace
}  // namespace tracso
