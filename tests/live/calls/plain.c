/* Two calls into the library, some into the C library; the address of free is taken as well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int add_one(int);
double sum_of_doubles(int, ...);
int main(void) {
  char *copy = malloc(100);
  void (*volatile release)(void *) = free;
  strcpy(copy, getenv("HOME") ? "home" : "none");
  printf("%d %.1f %s\n", add_one(41), sum_of_doubles(2, 1.25, 2.25), copy);
  free(copy);
  release(malloc(1));
  return 3;
}
