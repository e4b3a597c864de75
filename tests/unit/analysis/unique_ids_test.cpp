#include "analysis/unique_ids.hpp"

#include "support/build_trace.hpp"
#include "support/catch.hpp"

#include <set>
#include <string>

using namespace tracso;
using tracso::test::TraceBuilder;

TEST_CASE("ids: a name of its own is the id", "[ids]") {
  TraceBuilder build;
  build.library("/l/libz.so.1");
  build.extension("_ssl", "/d/_ssl.cpython-311-x86_64-linux-gnu.so");
  build.missing("libgone.so");
  const auto ids = unique_ids(build.trace.graph);
  CHECK(ids ==
        std::vector<std::string>{"pid:4192", "libz.so.1", "py:_ssl", "_ssl.so", "libgone.so"});
}

TEST_CASE("ids: the shortest piece of the path tells equal names apart", "[ids]") {
  TraceBuilder build;
  const NodeId a = build.library("/site/alpha/_core.cpython-311-x86_64-linux-gnu.so");
  const NodeId b = build.library("/site/beta/_core.cpython-311-x86_64-linux-gnu.so");
  const NodeId c = build.library("/opt/x/beta/_core.abi3.so");
  const auto ids = unique_ids(build.trace.graph);
  CHECK(ids[index(a)] == "_core.so (alpha/_core.so)");
  CHECK(ids[index(b)] == "_core.so (site/beta/_core.so)");
  CHECK(ids[index(c)] == "_core.so (x/beta/_core.so)");
}

TEST_CASE("ids: of two files with one soname the file name can be enough", "[ids]") {
  TraceBuilder build;
  const NodeId a = build.library("/a/libz.so.1.2"), b = build.library("/a/libz.so.1.3");
  build.file(a).elf.dynamic.soname = build.file(b).elf.dynamic.soname = "libz.so.1";
  const auto ids = unique_ids(build.trace.graph);
  CHECK(ids[index(a)] == "libz.so.1 (libz.so.1.2)");
  CHECK(ids[index(b)] == "libz.so.1 (libz.so.1.3)");
}

TEST_CASE("ids: one path inside another, a path twice, and none at all", "[ids]") {
  TraceBuilder build;
  const NodeId inner = build.library("/a/x.so"), outer = build.library("/b/a/x.so");
  const NodeId old = build.library("/c/y.so"), replaced = build.library("/c/y.so");
  const NodeId z = build.library("/c/z.so"), gone = build.missing("z.so");
  const NodeId gone_too = build.missing("z.so");
  const auto ids = unique_ids(build.trace.graph);
  CHECK(ids[index(inner)] == "x.so (/a/x.so)");
  CHECK(ids[index(outer)] == "x.so (b/a/x.so)");
  CHECK(ids[index(old)] == "y.so (/c/y.so)");
  CHECK(ids[index(replaced)] == "y.so (/c/y.so) #2");
  CHECK(ids[index(z)] == "z.so");
  CHECK(ids[index(gone)] == "z.so (missing)");
  CHECK(ids[index(gone_too)] == "z.so (missing) #2");
}

TEST_CASE("ids: the label of a FILE keeps its name, the file gets a piece of its path", "[ids]") {
  TraceBuilder build("libz.so.1", 0);
  const NodeId file = build.library("/l/libz.so.1");
  const auto ids = unique_ids(build.trace.graph);
  CHECK(ids[index(build.root())] == "libz.so.1");
  CHECK(ids[index(file)] == "libz.so.1 (l/libz.so.1)");
}

TEST_CASE("ids: names chosen to collide, and bytes that are not UTF-8, stay apart", "[ids]") {
  TraceBuilder build;
  build.library("/alpha/_core.so");
  build.library("/beta/_core.so");
  build.python("x");
  build.library("/py:x");
  build.missing("_core.so (alpha/_core.so)");
  build.missing("bad\xff");
  build.missing("bad\xfe");
  build.missing("bad\xef\xbf\xbd");
  build.missing("");
  build.missing("");
  const auto ids = unique_ids(build.trace.graph);
  CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == ids.size());
  CHECK(ids[2 + 3] == "_core.so)");
}

TEST_CASE("ids: thousands of equal names and deep paths cost no square", "[ids]") {
  TraceBuilder build;
  std::string deep;
  for (int i = 0; i < 300; ++i) {
    deep += "/a";
  }
  for (int i = 0; i < 2000; ++i) {
    build.library("/" + std::to_string(i) + deep + "/x.so");
    build.missing("gone.so");
  }
  const auto ids = unique_ids(build.trace.graph);
  CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == ids.size());
}
