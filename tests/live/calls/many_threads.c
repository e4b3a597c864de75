// Each of eight threads calls add_one of its own numbers; a signal handler calls in between; some
// threads end and new ones take their places.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

int add_one(int);

static void* work(void* first) {
  volatile int value = 0;
  for (int i = 0; i < 500; ++i) value = add_one((int)(long)first * 1000 + i);
  return (void*)(long)value;
}

int main(void) {
  for (int round = 0; round < 5; ++round) {
    pthread_t threads[8];
    for (long i = 0; i < 8; ++i) pthread_create(&threads[i], 0, work, (void*)(round * 8 + i));
    for (int i = 0; i < 8; ++i) pthread_join(threads[i], 0);
  }
  puts("threads done");
  return 0;
}
