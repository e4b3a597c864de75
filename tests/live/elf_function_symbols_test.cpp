// Names of functions, judged by nm.

#include "elf/function_symbols.hpp"
#include "os/live_files.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"

#include <map>
#include <set>
#include <sstream>
#include <string>

using namespace tracso;

namespace {

// Every name that nm gives to code, by address.
std::map<std::uint64_t, std::set<std::string>> named_by_nm(const std::string& options,
                                                           const std::string& file) {
  const auto run =
      test::run_program({"/bin/sh", "-c", "nm --defined-only " + options + " " + file});
  std::map<std::uint64_t, std::set<std::string>> names;
  std::istringstream lines(run.out);
  std::string address, kind, name;
  while (lines >> address >> kind >> name) {
    names[std::stoull(address, nullptr, 16)].insert(name.substr(0, name.find('@')));
  }
  return names;
}

}  // namespace

TEST_CASE("function symbols: nm knows each under that name", "[live][elf]") {
  const auto folder = test::scratch_folder();
  test::write_file(folder + "/f.c",
                   "#include <stdio.h>\nstatic __attribute__((noinline)) int inner(int a) { return "
                   "a + 1; }\nint outer(int a) { return inner(a) * 2; }\nint other(int) "
                   "__attribute__((alias(\"outer\")));\nint main(void) { return puts(\"x\") + "
                   "outer(1); }\n");
  const auto built = test::run_program(
      {"/bin/sh",
       "-c",
       "cd " + folder +
           " && gcc -O1 -w f.c -o f && gcc -O1 -w -static f.c -o static && gcc -O1 "
           "-w -fPIC -shared f.c -o f.so && cp f.so stripped.so && strip stripped.so"});
  INFO(built.err);
  REQUIRE(built.status == 0);
  const os::LiveFiles files(folder);
  for (const std::string name : {"f", "static", "f.so", "stripped.so"}) {
    INFO(name);
    const auto file = files.open({folder + "/" + name});
    REQUIRE(file);
    const auto functions = elf::function_symbols(**file, name);
    REQUIRE(functions);
    auto names = named_by_nm(name == "stripped.so" ? "-D" : "", folder + "/" + name);
    std::set<std::string> seen;
    for (const auto& function : *functions) {
      INFO(function.name);
      CHECK(names[function.address].count(function.name) == 1);
      seen.insert(function.name);
    }
    CHECK((seen.count("outer") + seen.count("other")) == 1);
    CHECK(seen.count("inner") == (name == "stripped.so" ? 0 : 1));
    const auto code = elf::plt_code(**file, name);
    REQUIRE(code);
    CHECK((!code->empty() || name == "static"));
  }
}
