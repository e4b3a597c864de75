// The library whose functions the other programs call: one for each way to pass and to return.
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>

#include <complex>
#include <cstdarg>
#include <stdexcept>
#include <string>

extern "C" {
int add_one(int value) {
  return value + 1;
}

int descend(int depth, int (*callback)(int)) {
  return depth > 0 ? callback(depth - 1) + 1 : 0;
}

void throw_below(int depth, int (*callback)(int)) {
  if (depth == 0) {
    throw std::runtime_error("thrown");
  }
  callback(depth - 1);
}

void jump_out(jmp_buf place, int value) {
  longjmp(place, value);
}

double sum_of_doubles(int count, ...) {
  va_list arguments;
  va_start(arguments, count);
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += va_arg(arguments, double);
  }
  va_end(arguments);
  return sum;
}

long nine(long a, long b, long c, long d, long e, long f, long g, long h, long i) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

long double scaled(long double value) {
  return value * 2.5L;
}

struct Large {
  long values[5];
};

Large make_large(int first) {
  Large large;
  for (int i = 0; i < 5; ++i) {
    large.values[i] = first + i;
  }
  return large;
}

struct Mixed {
  double number;
  long count;
};

Mixed make_mixed(double number, long count) {
  return {number * 2, count + 1};
}

struct Pair {
  double first, second;
};

Pair make_pair_of(double value) {
  return {value, value * 3};
}

_Complex long double squared(_Complex long double value) {
  return value * value;
}

int own_backtrace(void** frames, int most) {
  return backtrace(frames, most);
}

int tripled(int value) {
  return value * 3;
}

typedef double vector4 __attribute__((vector_size(32)));

__attribute__((target("avx"))) vector4 add_vectors(vector4 a, vector4 b) {
  return a + b;
}

void sleep_for_ever() {
  for (;;) {
    usleep(1000);
  }
}
}

struct Guard {
  int* count;

  ~Guard() { ++*count; }
};

void throw_with_guards(int depth, int* count) {
  Guard guard{count};
  if (depth > 0) {
    throw_with_guards(depth - 1, count);
  } else {
    throw std::string("guarded");
  }
}
