// Locks memory: locking FLAGS [late]. `late`: when a line has come. Says what it has resident, and
// ends at the next line. Where all that is mapped were brought in, that would be terabytes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static long resident_kilobytes(void) {
  char line[256];
  long kilobytes = -1;
  FILE* status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, "VmRSS:", 6) == 0) {
      kilobytes = atol(line + 6);
    }
  }
  fclose(status);
  return kilobytes;
}

int main(int count, char** words) {
  char line[64];
  const int flags = atoi(words[1]);
  const int late = count > 2;
  alarm(60);
  if (late) {
    puts("ready");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL) {
      return 1;
    }
  }
  alarm(2);  // before it has taken all there is
  if (flags != 0 && mlockall(flags) != 0) {
    puts("refused");
    return 2;
  }
  alarm(60);
  puts(resident_kilobytes() < 200000 ? "locked" : "filled");
  fflush(stdout);
  return fgets(line, sizeof line, stdin) == NULL;
}
