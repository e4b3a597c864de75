/* loads PLUGIN TIMES: loads and unloads it, each time calls its function; then a library for good. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef LIBRARY /* its calls are led to cells: the address of free is used as well */
static void (*volatile release)(void *);
int plugin(int value) {
  release = free;
  free(malloc((size_t)value));
  return value;
}
#else
int main(int count, char **words) {
  int sum = 0;
  (void)count;
  for (int i = 0; i < atoi(words[2]); ++i) {
    void *plugin = dlopen(words[1], RTLD_NOW);
    if (!plugin) { puts(dlerror()); return 2; }
    sum += ((int (*)(int))dlsym(plugin, "plugin"))(1);
    dlclose(plugin);
  }
  void *library = dlopen("libsecond.so", RTLD_NOW);
  if (!library) { puts(dlerror()); return 3; }
  sum += ((int (*)(int))dlsym(library, "tail_caller"))(1);
  printf("%d\n", sum);
  return 0;
}
#endif
