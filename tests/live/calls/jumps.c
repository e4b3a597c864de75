/* 50 jumps out of five frames, and a timer that interrupts whatever is under way. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
static jmp_buf place;
static volatile int ticks;
static void on_timer(int number) { char bytes[8]; memset(bytes, number, 8); ++ticks; }
__attribute__((noinline)) static void fall(int depth) {
  char bytes[64];
  memset(bytes, depth, 64);
  if (depth == 0) longjmp(place, 1);
  fall(depth - 1);
  puts(bytes);
}
int main(void) {
  volatile int jumps = 0;
  long calls = 0;
  for (volatile int i = 0; i < 50; ++i) {
    if (!setjmp(place)) fall(5); else ++jumps;
  }
  signal(SIGALRM, on_timer);
  struct itimerval timer = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &timer, 0);
  while (ticks < 50) calls += getppid() > 0;
  printf("jumps %d ticks %d\n", jumps, ticks >= 50 && calls > 0);
  return 0;
}
