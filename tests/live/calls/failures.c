/* 30 calls that fail in known ways among others that do not. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  for (int i = 0; i < 10; ++i) {
    if (open("/nonexistent/file", O_RDONLY) >= 0) return 1;
    if (read(-1, 0, 0) >= 0) return 2;
    if (fopen("/nonexistent/file", "r")) return 3;
    close(open("/dev/null", O_RDONLY));
  }
  puts("done");
  return 0;
}
