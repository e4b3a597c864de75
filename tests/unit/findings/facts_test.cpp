// The rules that look beyond the graph: symbols, places, memory. Each raised once, and once where
// it must be silent.

#include "tracso/findings.hpp"

#include "support/catch.hpp"
#include "support/finding_case.hpp"

#include <algorithm>

using namespace tracso;
using Severity = Finding::Severity;
using Case = test::FindingCase;
using test::place;
using test::says;

TEST_CASE("findings: two OpenSSLs are an error once one symbol crosses over", "[findings]") {
  Case one;
  const NodeId three = one.library("/lib/libcrypto.so.3", "aa");
  const NodeId old = one.library("/pq.libs/libcrypto-1a2b3c4d.so.1.1", "bb");
  const NodeId pq = one.library("/pq/_pq.so", "cc");
  SECTION("none crosses") {
    const auto finding = one.raised("dup-openssl");
    REQUIRE(finding);
    CHECK(finding->severity == Severity::note);
    CHECK(says(*finding, "no symbol of one goes to the other"));
  }
  SECTION("one crosses") {
    one.cross(pq, three, old);
    const auto finding = one.raised("dup-openssl");
    REQUIRE(finding);
    CHECK(finding->severity == Severity::error);
    CHECK(says(*finding, "f of _pq.so goes to libcrypto.so.3, not to libcrypto-1a2b3c4d.so.1.1"));
    CHECK_FALSE(one.raised("interposed"));  // said once
  }
  SECTION("their releases") {
    one.facts.versions = {{three, "3.0.19", "its own text"}, {old, "", ""}};
    CHECK(says(*one.raised("dup-openssl"), "libcrypto.so.3 is 3.0.19 (its own text)"));
    CHECK_FALSE(says(*one.raised("dup-openssl"), "libcrypto-1a2b3c4d.so.1.1 is"));
  }
  SECTION("symbols were not read") {
    one.facts.symbols = false;
    CHECK(says(*one.raised("dup-openssl"), "not looked at"));
  }
}

TEST_CASE("findings: a runtime linked into an extension counts as one", "[findings]") {
  Case one;
  one.library("/lib/libgomp.so.1", "aa");
  const NodeId inside = one.library("/site/pkg/_core.so", "bb");
  CHECK_FALSE(one.raised("dup-openmp"));
  one.facts.runtimes.push_back({inside, "openmp", "LLVM", "__kmpc_fork_call"});
  const auto finding = one.raised("dup-openmp");
  REQUIRE(finding);
  CHECK(finding->title.find("linked into it") != std::string::npos);
  CHECK(says(*finding, "__kmpc_fork_call"));
}

TEST_CASE("findings: one library inside of two extensions is there twice", "[findings]") {
  Case one;
  const NodeId lxml = one.library("/site/lxml/etree.so", "aa");
  const NodeId xmlsec = one.library("/site/xmlsec.so", "bb");
  one.facts.runtimes.push_back({lxml, "libxml2", "", "xmlInitParser"});
  CHECK_FALSE(one.raised("dup-library"));
  one.facts.runtimes.push_back({xmlsec, "libxml2", "", "xmlInitParser"});
  const auto finding = one.raised("dup-library");
  REQUIRE(finding);
  CHECK(finding->severity == Severity::warning);
  CHECK(says(*finding, "etree.so exports xmlInitParser"));
}

TEST_CASE("findings: interposed functions are grave between two builds of one library",
          "[findings]") {
  Case one;
  const NodeId mine = one.library("/a.libs/libfoo-1a2b3c4d.so.1.2", "aa");
  const NodeId other = one.library("/lib/libfoo.so.1", "bb");
  const NodeId bar = one.library("/lib/libbar.so.1", "cc");
  SECTION("two builds") {
    one.cross(mine, other, mine);
    const auto finding = one.raised("interposed");
    REQUIRE(finding);
    CHECK(finding->severity == Severity::error);
    CHECK(says(*finding, "not to its own"));
    LibraryUse idle;
    idle.node = mine;
    idle.needed_for_nothing = true;
    one.facts.uses = {idle};
    CHECK(one.raised("interposed")->severity == Severity::note);
  }
  SECTION("two libraries") {
    one.cross(mine, bar, other);
    CHECK(one.raised("interposed")->severity == Severity::note);
  }
  SECTION("the same build twice") {
    one.build.file(other).elf.build_id = "aa";
    one.cross(mine, other, mine);
    CHECK(one.raised("interposed")->severity == Severity::note);
  }
  SECTION("by design") {
    one.cross(mine, other, mine, "preload");
    CHECK_FALSE(one.raised("interposed"));
  }
}

TEST_CASE("findings: malloc of two libraries", "[findings]") {
  Case one;
  const NodeId libc = one.library("/lib/libc.so.6", "aa");
  const NodeId loader = one.library("/lib/ld-linux-x86-64.so.2", "bb");
  const NodeId jemalloc = one.library("/site/libjemalloc.so.2", "cc");
  one.facts.malloc_providers = {libc, loader};
  CHECK_FALSE(one.raised("allocators"));
  one.facts.malloc_providers = {libc, loader, jemalloc};
  CHECK(one.raised("allocators")->severity == Severity::warning);
  one.build.file(jemalloc).first_cause = "preload";
  CHECK(one.raised("allocators")->severity == Severity::note);
}

TEST_CASE("findings: unused libraries say so far", "[findings]") {
  Case one;
  const NodeId used = one.library("/lib/libused.so", "aa");
  const NodeId idle = one.library("/lib/libidle.so", "bb");
  one.facts.uses.push_back(
      {used, LibraryUse::State::used, "1 function called by x", 1, 1, {}, false});
  one.facts.uses.push_back({used, LibraryUse::State::unknown, "bound at once", 1, 0, {}, false});
  CHECK_FALSE(one.raised("needed-unused"));
  one.facts.uses.push_back({idle,
                            LibraryUse::State::not_called_so_far,
                            "2 functions, none called so far",
                            2,
                            0,
                            {},
                            false});
  const auto finding = one.raised("needed-unused");
  REQUIRE(finding);
  CHECK(finding->severity == Severity::note);
  CHECK(finding->title.find("so far") != std::string::npos);
  CHECK(finding->nodes == std::vector<NodeId>{idle});
}

TEST_CASE("findings: places that others may write to", "[findings]") {
  Case one;
  const NodeId node = one.library("/opt/ww/libx.so", "aa");
  constexpr std::uint32_t directory = 040000, file = 0100000;
  SECTION("the user's own, root's own") {
    Place own = place(Place::What::directory, "/home/u/venv", node, directory | 0755);
    own.owner = 1000;
    Place roots = place(Place::What::file, "/opt/ww/libx.so", node, file | 0644);
    roots.file_system = "nfs4";
    one.facts.places = {own, roots};
    CHECK_FALSE(one.raised("path-writable"));
    CHECK(one.raised("net-fs")->severity == Severity::note);
  }
  SECTION("anybody") {
    one.facts.places = {place(Place::What::directory, "/opt/ww", node, directory | 01777)};
    const auto finding = one.raised("path-writable");
    REQUIRE(finding);
    CHECK(finding->severity == Severity::warning);
    CHECK(says(*finding, "/opt/ww, where libx.so lies: anybody may put files there"));
    CHECK_FALSE(one.raised("net-fs"));
  }
  SECTION("anybody, and the process is root's") {
    one.facts.user = 0;
    one.facts.places = {place(Place::What::search_path, "/opt/ww", node, directory | 0777)};
    CHECK(one.raised("path-writable")->severity == Severity::error);
  }
  SECTION("another user") {
    Place theirs = place(Place::What::file, "/opt/ww/libx.so", node, file | 0644);
    theirs.owner = 1001;
    one.facts.places = {theirs};
    CHECK(says(*one.raised("path-writable"), "belongs to user 1001"));
  }
  SECTION("a directory that is not there") {
    Place gone = place(Place::What::search_path, "/tmp/build/lib", node, 0);
    gone.exists = false;
    one.facts.places = {gone};
    CHECK_FALSE(one.raised("path-gone"));
    one.facts.places[0].creatable = true;
    CHECK(one.raised("path-gone")->severity == Severity::warning);
    CHECK_FALSE(one.raised("path-writable"));
  }
}

TEST_CASE("findings: memory that can be written and executed", "[findings]") {
  Case one;
  CHECK_FALSE(one.raised("mem-rwx"));
  one.facts.writable_code = {{"[stack]", 8192, 1}, {"", 4096, 2}};
  const auto finding = one.raised("mem-rwx");
  REQUIRE(finding);
  CHECK(finding->severity == Severity::warning);
  CHECK(says(*finding, "[stack]"));
  CHECK(says(*finding, "anonymous memory: 4.0 KB in 2 mappings"));
  one.library("/lib/libLLVM-14.so.1", "aa");
  CHECK(one.raised("mem-rwx")->severity == Severity::note);
}

TEST_CASE("findings: descriptors, and a variable that was ignored", "[findings]") {
  Case one;
  one.facts.descriptors = 800;
  one.facts.descriptor_limit = 1000;
  CHECK_FALSE(one.raised("fd-pressure"));
  one.facts.descriptors = 801;
  CHECK(one.raised("fd-pressure"));
  one.facts.secure = true;
  CHECK_FALSE(one.raised("setuid-env"));
  one.facts.library_path_set = true;
  CHECK(one.raised("setuid-env")->severity == Severity::note);
}

TEST_CASE("findings: an extension of another Python", "[findings]") {
  Case one;
  one.build.trace.process = ProcessInfo{};
  one.build.trace.process->python = PythonInfo{"3.11.2", "cpython", "memory", 1};
  one.library("/x/_a.cpython-311-x86_64-linux-gnu.so", "aa");
  one.library("/x/_b.abi3.so", "bb");
  CHECK_FALSE(one.raised("py-abi"));
  one.library("/x/_c.cpython-310-x86_64-linux-gnu.so", "cc");
  const auto finding = one.raised("py-abi");
  REQUIRE(finding);
  CHECK(finding->nodes.size() == 1);
}

TEST_CASE("findings: CUDA's stub, and parts of two releases", "[findings]") {
  Case one;
  one.library("/usr/lib/libcuda.so.1", "aa");
  one.library("/site/nvidia/cudnn/lib/libcudnn.so.9", "bb");
  one.library("/site/nvidia/cudnn/lib/libcudnn_ops.so.9", "cc");
  CHECK_FALSE(one.raised("stub-cuda"));
  CHECK_FALSE(one.raised("mixed-cuda"));
  one.library("/usr/local/cuda/lib64/stubs/libcuda.so.1", "dd");
  one.library("/usr/lib/libcudnn_cnn.so.9", "ee");
  CHECK(one.raised("stub-cuda")->severity == Severity::error);
  CHECK(one.raised("mixed-cuda")->severity == Severity::warning);
}

TEST_CASE("findings: spare copies of C++ library functions are one note, whole ones are not",
          "[findings]") {
  Case one;
  const NodeId system = one.library("/lib/libstdc++.so.6", "aa");
  const NodeId numpy = one.library("/site/numpy/_umath.so", "bb");
  const NodeId torch = one.library("/site/torch/libc10.so", "cc");
  one.cross(numpy, system, numpy);
  one.facts.bindings.back().symbol = "_ZSt28__throw_bad_array_new_lengthv";
  one.cross(torch, system, torch);
  one.facts.bindings.back().symbol = "_ZNSt10filesystem6statusERKNS_7__cxx114pathE";
  const auto count = [&] {
    const auto all = find_problems(one.build.trace, one.facts);
    return std::count_if(all.begin(), all.end(), [](const Finding& finding) {
      return finding.code == "interposed";
    });
  };
  SECTION("two objects, one note") {
    CHECK(count() == 1);
    const auto finding = one.raised("interposed");
    CHECK(finding->severity == Severity::note);
    CHECK(finding->title == "2 functions of the C++ library are served by libstdc++.so.6");
    CHECK(says(*finding, "also there: in _umath.so, libc10.so"));
  }
  SECTION("a function of the library's own is told by itself") {
    one.cross(torch, numpy, torch);
    one.facts.bindings.back().symbol = "_ZN3c105ErrorC1Ev";
    CHECK(count() == 2);
  }
  SECTION("two whole C++ libraries") {
    const NodeId other = one.library("/conda/libstdc++.so.6", "dd");
    one.cross(torch, other, system);
    one.facts.bindings.back().symbol = "_ZNSt6locale7classicEv";
    CHECK(one.raised("interposed")->severity == Severity::error);
  }
}
