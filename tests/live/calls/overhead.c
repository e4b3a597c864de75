/* Prints the picoseconds that a call into the library takes: the least of several rounds. */
#include <stdio.h>
#include <time.h>
int add_one(int);
static long nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}
int main(void) {
  enum { rounds = 7, calls = 700000 };
  long least = 0;
  int value = 0;
  for (int round = 0; round < rounds; ++round) {
    const long start = nanoseconds();
    for (int i = 0; i < calls; ++i) value = add_one(value);
    const long took = nanoseconds() - start;
    if (round == 0 || took < least) least = took;
  }
  printf("%ld\n", least * 1000 / calls);
  return value != rounds * calls;
}
