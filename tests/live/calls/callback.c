/* Sorts with a comparison that calls the library again, and says how often. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long compared;
static int compare(const void *one, const void *other) {
  ++compared;
  return strcmp(*(char *const *)one, *(char *const *)other);
}
int main(void) {
  const char *words[] = {"pear", "fig", "apple", "quince", "plum", "date", "cherry", "lime"};
  qsort(words, 8, sizeof words[0], compare);
  for (int i = 0; i < 8; ++i) printf("%s ", words[i]);
  printf("%ld\n", compared);
  return 0;
}
