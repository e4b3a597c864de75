// GLIBC_TUNABLES and LD_HWCAP_MASK take directories from the search: what the loader of this
// machine does is what is said, of a file and of a process.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/scenario.hpp"

#include <unistd.h>

namespace tracso::test {
namespace {

constexpr const char* interpreter = "/lib64/ld-linux-x86-64.so.2";

// A libx.so in every directory that a processor of this kind may give.
struct Lab {
  Workshop shop;
  std::string exe;

  Lab() {
    REQUIRE(shop.run("mkdir -p d/x86_64/x86_64"));
    shop.library("d/libx.so", "-Wl,-soname,libx.so");
    REQUIRE(
        shop.run("cp d/libx.so d/x86_64; cp d/libx.so d/x86_64/x86_64; for v in 2 3 4; do "
                 "mkdir -p d/glibc-hwcaps/x86-64-v$v && cp d/libx.so d/glibc-hwcaps/x86-64-v$v;"
                 " done"));
    exe = shop.reporter("exe", "-Ld -lx -Wl,-rpath,'$ORIGIN/d'");
  }

  // "libx.so => /.../d/glibc-hwcaps/x86-64-v3/libx.so (0x00007f)" of the loader itself.
  std::string judged(const std::string& variable) const {
    ProgramOptions options;
    options.environment = {variable};
    const std::string out = run_program({interpreter, "--list", exe}, options).out;
    const auto at = out.find("libx.so => ");
    REQUIRE(at != std::string::npos);
    const auto start = at + std::string("libx.so => ").size();
    return out.substr(start, out.find(" (", start) - start);
  }

  void without_v2() const { REQUIRE(shop.run("rm -r d/glibc-hwcaps")); }
};

}  // namespace

TEST_CASE("tunables: files and processes are searched as the loader searches",
          "[live][loader-options]") {
  if (::access(interpreter, X_OK) != 0) {
    WARN("NOT TRIED: this machine has no " << interpreter);
    return;
  }
  const Lab lab;
  bool legacy = false;
  SECTION("glibc-hwcaps") {}
  SECTION("the old scheme alone") {
    lab.without_v2();
    legacy = true;
  }
  std::vector<std::string> seen;
  for (const std::string variable : {"GLIBC_TUNABLES=",
                                     "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F",
                                     "GLIBC_TUNABLES=glibc.cpu.hwcaps=-XSAVEC,-AVX2",
                                     "GLIBC_TUNABLES=glibc.malloc.check=0:glibc.cpu.hwcaps=-SSE4_2",
                                     "GLIBC_TUNABLES=glibc.cpu.hwcaps=-F16C,-SSE3,AVX2",
                                     "GLIBC_TUNABLES=glibc.cpu.hwcap_mask=0x1",
                                     "LD_HWCAP_MASK=0"}) {
    CAPTURE(variable, legacy);
    const std::string truth = lab.judged(variable);
    seen.push_back(truth);
    ProgramOptions options;
    options.environment = {variable};
    const auto file = document({lab.exe}, options);
    CHECK(node_named(file, "libx.so").at("path") == truth);

    Reporter reporter({lab.exe}, {variable});
    REQUIRE(reporter.ready);
    const auto process = document({std::to_string(reporter.child.pid())});
    const auto node = node_named(process, "libx.so");
    CHECK(node.at("path") == truth);
    CHECK(edges_into(process, node.at("id")).front().at("rule") == "runpath");
    CHECK_FALSE(contains(process.dump(), "a restart would"));
  }
  if (!legacy && contains(seen.front(), "x86-64-v3")) {
    CHECK(seen[2] != seen.front());  // else nothing was tried here
  }
}

TEST_CASE("tunables: --why says that the directory was not searched", "[live][loader-options]") {
  const Lab lab;
  if (!contains(lab.judged("GLIBC_TUNABLES="), "glibc-hwcaps")) {
    WARN("NOT TRIED: this processor has no level of its own");
    return;
  }
  Reporter reporter({lab.exe}, {"GLIBC_TUNABLES=glibc.cpu.hwcaps=-SSE4_2"});
  REQUIRE(reporter.ready);
  const auto why = run_tracso({"--why", "libx.so", std::to_string(reporter.child.pid())});
  CHECK(why.status == 0);
  CHECK_FALSE(contains(why.out, "glibc-hwcaps"));
}

}  // namespace tracso::test
