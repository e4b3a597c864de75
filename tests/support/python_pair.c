/* Two Pythons in one process, each in a namespace of its own.
 * usage: python_pair LIBRARY HOME STATEMENT LIBRARY HOME STATEMENT */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

static void start(char** words) {
  static wchar_t homes[2][4096];
  static int count = 0;
  void* library = dlmopen(LM_ID_NEWLM, words[0], RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  void (*set_home)(const wchar_t*) = dlsym(library, "Py_SetPythonHome");
  void (*initialize)(int) = dlsym(library, "Py_InitializeEx");
  int (*run)(const char*) = dlsym(library, "PyRun_SimpleString");
  mbstowcs(homes[count], words[1], 4095);
  set_home(homes[count++]);
  initialize(0);
  if (run(words[2]) != 0) {
    exit(2);
  }
}

int main(int count, char** words) {
  if (count != 7) {
    return 3;
  }
  start(words + 1);
  start(words + 4);
  puts("ready");
  fflush(stdout);
  return getchar() == EOF;
}
