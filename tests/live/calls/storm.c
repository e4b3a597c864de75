// Calls as fast as it can, so that the ring is full; with timer signals whose handler calls, too.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

int add_one(int);
static sigjmp_buf back;
static volatile sig_atomic_t seen, jumps;

static void on_alarm(int number) {
  add_one(number);
  if (++seen % 4 == 0 && jumps < 20) {
    ++jumps;
    siglongjmp(back, 1);
  }
}

int main(int count, char** words) {
  const int calls = atoi(words[1]);
  volatile int i = 0;
  volatile int value = 0;
  if (count > 2) {
    const struct itimerval often = {{0, 500}, {0, 500}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &often, 0);
  }
  sigsetjmp(back, 1);
  for (; i < calls; ++i) value = add_one(i);
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, 0);
  printf("%d\n", value == calls);
  return 0;
}
