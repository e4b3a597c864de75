/* Eight threads at once, four that are cancelled inside the library, 200 short ones. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
int add_one(int);
void sleep_for_ever(void);
static long rounds = 100000;
static void *count(void *unused) {
  long value = 0;
  (void)unused;
  for (long i = 0; i < rounds; ++i) value = add_one(value);
  return (void *)value;
}
static void *sleeper(void *unused) { sleep_for_ever(); return unused; }
static void *once(void *result) { add_one(1); pthread_exit(result); }
int main(void) {
  pthread_t threads[8];
  void *result;
  long sum = 0;
  int cancelled = 0;
  for (int i = 0; i < 8; ++i) pthread_create(&threads[i], 0, count, 0);
  for (int i = 0; i < 8; ++i) { pthread_join(threads[i], &result); sum += (long)result; }
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], 0, sleeper, 0);
  usleep(20000);
  for (int i = 0; i < 4; ++i) { pthread_cancel(threads[i]); pthread_join(threads[i], &result); cancelled += result == PTHREAD_CANCELED; }
  for (int i = 0; i < 200; ++i) { pthread_create(&threads[0], 0, once, (void *)5); pthread_join(threads[0], &result); sum += (long)result; }
  printf("%ld %d\n", sum, cancelled);
  return !(sum == 801000 && cancelled == 4);
}
