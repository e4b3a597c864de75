/* Functions that are looked up one after the other, with time between them. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
#ifdef LIBRARY
#define ONE(n) int later_##n(void) { return n; }
#define SIX(a, b, c, d, e, f) ONE(a) ONE(b) ONE(c) ONE(d) ONE(e) ONE(f)
SIX(0, 1, 2, 3, 4, 5) SIX(6, 7, 8, 9, 10, 11) SIX(12, 13, 14, 15, 16, 17)
SIX(18, 19, 20, 21, 22, 23) SIX(24, 25, 26, 27, 28, 29) SIX(30, 31, 32, 33, 34, 35)
#else
int main(void) {
  void *library = dlopen("liblater.so", RTLD_NOW);
  if (!library) { puts(dlerror()); return 2; }
  for (int i = 0; i < 36; ++i) {
    char name[20];
    snprintf(name, sizeof name, "later_%d", i);
    int (*function)(void) = (int (*)(void))dlsym(library, name);
    if (function() != i) return 1;
    usleep(10000);
  }
  return 0;
}
#endif
