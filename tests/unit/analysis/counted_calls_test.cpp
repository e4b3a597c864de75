#include "tracso/analysis.hpp"

#include "support/build_trace.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace tracso;
using tracso::test::TraceBuilder;

namespace {

using Callers = std::vector<LibraryCaller>;

const CalledLibrary& use_of(const Summary& summary, NodeId id) {
  return summary.uses[index(id)];
}

}  // namespace

TEST_CASE("counted calls: a package stands for the library that it alone brought", "[calls]") {
  TraceBuilder build;
  const NodeId python = build.executable("/usr/bin/python3");
  const NodeId libc = build.library("/lib/libc.so.6", 1);
  const NodeId ssl = build.extension("_ssl", "/d/_ssl.so", 1);
  const NodeId hash = build.extension("_hashlib", "/d/_hashlib.so", 1);
  const NodeId libssl = build.library("/lib/libssl.so.3", 1);
  const NodeId crypto = build.library("/lib/libcrypto.so.3", 1);
  build.needs(ssl, libssl);
  build.needs(libssl, crypto);
  build.needs(hash, crypto);
  build.trace.calls = CallWatch{1'000'000'000,
                                {{crypto, libc, 50},
                                 {hash, crypto, 7},
                                 {libssl, crypto, 5},
                                 {ssl, libssl, 4},
                                 {python, libc, 60}},
                                0};
  const Summary summary = summarize(build.trace, ByteKind::file);
  CHECK(use_of(summary, crypto).callers == Callers{{"py:_hashlib", 7}, {"py:_ssl", 5}});
  CHECK(use_of(summary, crypto).called == 12);
  CHECK(use_of(summary, crypto).calls == 50);
  CHECK(use_of(summary, libssl).callers == Callers{{"py:_ssl", 4}});
  // libcrypto works for two packages: for which one, nobody has seen.
  CHECK(use_of(summary, libc).callers == Callers{{"python3", 60}, {"libcrypto.so.3", 50}});
  CHECK(use_of(summary, ssl).called == 0);
  CHECK(use_of(summary, ssl).is_used());
}

TEST_CASE("counted calls: nobody counted, nothing is said", "[calls]") {
  TraceBuilder build;
  build.executable("/usr/bin/python3");
  CHECK(summarize(build.trace, ByteKind::file).uses.empty());
  build.trace.calls = CallWatch{1'000'000'000, {}, 0};
  const Summary summary = summarize(build.trace, ByteKind::file);
  REQUIRE(summary.uses.size() == build.trace.graph.nodes().size());
  CHECK_FALSE(summary.uses.back().is_used());
}
