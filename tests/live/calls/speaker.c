// Says on its standard output what it passes to library functions, each line as `tracso calls` has to
// show the call.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char line[4096];
static size_t used;

// Written at the end, with write(2) alone, for printf would be a traced call itself.
static void say(const char* text) {
  while (*text != 0 && used + 1 < sizeof line) line[used++] = *text++;
}

static void say_pointer(const void* pointer) {
  static const char digits[] = "0123456789abcdef";
  unsigned long value = (unsigned long)pointer;
  char text[20];
  int at = 20;
  text[--at] = 0;
  do {
    text[--at] = digits[value % 16];
    value /= 16;
  } while (value != 0);
  text[--at] = 'x';
  text[--at] = '0';
  say(text + at);
}

int main(void) {
  setenv("SPOKEN", "a \"quoted\"\n\x1b[31m text that is longer than 32 bytes", 1);
  char* volatile spoken = getenv("SPOKEN");
  say("getenv(\"SPOKEN\") = \"a \\\"quoted\\\"\\n\\33[31m text that is lo\"...\n");
  volatile size_t length = strlen(spoken);
  (void)length;

  char buffer[64];
  snprintf(buffer, sizeof buffer, "%d %s %c %5.2f %lx|%u %u %u", -42, "word", 'x', 3.75, 255ul, 1u, 2u, 3u);
  say("snprintf(\"-42 word x  3.75 ff|1 2 3\", 64, \"%d %s %c %5.2f %lx|%u %u %u\", -42, \"word\", 'x', 3.750000, "
      "0xff, 1, 2, 3) = 25\n");

  // Pointers that lead nowhere, and texts that run into a hole.
  char* page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(page + 4096, 4096);
  memcpy(page + 4090, "sixsix", 6);
  volatile int compared = strncmp(page + 4090, "sixsiy", 6);
  (void)compared;
  say("strncmp(\"sixsix\", \"sixsiy\", 6)\n");
  volatile int opened = open((const char*)8, O_RDONLY);
  say("open(0x8, O_RDONLY) = -1 EFAULT (bad address)\n");
  opened = open(page + 4096, O_WRONLY | O_CREAT, 0600);
  say("open(");
  say_pointer(page + 4096);
  say(", O_WRONLY|O_CREAT, 0600) = -1 EFAULT (bad address)\n");
  opened = open("/no/such/file", O_RDONLY | O_CLOEXEC);
  say("open(\"/no/such/file\", O_RDONLY|O_CLOEXEC) = -1 ENOENT (no such file or directory)\n");
  if (errno != ENOENT) return 9;

  int ends[2];
  if (pipe(ends) != 0) return 8;
  volatile long count = write(ends[1], "bytes\0\001", 7);
  count = read(ends[0], buffer, 50);
  say("\"bytes\\0\\1\", 7) = 7\n");
  say(", \"bytes\\0\\1\", 50) = 7\n");
  count = read(-1, buffer, 50);
  say("read(-1, ");
  say_pointer(buffer);
  say(", 50) = -1 EBADF (bad file descriptor)\n");

  volatile double argument = 0.25;
  volatile double root = sqrt(argument) + pow(argument, 2.0);
  (void)root;
  say("pow(0.250000, 2.000000) = 0.062500\n");

  volatile int same = memcmp("abc", "abd", 3);
  (void)same;
  void* volatile memory = malloc(10);
  say("malloc(10) = ");
  say_pointer(memory);
  say("\nfree(");
  say_pointer(memory);
  say(") = <void>\n");
  free(memory);
  say("dlopen(\"libm.so.6\", RTLD_NOW|RTLD_NOLOAD) = ?\n");
  dlopen("libm.so.6", RTLD_NOW | RTLD_NOLOAD);
  count = write(1, line, used);
  fputs("on stderr\n", stderr);
  exit(7);
}
