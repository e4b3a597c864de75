// Files that a loader refuses by what it is and on which machine it runs: ABI tags, ISA levels, and
// the options of a loader that is started by name.

#include "loader/loader_traits.hpp"
#include "small_system.hpp"
#include "support/catch.hpp"

namespace tracso::loader {
namespace {

using test::ElfSpec;
using test::SmallSystem;

std::string word(char low) {
  return std::string(1, low) + std::string(3, '\0');
}

// A library whose ABI tag says: that system, that kernel.
void tagged(SmallSystem& system, const std::string& path, char os, char major) {
  ElfSpec spec;
  spec.notes = {{"GNU", 1, word(os) + word(major) + word(0) + word(0)}};
  system.files.files[path] = test::build_elf(spec);
}

void use_glibc(SmallSystem& system, const std::string& minor) {
  std::string& bytes = system.files.files[test::loader_path];
  const std::string mark = "version 2.40.";
  bytes.replace(bytes.find(mark), mark.size(), "version 2." + minor + ".");
}

}  // namespace

TEST_CASE("refusal: glibc up to 2.35 passes over a file by its ABI tag, later ones do not look",
          "[loader][refusal]") {
  SmallSystem system;
  system.program("/bin/p", {test::needed("liba.so"), test::runpath("/one:/two")});
  system.library("/two/liba.so", {});
  for (const auto& [os, major, why] :
       {std::tuple{'\0', '\x63', "its ABI tag wants Linux 99.0.0 or later"},
        std::tuple{'\1', '\3', "its ABI tag is for another system than Linux (1)"}}) {
    tagged(system, "/one/liba.so", os, major);
    SmallSystem old = system;
    use_glibc(old, "31");
    const auto passed = old.resolve("/bin/p");
    REQUIRE(test::libraries(passed) == std::vector<std::string>{"/two/liba.so"});
    const auto& step = test::edge(passed, "", "liba.so")->search.front();
    CHECK(step.outcome == SearchStep::Outcome::wrong_class);
    CHECK(step.note == why);
    CHECK(test::libraries(system.resolve("/bin/p")) == std::vector<std::string>{"/one/liba.so"});
  }
  tagged(system, "/one/liba.so", 0, 3);
  use_glibc(system, "31");
  CHECK(test::libraries(system.resolve("/bin/p")) == std::vector<std::string>{"/one/liba.so"});
}

TEST_CASE("refusal: an old loader is known by the name of its file", "[loader][refusal]") {
  SmallSystem system;
  system.files.files["/lib/ld-2.31.so"] = system.files.files[test::loader_path];
  std::string& bytes = system.files.files["/lib/ld-2.31.so"];
  bytes.replace(bytes.find("stable release"), 6, "nothin");
  system.files.files.erase(test::loader_path);
  system.files.links[test::loader_path] = "/lib/ld-2.31.so";
  system.program("/bin/p", {test::needed("liba.so"), test::runpath("/one:/two")});
  tagged(system, "/one/liba.so", 0, '\x63');
  system.library("/two/liba.so", {});
  const auto passed = system.resolve("/bin/p");
  CHECK(passed.traits.minor == 31U);
  CHECK(test::libraries(passed) == std::vector<std::string>{"/two/liba.so"});
}

TEST_CASE("refusal: options of the loader change where is looked", "[loader][refusal]") {
  SmallSystem system;
  system.program("/bin/p", {test::needed("liba.so"), test::runpath("/one")});
  system.library("/one/liba.so", {});
  system.library("/two/liba.so", {});
  system.library("/two/glibc-hwcaps/mine/liba.so", {});
  proc::LoaderCommand command;
  command.library_path = "/two";
  command.hwcaps_prepend = "mine";
  add_loader_command(command, system.environment);
  CHECK(test::libraries(system.resolve("/bin/p")) ==
        std::vector<std::string>{"/two/glibc-hwcaps/mine/liba.so"});
  system.environment.library_path.reset();
  CHECK(test::libraries(system.resolve("/bin/p")) == std::vector<std::string>{"/one/liba.so"});
  system.environment.inhibit_rpath = "/x:";
  CHECK(test::libraries(system.resolve("/bin/p")) == std::vector<std::string>{"/one/liba.so"});
  system.environment.inhibit_rpath = "";
  const auto inhibited = system.resolve("/bin/p");
  CHECK(test::libraries(inhibited).empty());
  CHECK(test::steps(*test::edge(inhibited, "", "liba.so")).front() ==
        "RUNPATH of /bin/p: : skipped (--inhibit-rpath)");
}

TEST_CASE("refusal: the mask keeps only some of the usual hwcaps, prepended ones lead",
          "[loader][refusal]") {
  Hwcaps plan;
  plan.names = {"x86-64-v3", "x86-64-v2"};
  plan.subdirectories = {"glibc-hwcaps/x86-64-v3/", "glibc-hwcaps/x86-64-v2/", "tls/"};
  choose_hwcaps("mine:x86-64-v2", "x86-64-v3", plan);
  CHECK(plan.names == std::vector<std::string>{"mine", "x86-64-v2", "x86-64-v3"});
  CHECK(plan.subdirectories ==
        std::vector<std::string>{
            "glibc-hwcaps/mine/", "glibc-hwcaps/x86-64-v2/", "glibc-hwcaps/x86-64-v3/", "tls/"});
  const Hwcaps same = plan;
  choose_hwcaps("", "", plan);
  CHECK(plan.names == same.names);
}

TEST_CASE("refusal: preloads of an option stand behind the variable's and before the file's",
          "[loader][refusal]") {
  SmallSystem system;
  system.files.files["/etc/ld.so.preload"] = "f.so\n";
  const std::vector<Variable> variables{{"LD_PRELOAD", "v.so"}, {"LD_AUDIT", "a.so"}};
  auto environment = make_load_environment(system.files, variables, "/");
  proc::LoaderCommand command;
  command.preload = "o.so:p.so";
  command.audit = {"b.so:c.so"};
  command.inhibit_cache = true;
  add_loader_command(command, environment);
  std::vector<std::string> names;
  for (const auto& extra : environment.preload) {
    names.push_back(extra.name + " " + extra.origin);
  }
  CHECK(names ==
        std::vector<std::string>{
            "v.so LD_PRELOAD", "o.so --preload", "p.so --preload", "f.so /etc/ld.so.preload"});
  REQUIRE(environment.audit.size() == 3);
  CHECK(environment.audit[2] == ExtraObject{"c.so", "--audit"});
  CHECK(environment.inhibit_cache);
}

}  // namespace tracso::loader
