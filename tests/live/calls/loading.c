/* Loads and unloads a plugin 50 times; then four threads do it at once (an argument: how often). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static const char *names[] = {"libplugin.so", "libplugin2.so", "libz.so.1"};
static int rounds;
static void *load(void *argument) {
  long number = (long)argument;
  for (int i = 0; i < rounds; ++i) {
    const int which = (number + i) % 3;
    void *library = dlopen(names[which], i & 1 ? RTLD_NOW : RTLD_LAZY);
    if (!library) { puts(dlerror()); exit(2); }
    if (which < 2) {
      int (*plugin)(int) = (int (*)(int))dlsym(library, "plugin");
      if (!plugin || plugin(i & 127) != (i & 127) + 3) exit(3);
    }
    dlclose(library);
  }
  return 0;
}
int main(int count, char **words) {
  pthread_t threads[4];
  int sum = 0;
  for (int i = 0; i < 50; ++i) {
    void *library = dlopen("libplugin.so", RTLD_NOW);
    if (!library) { puts(dlerror()); return 1; }
    sum += ((int (*)(int))dlsym(library, "plugin"))(i);
    dlclose(library);
  }
  if (dlopen("no-such-library.so", RTLD_NOW) || !dlerror() || dlerror()) return 4;
  rounds = count > 1 ? atoi(words[1]) : 0;
  for (long i = 0; i < 4; ++i) pthread_create(&threads[i], 0, load, (void *)i);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
  printf("sum %d next %d\n", sum, dlsym(RTLD_NEXT, "malloc") != 0);
  return sum != 1375;
}
