#include <stdlib.h>
#include <string.h>
int plugin(int value) {
  char *volatile text = malloc(100);  /* volatile: or the compiler does without all three calls */
  memset(text, value, atoi("100"));
  int result = text[50];
  free(text);
  return result + atoi("3");
}
