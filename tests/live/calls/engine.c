// Functions that are called in every way that a breakpoint may break; what it prints says whether
// all went well. engine MODE
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

extern char** environ;

static APART int inner(int a, const char* text) {
  return a + (int)strlen(text);
}

APART int outer(int a) {
  return inner(a, getenv("HOME")) * 2;
}

APART __attribute__((optimize("O1"))) int factorial(int n) {
  return n < 2 ? 1 : n * factorial(n - 1);
}

APART int work(int number) {
  __asm__ volatile("" ::: "memory");
  return number + 1;
}

APART int jumps_to(int number) {
  return work(number + 1);  // with -O2 a jump
}

static jmp_buf back;

APART int descend(int depth) {
  if (depth == 0) {
    longjmp(back, 1);
  }
  return descend(depth - 1) + 1;
}

static int jumps(void) {
  volatile int times = 0;
  for (int i = 0; i < 50; ++i) {
    if (setjmp(back) == 0) {
      descend(5);
    } else {
      ++times;
    }
    work(i);
  }
  printf("jumps %d\n", times);
  return 0;
}

static void* run(void* of) {
  long sum = 0;
  for (int i = 0; i < 200; ++i) {
    sum += work((int)(long)of * 1000 + i);
  }
  return (void*)sum;
}

static int threads(void) {
  pthread_t all[8];
  long sum = 0;
  for (long i = 0; i < 8; ++i) {
    pthread_create(&all[i], 0, run, (void*)i);
  }
  for (int i = 0; i < 8; ++i) {
    void* part = 0;
    pthread_join(all[i], &part);
    sum += (long)part;
  }
  printf("threads %ld\n", sum);
  return 0;
}

static volatile sig_atomic_t signals_seen;

static void on_alarm(int signal) {
  (void)signal;
  work(77777);
  ++signals_seen;
}

static int with_signals(void) {
  const struct itimerval every = {{0, 2000}, {0, 2000}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  signal(SIGALRM, on_alarm);
  setitimer(ITIMER_REAL, &every, 0);
  long sum = 0;
  for (int i = 0; i < 3000 || signals_seen < 5; ++i) {
    sum += work(1) - 1;
  }
  setitimer(ITIMER_REAL, &never, 0);
  printf("signals %d\n", sum >= 3000);
  return 0;
}

static int forks(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    int sum = 0;
    for (int i = 0; i < 10; ++i) {
      sum += work(7000 + i);
    }
    _exit(sum == 70055 ? 9 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  work(1);
  printf("forks %d\n", WEXITSTATUS(status));
  return 0;
}

static int spawns(void) {
  char* const words[] = {"true", 0};
  int ends[3] = {-1, -1, -1};
  pid_t child = vfork();
  if (child == 0) {
    work(1);
    execvp("/no/such", words);
    execvp("true", words);
    _exit(1);
  }
  waitpid(child, &ends[0], 0);
  posix_spawnp(&child, "false", 0, 0, words, environ);
  waitpid(child, &ends[1], 0);
  ends[2] = system("exit 3");
  work(2);
  printf("spawns %d %d %d\n", WEXITSTATUS(ends[0]), WEXITSTATUS(ends[1]), WEXITSTATUS(ends[2]));
  return 0;
}

// Kills who traces it, waits until the code is its own again, and goes on.
static int orphan(void) {
  const volatile unsigned char* code = (const volatile unsigned char*)(void*)work;
  work(1);
  kill(getppid(), SIGKILL);
  for (int i = 0; i < 10000 && (*code == 0xcc || i == 0); ++i) {
    usleep(1000);
  }
  usleep(100000);
  long sum = 0;
  for (int i = 0; i < 1000; ++i) {
    sum += work(0);
  }
  printf("orphan %ld\n", sum);
  return 0;
}

int main(int count, char** words) {
  const char* mode = count > 1 ? words[1] : "plain";
  if (strcmp(mode, "jumps") == 0) {
    return jumps();
  }
  if (strcmp(mode, "threads") == 0) {
    return threads();
  }
  if (strcmp(mode, "signals") == 0) {
    return with_signals();
  }
  if (strcmp(mode, "forks") == 0) {
    return forks();
  }
  if (strcmp(mode, "spawns") == 0) {
    return spawns();
  }
  if (strcmp(mode, "orphan") == 0) {
    return orphan();
  }
  if (strcmp(mode, "self") == 0) {
    printf("self %ld\n", ptrace(PTRACE_TRACEME, 0, 0, 0));
    return 0;
  }
  if (strcmp(mode, "exec") == 0) {
    work(1);
    execl(words[0], words[0], "forks", (char*)0);
  }
  if (strcmp(mode, "killed") == 0) {
    raise(SIGTERM);
  }
  printf("%d %d %d\n", outer(3), factorial(4), jumps_to(1));
  open("/no/such/file", O_RDONLY | O_CLOEXEC);
  return 5;
}
