// One file is one node, however often it is named or mapped, and what is seen of it says how often.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/scenario.hpp"

namespace tracso::test {

TEST_CASE("one object: copies of dlmopen are named by their namespaces", "[live][linkmap]") {
  const Workshop shop;
  shop.library("libx.so", "-Wl,-soname,libx.so");
  shop.write("opens.c",
             "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n#include <unistd.h>\n"
             "int main(int c,char**v){(void)c;for(int i=0;i<2;i++)"
             "if(!dlmopen(LM_ID_NEWLM,v[1],RTLD_NOW))return 1;"
             "puts(\"ready\");fflush(stdout);pause();return 0;}\n");
  REQUIRE(shop.run("gcc opens.c -o opens -ldl"));
  Child child({shop.path("opens"), shop.path("libx.so")});
  REQUIRE(child.line() == "ready");
  const std::string pid = std::to_string(child.pid());
  const auto all = document({pid});
  const std::string words = "there are 2 copies of it (dlmopen), in the namespaces 1, 2";
  CHECK(node_named(all, "libx.so").at("note") == words);
  CHECK(contains(run_tracso({"--why", "libx.so", pid}).out, words));
  CHECK(contains(node_named(all, "libc.so.6").at("note").get<std::string>(),
                 "3 copies of it (dlmopen), in the namespaces 0, 1, 2"));
}

TEST_CASE("one object: the loader of musl is its C library, and one line of the tree",
          "[live][linkmap]") {
  const Workshop shop;
  shop.write("waits.c",
             "#include <stdio.h>\n#include <unistd.h>\n"
             "int main(void){puts(\"ready\");fflush(stdout);pause();return 0;}\n");
  if (run_program({"musl-gcc", "--version"}).status != 0) {
    WARN("NOT TRIED: musl-gcc is not on this machine");
    return;
  }
  REQUIRE(shop.run("musl-gcc waits.c -o waits"));
  Child child({shop.path("waits")});
  REQUIRE(child.line() == "ready");
  for (const std::string& target : {std::to_string(child.pid()), shop.path("waits")}) {
    const auto tree = run_tracso({"--tree", target});
    INFO(tree.out);
    const auto first = tree.out.find("[baseline]");
    CHECK(first != std::string::npos);
    CHECK(tree.out.find("[baseline]", first + 1) == std::string::npos);
  }
}

}  // namespace tracso::test
