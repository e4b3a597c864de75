/* What a wrong trampoline breaks. Prints "failures 0" and returns the number of failures. */
#define _GNU_SOURCE
#include <complex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

int add_one(int);
int descend(int, int (*)(int));
void jump_out(jmp_buf, int);
double sum_of_doubles(int, ...);
long nine(long, long, long, long, long, long, long, long, long);
long double scaled(long double);
struct Large { long values[5]; } make_large(int);
struct Mixed { double number; long count; } make_mixed(double, long);
struct Pair { double first, second; } make_pair_of(double);
_Complex long double squared(_Complex long double);
int own_backtrace(void **, int);
int tail_caller(int);
char **backtrace_symbols(void *const *, int);
typedef double vector4 __attribute__((vector_size(32)));
__attribute__((target("avx"))) vector4 add_vectors(vector4, vector4);

static int failures;
#define CHECK(condition) do { if (!(condition)) { ++failures; printf("line %d: %s\n", __LINE__, #condition); } } while (0)

static jmp_buf place;
static int descend_and_jump(int depth) {
  if (depth == 0) jump_out(place, 7);
  return descend(depth, descend_and_jump);
}
static int descend_far(int depth) { return depth > 0 ? descend(depth, descend_far) : 0; }

static volatile int signals;
static void on_signal(int number) { (void)number; signals += add_one(0); }

static ucontext_t outside, inside;
static int coroutine_sum;
static void coroutine(void) {
  for (int i = 0; i < 5; ++i) {
    coroutine_sum += add_one(i);
    swapcontext(&inside, &outside);
  }
}
static void run_coroutine(char *stack) {
  coroutine_sum = 0;
  getcontext(&inside);
  inside.uc_stack.ss_sp = stack;
  inside.uc_stack.ss_size = 65536;
  inside.uc_link = &outside;
  makecontext(&inside, coroutine, 0);
  for (int i = 0; i < 5; ++i) swapcontext(&outside, &inside);
  CHECK(coroutine_sum == 15);
}

static int fork_inside(int depth) {
  if (depth > 0) return descend(depth, fork_inside);
  pid_t child = fork();
  if (child == 0) {
    int value = 0;
    for (int i = 0; i < 100; ++i) value = add_one(value);
    _exit(value == 100 ? 33 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

__attribute__((target("avx"))) static void vectors(void) {
  vector4 a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
  vector4 sum = add_vectors(a, b);
  CHECK(sum[0] == 6 && sum[1] == 8 && sum[2] == 10 && sum[3] == 12);
}

static void arguments_and_results(void) {
  CHECK(sum_of_doubles(3, 1.0, 2.0, 3.5) == 6.5);
  CHECK(nine(1, 2, 3, 4, 5, 6, 7, 8, 9) == 285);
  CHECK(scaled(2.0L) == 5.0L);
  struct Large large = make_large(10);
  CHECK(large.values[0] == 10 && large.values[4] == 14);
  struct Mixed mixed = make_mixed(1.5, 4);
  CHECK(mixed.number == 3.0 && mixed.count == 5);
  struct Pair pair = make_pair_of(2);
  CHECK(pair.first == 2 && pair.second == 6);
  _Complex long double square = squared(1.0L + 2.0L * _Complex_I);
  CHECK(creall(square) == -3.0L && cimagl(square) == 4.0L);
  for (int i = 0; i < 5000; ++i) CHECK(tail_caller(i) == 3 * (i + 1));
  if (__builtin_cpu_supports("avx")) vectors();
  char text[100];
  snprintf(text, sizeof text, "%.2f %s %d %Lf", 1.25, "x", 7, 2.5L);
  CHECK(strcmp(text, "1.25 x 7 2.500000") == 0);
}

static void signals_on_both_stacks(void) {
  signal(SIGUSR1, on_signal);
  for (int i = 0; i < 100; ++i) raise(SIGUSR1);
  CHECK(signals == 100);
  stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
  sigaltstack(&stack, 0);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR2, &action, 0);
  for (int i = 0; i < 100; ++i) raise(SIGUSR2);
  CHECK(signals == 200);
}

static void processes(void) {
  int status = 0;
  CHECK(fork_inside(3) == 36);
  pid_t child = vfork();
  if (child == 0) { execl("/bin/true", "true", (char *)0); _exit(1); }
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(system("exit 3") >> 8 == 3);
}

int main(int count, char **words) {
  static char stack[65536];
  (void)count;
  for (int i = 0; i < 1000; ++i) {
    int result = setjmp(place);
    if (result == 0) descend_and_jump(8);
    CHECK(result == 0 || result == 7);
  }
  arguments_and_results();
  signals_on_both_stacks();
  CHECK(descend_far(1000) == 1000);
  run_coroutine(stack);
  run_coroutine(malloc(65536));
  processes();
  void *frames[64];
  int got = own_backtrace(frames, 64);
  char **names = backtrace_symbols(frames, got);
  int mine = 0;
  for (int i = 0; i < got; ++i) mine += strstr(names[i], strrchr(words[0], '/')) != 0;
  CHECK(got >= 3 && mine >= 1);
  printf("failures %d\n", failures);
  return failures;
}
