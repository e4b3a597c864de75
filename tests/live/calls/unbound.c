/* A function that nobody defines, called only if there is an argument: lazy binding lets it be. */
#include <stdio.h>
#ifdef LIBRARY
int nobody_defines_this(int);
int perhaps(int really) { return really ? nobody_defines_this(1) : 7; }
#else
int perhaps(int);
int main(int count, char **words) {
  (void)words;
  int value = 0;
  for (int i = 0; i < 10; ++i) value = perhaps(count > 1);
  printf("%d\n", value);
  return 0;
}
#endif
