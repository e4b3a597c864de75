// One process or file for each rule that needs one, and what must be silent beside it.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/scenario.hpp"

#include <unistd.h>

namespace tracso::test {
namespace {

nlohmann::json finding(const nlohmann::json& all, const std::string& code) {
  for (const auto& one : all.at("findings")) {
    if (one.at("code") == code) {
      return one;
    }
  }
  return nullptr;
}

nlohmann::json look(const Child& child) {
  return document({std::to_string(child.pid())});
}

// Its threads see one processor, whatever the machine has.
constexpr const char* pin_to_one =
    "#define _GNU_SOURCE\n#include <sched.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
    "#include <string.h>\n#include <unistd.h>\n#include <pthread.h>\n"
    "static void pin(void){cpu_set_t all,one;CPU_ZERO(&one);sched_getaffinity(0,sizeof all,&all);"
    "for(int i=0;i<CPU_SETSIZE;i++)if(CPU_ISSET(i,&all)){CPU_SET(i,&one);break;}"
    "sched_setaffinity(0,sizeof one,&one);}\n";

}  // namespace

TEST_CASE("rules: an empty element of LD_LIBRARY_PATH is the current directory",
          "[live][findings]") {
  const auto found = [](const std::string& path) {
    Child child(
        {"/usr/bin/python3", "-c", "import sys; print('ready', flush=True); sys.stdin.read()"},
        {"LD_LIBRARY_PATH=" + path});
    REQUIRE(child.line() == "ready");
    const auto ran = run_tracso({"--findings", std::to_string(child.pid())});
    INFO(ran.out << ran.err);
    CHECK(ran.status == 0);
    return contains(ran.out, "LD_LIBRARY_PATH makes the loader look in the current directory");
  };
  CHECK(found("/nowhere:"));
  CHECK(found(":/nowhere"));
  CHECK(found("./lib"));
  CHECK_FALSE(found("/nowhere"));
  CHECK_FALSE(found("$ORIGIN/../lib"));
  CHECK_FALSE(found(""));
}

TEST_CASE("findings: what Python writes into os.environ comes too late for the loader",
          "[live][findings]") {
  const std::string set = "import os; os.environ['LD_LIBRARY_PATH']='/late'; ";
  const std::string wait = "print('ready', flush=True); input()";
  Child late({"/usr/bin/python3", "-c", set + wait}, {"LD_PRELOAD="});
  REQUIRE(late.line() == "ready");
  const auto found = finding(look(late), "preload-late");
  REQUIRE(found.is_object());
  CHECK(found.at("severity") == "note");
  CHECK(contains(found.at("title"), "LD_LIBRARY_PATH was set after the start"));
  CHECK(contains(found.at("evidence").dump(), "now: /late"));
  Child early({"/usr/bin/python3", "-c", "import os; os.environ['X']='1'; " + wait},
              {"LD_LIBRARY_PATH=/late"});
  REQUIRE(early.line() == "ready");
  CHECK(finding(look(early), "preload-late").is_null());
}

TEST_CASE("findings: an environment that was cleared is one that was changed", "[live][findings]") {
  const Workshop shop;
  shop.write("clears.c",
             "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
             "int main(void){clearenv();puts(\"ready\");fflush(stdout);pause();return 0;}\n");
  REQUIRE(shop.run("gcc -D_GNU_SOURCE clears.c -o clears"));
  Child child({shop.path("clears")}, {"LD_LIBRARY_PATH=/early"});
  REQUIRE(child.line() == "ready");
  const auto found = finding(look(child), "preload-late");
  REQUIRE(found.is_object());
  CHECK(contains(found.at("title"), "LD_LIBRARY_PATH was taken out after the start"));
}

TEST_CASE("findings: a dlopen by a relative name", "[live][findings]") {
  const Workshop shop;
  shop.library("libhere.so");
  shop.library("libthere.so");
  shop.write("opens.c",
             "#include <dlfcn.h>\n#include <stdio.h>\n#include <unistd.h>\n"
             "int main(int c,char**v){(void)c;if(chdir(v[1])||!dlopen(v[2],RTLD_NOW)||chdir(\"/\"))"
             "return 1;puts(\"ready\");fflush(stdout);pause();return 0;}\n");
  REQUIRE(shop.run("gcc opens.c -o opens -ldl"));
  Child child({shop.path("opens"), shop.path("."), "./libhere.so"});
  REQUIRE(child.line() == "ready");
  const auto found = finding(look(child), "path-cwd");
  REQUIRE(found.is_object());
  CHECK(found.at("nodes") == nlohmann::json::array({"libhere.so"}));
  CHECK(contains(found.at("evidence").dump(), "opened as ./libhere.so"));
  Child absolute({shop.path("opens"), shop.path("."), shop.path("libthere.so")});
  REQUIRE(absolute.line() == "ready");
  CHECK(finding(look(absolute), "path-cwd").is_null());
}

TEST_CASE("findings: a pool of OpenMP for one processor", "[live][findings]") {
  const Workshop shop;
  shop.write("pool.c",
             std::string(pin_to_one) +
                 "int main(void){pin();\n#pragma omp parallel\n{__asm__ volatile(\"\");}\n"
                 "puts(\"ready\");fflush(stdout);pause();return 0;}\n");
  REQUIRE(shop.run("gcc -fopenmp pool.c -o pool"));
  Child crowd({shop.path("pool")}, {"OMP_NUM_THREADS=8", "OMP_WAIT_POLICY=passive"});
  REQUIRE(crowd.line() == "ready");
  const auto found = finding(look(crowd), "threads-over");
  REQUIRE(found.is_object());
  INFO(found.dump());
  CHECK(contains(found.at("title"), "7 threads of maths runtimes for 1 processor"));
  CHECK(contains(found.at("evidence").dump(), "7 threads of libgomp.so.1"));
  Child few({shop.path("pool")}, {"OMP_NUM_THREADS=2", "OMP_WAIT_POLICY=passive"});
  REQUIRE(few.line() == "ready");
  CHECK(finding(look(few), "threads-over").is_null());
}

TEST_CASE("findings: arenas that hold most of the memory", "[live][findings]") {
  const Workshop shop;
  shop.write("arenas.c",
             std::string(pin_to_one) +
                 "static pthread_barrier_t all;\n"
                 "static void*work(void*a){long n=(long)a;for(long i=0;i<n;i++)"
                 "memset(malloc(32768),1,32768);pthread_barrier_wait(&all);pause();return 0;}\n"
                 "int main(int c,char**v){(void)c;pin();pthread_barrier_init(&all,0,7);"
                 "for(int i=0;i<6;i++){pthread_t t;pthread_create(&t,0,work,(void*)atol(v[1]));}"
                 "pthread_barrier_wait(&all);puts(\"ready\");fflush(stdout);pause();return 0;}\n");
  REQUIRE(shop.run("gcc arenas.c -o arenas -pthread"));
  Child heavy({shop.path("arenas"), "64"});  // six times two megabytes
  REQUIRE(heavy.line() == "ready");
  const auto found = finding(look(heavy), "arena-heavy");
  REQUIRE(found.is_object());
  CHECK(contains(found.at("title"), "in 6 arenas of malloc"));
  Child light({shop.path("arenas"), "1"});
  REQUIRE(light.line() == "ready");
  CHECK(finding(look(light), "arena-heavy").is_null());
}

TEST_CASE("findings: symbols that nothing defines are those that ldd -r names",
          "[live][findings]") {
  const Workshop shop;
  shop.write("gone.c", "int gone(void);extern int lost;int x(void){return gone()+lost;}\n");
  shop.write("main.c",
             "#include <stdio.h>\n#include <unistd.h>\nint x(void);int main(int c,char**v){(void)v;"
             "if(c>5)return x();puts(\"ready\");fflush(stdout);pause();return 0;}\n");
  REQUIRE(shop.run("gcc -shared -fPIC gone.c -o libgone.so"));
  REQUIRE(
      shop.run("gcc main.c -L. -lgone -Wl,-rpath,'$ORIGIN' -Wl,--unresolved-symbols=ignore-all"
               " -Wl,-z,lazy -o main"));
  const auto judged = run_program({"ldd", "-r", shop.path("main")});
  const auto found = finding(document({shop.path("main")}), "undefined-symbol");
  REQUIRE(found.is_object());
  CHECK(found.at("severity") == "warning");
  CHECK(found.at("nodes") == nlohmann::json::array({"libgone.so"}));
  for (const std::string name : {"gone", "lost"}) {
    CHECK(contains(judged.out + judged.err, "undefined symbol: " + name));
    CHECK(contains(found.at("evidence").dump(), "undefined: " + name));
  }
  CHECK(finding(document({"/bin/sh"}), "undefined-symbol").is_null());
  CHECK(run_tracso({"--fail-on", "code:undefined-symbol", shop.path("main")}).status == 1);
}

TEST_CASE("findings: of a process, an undefined function that has not been called",
          "[live][findings]") {
  const Workshop shop;
  shop.write("gone.c", "int gone(void);int x(void){return gone();}\n");
  shop.write("opens.c",
             "#include <dlfcn.h>\n#include <stdio.h>\n#include <unistd.h>\n"
             "int host(void){return 1;}int main(int c,char**v){(void)c;"
             "if(!dlopen(v[1],RTLD_LAZY))return 1;puts(\"ready\");fflush(stdout);pause();"
             "return 0;}\n");
  REQUIRE(shop.run("gcc -shared -fPIC -Wl,-z,lazy gone.c -o libgone.so"));
  REQUIRE(shop.run("sed s/gone/host/ gone.c > host.c"));
  REQUIRE(shop.run("gcc -shared -fPIC -Wl,-z,lazy host.c -o libhosted.so"));
  REQUIRE(shop.run("gcc -rdynamic opens.c -o opens -ldl"));
  Child child({shop.path("opens"), shop.path("libgone.so")});
  REQUIRE(child.line() == "ready");
  const auto found = finding(look(child), "undefined-symbol");
  REQUIRE(found.is_object());
  CHECK(found.at("severity") == "note");
  CHECK(contains(found.at("evidence").dump(), "undefined: gone"));
  Child hosted({shop.path("opens"), shop.path("libhosted.so")});
  REQUIRE(hosted.line() == "ready");
  CHECK(finding(look(hosted), "undefined-symbol").is_null());
}

TEST_CASE("findings: without a target they are those of the last report, and say so",
          "[live][findings]") {
  Child child({"/bin/sh", "-c", "echo ready; read line"});
  REQUIRE(child.line() == "ready");
  const TemporaryFolder folder;
  ProgramOptions state;
  state.environment = {"TRACSO_NO_STATE=0", "XDG_STATE_HOME=" + folder.path()};
  REQUIRE(run_tracso({std::to_string(child.pid())}, state).status == 0);
  const auto last = run_tracso({"--findings"}, state);
  CHECK(last.status == 0);
  CHECK(contains(last.out + last.err, "from the last trace"));
  CHECK(contains(last.out + last.err, "reads no symbol tables"));
  CHECK(contains(last.out + last.err, "tracso --findings " + std::to_string(child.pid())));
  // Of what has ended there is nothing more to be asked: the command is.
  REQUIRE(run_tracso({"--run", "/bin/true"}, state).status == 0);
  const auto ended = run_tracso({"--findings"}, state);
  CHECK(contains(ended.out + ended.err, "missing: tracso --findings --run CMD"));
}

}  // namespace tracso::test
