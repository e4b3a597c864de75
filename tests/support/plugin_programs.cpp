#include "support/plugin_programs.hpp"

#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"

#include <cstdlib>
#include <filesystem>

namespace tracso::test {
namespace {

constexpr const char* program_source = R"(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static struct { const char *name; void *handle; } open_ones[64];
static int count_open;
static void keep(const char *name, void *handle) {
  if (!handle) { puts(dlerror()); return; }
  open_ones[count_open].name = name;
  open_ones[count_open++].handle = handle;
}
static void *load(void *name) {
  for (int i = 0; i < 20; ++i) {
    void *handle = dlopen(name, RTLD_NOW);
    if (handle) dlclose(handle);
  }
  return 0;
}
static void in_threads(char *name) {
  pthread_t t[8];
  for (int i = 0; i < 8; ++i) pthread_create(&t[i], 0, load, name);
  for (int i = 0; i < 8; ++i) pthread_join(t[i], 0);
}
static void in_child(char *name) {
  pid_t pid = fork();
  if (pid == 0) _exit(dlopen(name, RTLD_NOW) ? 0 : 1);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {}
  if (status) puts("child failed");
}
int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    char *name = strchr(argv[i], ':');
    name = name ? name + 1 : argv[i];
    switch (argv[i][0]) {
      case 'o': keep(name, dlopen(name, RTLD_NOW)); break;
      case 'p': {
        void *(*open)(const char *) = (void *(*)(const char *))dlsym(open_ones[0].handle, "plugin_open");
        keep(name, open(name));
        break;
      }
#ifdef LM_ID_NEWLM
      case 's':
        if (argv[i][1] == 'p') keep(name, dlmopen(LM_ID_NEWLM, name, RTLD_NOW));
        else { dlsym(open_ones[0].handle, "no_such_symbol"); dlerror(); }
        break;
#endif
      case 'c':
        for (int k = 0; k < count_open; ++k)
          if (!strcmp(open_ones[k].name, name)) { dlclose(open_ones[k].handle); open_ones[k].name = ""; }
        break;
      case 't': in_threads(name); break;
      case 'f': in_child(name); break;
      case 'e': {
        char word[4096];
        snprintf(word, sizeof word, "open:%s", name);
        fflush(stdout);
        execl(argv[0], argv[0], word, (char *)0);
        break;
      }
    }
  }
  return 0;
}
)";

constexpr const char* plugin_source = R"(
#include <dlfcn.h>
void *plugin_open(const char *name) { void *handle = dlopen(name, RTLD_NOW); return handle; }
__attribute__((constructor)) static void ask(void) { dlsym(0, "no_such_symbol_either"); }
)";

// Every part finds what it needs beside it.
constexpr const char* build = R"(set -e
library() { $CC -shared -fPIC -Wl,--no-as-needed -Wl,-rpath,'$ORIGIN' -L. "$@"; }
program() { $CC -pthread -Wl,--no-as-needed -Wl,-rpath,'$ORIGIN' -L. "$@" $DL; }
library -o leaf.so leaf.c
library -o inner.so inner.c -l:leaf.so
library -o plugin.so plugin.c $DL
library -o gone.so leaf.c
library -o needy.so inner.c -l:gone.so
library -o undefined.so inner.c
library -Wl,--version-script=two.map -o version.so leaf.c
library -o old.so inner.c -l:version.so
library -Wl,--version-script=one.map -o version.so leaf.c
program -o program program.c
program -o missing program.c -l:gone.so
program -Wl,--unresolved-symbols=ignore-all -o refused program.c -l:old.so
rm gone.so
)";

}  // namespace

PluginPrograms plugin_programs(const std::string& tag, const std::string& compiler) {
  const auto folder = std::filesystem::path(scratch_folder()) / ("plugins-" + tag);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  PluginPrograms programs{(folder / "program").string(), folder.string()};
  write_file(programs / "program.c", program_source);
  write_file(programs / "plugin.c", plugin_source);
  write_file(programs / "leaf.c", "int leaf(void) { return 1; }\n");
  write_file(programs / "inner.c", "int leaf(void); int inner(void) { return leaf(); }\n");
  write_file(programs / "one.map", "ONE { global: leaf; };\n");
  write_file(programs / "two.map", "TWO { global: leaf; };\n");
  write_file(programs / "build.sh", build);
  const std::string dl = compiler == "musl-gcc" ? "" : "-ldl";
  const std::string command = "cd '" + programs.folder + "' && CC='" + compiler + "' DL='" + dl +
                              "' sh build.sh > build.log 2>&1";
  const int status = std::system(command.c_str());
  INFO(read_file(programs / "build.log"));
  REQUIRE(status == 0);
  return programs;
}

}  // namespace tracso::test
