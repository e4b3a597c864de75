/* Look-ups that depend on who asks. Each library has functions of the same name; which one is found is
   printed, and what dlerror says. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
typedef int function(int);
#if defined FIRST
int twice(int value) { return 2 * value + 10; }
int only_first(int value) { return value + 100; }
int ask_next(int value) {
  function *next = (function *)dlsym(RTLD_NEXT, "twice");
  return next ? next(value) : -1;
}
#elif defined AFTER
int twice(int value) { return 2 * value + 20; }
int ask_default(int value) { return ((function *)dlsym(RTLD_DEFAULT, "twice"))(value); }
#elif defined WRAPPER /* of LD_PRELOAD */
int only_first(int value) {
  static function *next;
  if (!next) next = (function *)dlsym(RTLD_NEXT, "only_first");
  return next(value) + 1000;
}
#elif defined PLUGIN
int local_only(int value) { return value + 3; }
int plugin(int value) { return ((function *)dlsym(RTLD_DEFAULT, "local_only"))(value); }
int plugin_of_others(int value) {
  function *other = (function *)dlsym(RTLD_DEFAULT, "only_other");
  return other ? other(value) : -1;
}
#elif defined OTHER
int only_other(int value) { return value + 4; }
#else
int ask_next(int), ask_default(int), only_first(int);
int twice(int value) { return 2 * value; }
static const char *file_of(void *address) {
  Dl_info about;
  if (!dladdr(address, &about)) return "nowhere";
  const char *slash = strrchr(about.dli_fname, '/');
  return slash ? slash + 1 : about.dli_fname;
}
int main(int count, char **words) {
  (void)words;
  function *next = (function *)dlsym(RTLD_NEXT, "twice");
  function *first = (function *)dlsym(RTLD_DEFAULT, "twice");
  function *only = (function *)dlsym(RTLD_DEFAULT, "only_first");
  int sum = 0;
  for (int i = 0; i < 100; ++i) sum += next(i) + only(i);
  printf("%d %d %d %d %d\n", next(1), first(1), ask_next(1), ask_default(1), only_first(1));
  printf("%d %s %s %s\n", sum, file_of(next), file_of(first), file_of(only));
  /* An argument: the agent stands in for us, so that all three ways lead to one address. */
  void *handle = dlopen(0, RTLD_NOW);
  if (count > 1) printf("%d\n", only == (function *)dlsym(handle, "only_first"));
  void *allocate = dlsym(RTLD_NEXT, "malloc");
  printf("%s %d\n", file_of(allocate), allocate == dlsym(RTLD_DEFAULT, "malloc"));
  printf("%s\n", file_of(dlvsym(RTLD_DEFAULT, "realpath", "GLIBC_2.3")));
  printf("%d %s\n", dlsym(RTLD_DEFAULT, "no_such_function") == 0, dlerror());
  printf("%d %s\n", dlsym(RTLD_NEXT, "no_such_function") == 0, dlerror());
  printf("%d\n", dlerror() == 0);
  void *plugin = dlopen("libplug.so", RTLD_NOW);
  if (!plugin) { puts(dlerror()); return 2; }
  void *other = dlopen("libother.so", RTLD_NOW | RTLD_GLOBAL);
  printf("%d %d\n", ((function *)dlsym(plugin, "plugin"))(1),
         ((function *)dlsym(plugin, "plugin_of_others"))(1));
  dlclose(plugin);
  dlclose(other);
  printf("%d\n", dlopen("libother.so", RTLD_NOW | RTLD_NOLOAD) == 0);
  return 0;
}
#endif
