/* Functions that are looked up by name: called through the pointers, and compared. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#ifdef LIBRARY
int doubled(int value) { return 2 * value; }
int shared_address(int value) { return value + 1; }
static int hidden(int value) { return value + 2; }
int (*own_address(void))(int) { return shared_address; }
int in_table(int value) { return value + 3; }
int (*const table[])(int) = {hidden, in_table};
int number = 5;
double half(double value) { return value / 2; }
#else
typedef int function(int);
static int fails;
static void check(int is_true, const char *what) {
  if (!is_true) { printf("failed: %s\n", what); ++fails; }
}
int main(void) {
  void *library = dlopen("liblooked.so", RTLD_NOW);
  if (!library) { puts(dlerror()); return 2; }
  function *doubled = (function *)dlsym(library, "doubled");
  function *shared = (function *)dlsym(library, "shared_address");
  function *in_table = (function *)dlsym(library, "in_table");
  function *(*own)(void) = (function * (*)(void))dlsym(library, "own_address");
  function *const *table = (function *const *)dlsym(library, "table");
  double (*half)(double) = (double (*)(double))dlsym(library, "half");
  int *number = (int *)dlsym(library, "number");
  int sum = 0;
  for (int i = 0; i < 1000; ++i) sum += doubled(i) + shared(i) + in_table(i);
  for (int i = 0; i < 7; ++i) sum += (int)half(8.0);
  check(*number == 5, "data");
  check(own() == shared, "the library's own address");
  check(table[1] == in_table, "a table of the library");
  check(doubled == (function *)dlsym(library, "doubled"), "the same answer twice");
  check(dlsym(library, "no_such_function") == 0 && dlerror() != 0, "what is not there");
  Dl_info about;
  check(dladdr((void *)doubled, &about) && strcmp(about.dli_sname, "doubled") == 0, "dladdr");
  check(dlsym(RTLD_NEXT, "strlen") != 0, "the next one");
  dlclose(library);
  library = dlopen("liblooked.so", RTLD_NOW);
  doubled = (function *)dlsym(library, "doubled");
  for (int i = 0; i < 10; ++i) sum += doubled(i);
  printf("%d %d\n", sum, fails);
  return fails;
}
#endif
