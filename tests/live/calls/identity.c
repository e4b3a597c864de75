/* A function has one address, whoever asks for it, and it is called as well. */
#include <stdio.h>
#include <stdlib.h>
typedef void release(void *);
#ifdef LIBRARY
release *library_free(void) { return free; }
void library_release(void *memory) { free(memory); }
#else
release *library_free(void);
void library_release(void *);
int main(void) {
  release *volatile own = free;
  for (int i = 0; i < 10; ++i) free(malloc(i));
  for (int i = 0; i < 5; ++i) library_release(malloc(i));
  puts(own == library_free() ? "the same" : "two addresses");
  return own != library_free();
}
#endif
