// Locks memory: locking FLAGS [late]. FLAGS of mlockall, or 0: some pages with mlock. `late`: when a
// line has come. Says what it has resident, again at each line, until one is "end" or none comes.
// Where all that is mapped were brought in, that would be terabytes.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// No memory is mapped for it: with MCL_FUTURE alone nothing is locked by us.
static long resident_kilobytes(void) {
  static char text[8192];
  const int fd = open("/proc/self/status", O_RDONLY);
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  text[length > 0 ? length : 0] = 0;
  const char* line = strstr(text, "VmRSS:");
  return line == NULL ? -1 : strtol(line + 6, NULL, 10);
}

int main(int count, char** words) {
  static char line[64], in[4096], out[4096];
  setvbuf(stdin, in, _IOFBF, sizeof in);
  setvbuf(stdout, out, _IOFBF, sizeof out);
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
  if (flags == 0 ? mlock(in, sizeof in) != 0 : mlockall(flags) != 0) {
    puts("refused");
    return 2;
  }
  alarm(60);
  do {
    puts(resident_kilobytes() < 200000 ? "locked" : "filled");
    fflush(stdout);
  } while (fgets(line, sizeof line, stdin) != NULL && strcmp(line, "end\n") != 0);
  return 0;
}
