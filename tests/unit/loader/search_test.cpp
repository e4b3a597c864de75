// What a search writes down: every place in its turn, and the files that lost.

#include "small_system.hpp"
#include "support/build_ld_cache.hpp"
#include "support/catch.hpp"

namespace tracso::loader {
namespace {

using test::edge;
using test::needed;
using test::runpath;
using test::SmallSystem;
using test::soname;
using test::steps;

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("search: every place is written down in its turn, losers behind the winner",
          "[loader][search]") {
  SmallSystem system;
  system.program("/app/exe", {needed("liba.so"), runpath("$ORIGIN/none:$ORIGIN/r")});
  for (const auto* path : {"/app/r/liba.so", "/opt/c/liba.so", "/usr/lib/liba.so"}) {
    system.library(path, {soname("liba.so")});
  }
  system.files.directories.insert("/app/e");
  system.files.directories.insert("/lib");
  system.files.files["/etc/ld.so.cache"] =
      test::build_current_cache({{"liba.so", "/opt/c/liba.so"}});
  system.environment.library_path = "/app/e:/app/e2";
  const auto resolution = system.resolve("/app/exe");
  const auto* found = edge(resolution, "", "liba.so");
  REQUIRE(found != nullptr);
  CHECK(found->rule == Rule::runpath);
  CHECK(steps(*found) == Lines{"LD_LIBRARY_PATH entry 1: /app/e: absent",
                               "LD_LIBRARY_PATH entry 2: /app/e2: absent (no such directory)",
                               "RUNPATH of /app/exe: /app/none: absent (no such directory)",
                               "RUNPATH of /app/exe: /app/r: found /app/r/liba.so",
                               "ld.so.cache: /opt/c/liba.so: lost /opt/c/liba.so",
                               "default directory: /usr/lib: lost /usr/lib/liba.so"});
}

TEST_CASE("search: the same file under two directories does not lose against itself",
          "[loader][search]") {
  SmallSystem system;
  system.program("/app/exe", {needed("liba.so"), runpath("/usr/lib")});
  system.library("/usr/lib/liba.so", {soname("liba.so")});
  system.files.links["/lib"] = "/usr/lib";
  const auto resolution = system.resolve("/app/exe");
  CHECK(steps(*edge(resolution, "", "liba.so")) ==
        Lines{"RUNPATH of /app/exe: /usr/lib: found /usr/lib/liba.so"});
}

TEST_CASE("search: a missing library has been looked for everywhere", "[loader][search]") {
  SmallSystem system;
  system.program("/app/exe", {needed("libnone.so"), runpath("$ORIGIN/$PLATFORM:$ORIGIN")});
  system.files.files["/etc/ld.so.cache"] = test::build_current_cache({{"liba.so", "/x/liba.so"}});
  system.files.files["/usr/lib/other"] = "";
  const auto resolution = system.resolve("/app/exe");
  const auto* missing = edge(resolution, "", "libnone.so");
  REQUIRE(missing != nullptr);
  CHECK_FALSE(missing->to);
  CHECK(missing->rule == Rule::none);
  const auto lines = steps(*missing);
  REQUIRE(lines.size() >= 4);
  CHECK(lines[lines.size() - 4] == "RUNPATH of /app/exe: /app: absent");
  CHECK(lines[lines.size() - 3] == "ld.so.cache: /etc/ld.so.cache: absent (no entry)");
  CHECK(lines[lines.size() - 2] == "default directory: /lib: absent (no such directory)");
  CHECK(lines[lines.size() - 1] == "default directory: /usr/lib: absent");
}

TEST_CASE("search: a stale cache entry is said to be stale", "[loader][search]") {
  SmallSystem system;
  system.program("/app/exe", {needed("liba.so")});
  system.files.files["/etc/ld.so.cache"] =
      test::build_current_cache({{"liba.so", "/gone/liba.so"}});
  system.library("/usr/lib/liba.so", {soname("liba.so")});
  const auto resolution = system.resolve("/app/exe");
  const auto* found = edge(resolution, "", "liba.so");
  CHECK(found->rule == Rule::default_dir);
  CHECK(steps(*found).front() == "ld.so.cache: /gone/liba.so: absent (its file is gone)");
}

TEST_CASE("search: files that the loader passes over are named", "[loader][search]") {
  SmallSystem system;
  system.program("/app/exe", {needed("liba.so"), runpath("/d1:/d2:/d3")});
  test::ElfSpec other;
  other.elf_class = ElfClass::elf32;
  other.machine = 3;
  system.files.files["/d1/liba.so"] = test::build_elf(other);
  system.library("/d2/liba.so", {});
  system.files.denied.insert("/d2/liba.so");
  system.library("/d3/liba.so", {});
  const auto resolution = system.resolve("/app/exe");
  CHECK(steps(*edge(resolution, "", "liba.so")) ==
        Lines{"RUNPATH of /app/exe: /d1: wrong_class /d1/liba.so (wrong ELF class: ELFCLASS32)",
              "RUNPATH of /app/exe: /d2: denied /d2/liba.so",
              "RUNPATH of /app/exe: /d3: found /d3/liba.so"});
}

TEST_CASE("search: a fatal file ends the search with the loader's words", "[loader][search]") {
  SmallSystem system;
  system.program("/app/exe", {needed("liba.so"), runpath("/d1:/d2")});
  system.files.files["/d1/liba.so"] = "/* GNU ld script */" + std::string(100, ' ');
  system.library("/d2/liba.so", {});
  const auto resolution = system.resolve("/app/exe");
  const auto* edge_to_it = edge(resolution, "", "liba.so");
  CHECK_FALSE(edge_to_it->to);
  CHECK(edge_to_it->fatal == "invalid ELF header");
  CHECK(steps(*edge_to_it) ==
        Lines{"RUNPATH of /app/exe: /d1: fatal /d1/liba.so (invalid ELF header)"});
}

TEST_CASE("search: a directory in the place of a library is fatal", "[loader][search]") {
  SmallSystem system;
  system.program("/app/exe", {needed("liba.so"), runpath("/d1")});
  system.files.directories.insert("/d1/liba.so");
  system.files.directories.insert("/d1");
  CHECK(edge(system.resolve("/app/exe"), "", "liba.so")->fatal ==
        "cannot read file data: Error 21");
}

TEST_CASE("search: what DF_1_NODEFLIB and AT_SECURE leave out is said", "[loader][search]") {
  SmallSystem system;
  system.program("/app/exe", {needed("liba.so"), test::value_entry(0x6ffffffb, 0x800)});
  system.library("/usr/lib/liba.so", {});
  system.files.files["/etc/ld.so.cache"] =
      test::build_current_cache({{"liba.so", "/usr/lib/liba.so"}});
  system.environment.library_path = "/usr/lib";
  system.environment.secure = true;
  const auto lines = steps(*edge(system.resolve("/app/exe"), "", "liba.so"));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "LD_LIBRARY_PATH: : skipped (AT_SECURE: the loader ignores it)");
  CHECK(lines[1] ==
        "ld.so.cache: /usr/lib/liba.so: skipped /usr/lib/liba.so (DF_1_NODEFLIB: the requester "
        "refuses the system directories)");
  CHECK(lines[2] ==
        "default directory: : skipped (DF_1_NODEFLIB: the requester refuses the system "
        "directories)");
}

TEST_CASE("search: the rule of an inherited RPATH names whose it is", "[loader][search]") {
  SmallSystem system;
  system.program("/app/exe", {needed("liba.so"), test::rpath("$ORIGIN/l")});
  system.library("/app/l/liba.so", {needed("libb.so")});
  system.library("/app/l/libb.so", {});
  const auto resolution = system.resolve("/app/exe");
  const auto* found = edge(resolution, "/app/l/liba.so", "libb.so");
  REQUIRE(found != nullptr);
  CHECK(found->rule == Rule::rpath);
  CHECK(found->detail == "inherited from exe");
  CHECK(steps(*found) == Lines{"RPATH of /app/exe (inherited): /app/l: found /app/l/libb.so"});
}

TEST_CASE("search: a directory is asked once, however many names are looked for",
          "[loader][search]") {
  SmallSystem system;
  std::vector<test::DynamicEntry> entries;
  for (int i = 0; i < 200; ++i) {
    entries.push_back(needed("lib" + std::to_string(i) + ".so"));
    system.library("/usr/lib/lib" + std::to_string(i) + ".so", {});
  }
  entries.push_back(runpath("/d1"));
  system.program("/app/exe", entries);
  system.library("/d1/libother.so", {});
  const auto resolution = system.resolve("/app/exe");
  CHECK(test::libraries(resolution).size() == 200);
  for (const auto& [path, times] : system.files.opened) {
    INFO(path);
    // The program and the loader are read once as ELF files and the loader once for its texts.
    CHECK(times <= 2);
  }
  CHECK(system.files.opened["/usr/lib/lib7.so"] == 1);
}

}  // namespace tracso::loader
