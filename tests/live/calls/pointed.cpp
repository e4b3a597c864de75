// Functions that are called through looked-up pointers in ways that a wrong trampoline breaks: they
// throw, are signal handlers, starts of threads and callbacks, take arguments on the stack; and
// they are looked up again in a child.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#ifdef LIBRARY
static int hits;

extern "C" void throws(int n) {
  if (n % 2 != 0)
    throw std::runtime_error("odd");
}

extern "C" void handler(int) {
  ++hits;
}

extern "C" int count() {
  return hits;
}

extern "C" void* start(void* word) {
  return word;
}

extern "C" int compare(const void* one, const void* other) {
  return *(const int*)one - *(const int*)other;
}

extern "C" int many(int a, int b, int c, int d, int e, int f, int g, int h, int i) {
  return a + b + c + d + e + f + g + h + i;
}
#else
int main() {
  void* library = dlopen("libpointed.so", RTLD_NOW);
  auto throws = (void (*)(int))dlsym(library, "throws");
  int caught = 0;
  for (int i = 0; i < 1000; ++i) {
    try {
      throws(i);
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  signal(SIGUSR1, (void (*)(int))dlsym(library, "handler"));
  for (int i = 0; i < 100; ++i)
    raise(SIGUSR1);
  long sum = 0;
  for (long i = 0; i < 50; ++i) {
    pthread_t thread;
    void* result = nullptr;
    pthread_create(&thread, nullptr, (void* (*)(void*))dlsym(library, "start"), (void*)i);
    pthread_join(thread, &result);
    sum += (long)result;
  }
  int numbers[100];
  for (int i = 0; i < 100; ++i)
    numbers[i] = i * 37 % 100;
  qsort(
      numbers, 100, sizeof *numbers, (int (*)(const void*, const void*))dlsym(library, "compare"));
  auto many = (int (*)(int, int, int, int, int, int, int, int, int))dlsym(library, "many");
  auto count = (int (*)())dlsym(library, "count");
  fflush(stdout);
  if (fork() == 0) {
    const bool same = dlsym(library, "count") == (void*)count;
    printf("child %d %d\n", count(), same);
    fflush(stdout);
    execl("/bin/echo", "echo", "executed", (char*)nullptr);
  }
  int status = 0;
  wait(&status);
  printf("%d %d %ld %d %d %d\n",
         caught,
         count(),
         sum,
         numbers[10],
         many(1, 2, 3, 4, 5, 6, 7, 8, 9),
         WEXITSTATUS(status));
}
#endif
