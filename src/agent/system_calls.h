#pragma once
// System calls without a C library: no errno is touched, and the library's own wrappers, which may
// be among the traced functions, are not called. Results below zero are negated error numbers.

#include <stdint.h>
#include <sys/syscall.h>

static inline long system_call(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static inline long call_1(long number, long a) { return system_call(number, a, 0, 0, 0, 0, 0); }

static inline long call_2(long number, long a, long b) {
  return system_call(number, a, b, 0, 0, 0, 0);
}

static inline long call_3(long number, long a, long b, long c) {
  return system_call(number, a, b, c, 0, 0, 0);
}

// mmap(2) gives addresses, which are no small negative numbers.
static inline int is_error(long result) { return (unsigned long)result > (unsigned long)-4096; }

static inline void protect(uint64_t start, uint64_t end, int protection) {
  if (end > start) {
    call_3(SYS_mprotect, (long)start, (long)(end - start), protection);
  }
}

static inline uint64_t now_ns(void) {
  uint64_t time[2] = {0, 0};
  call_2(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, (long)time);
  return time[0] * 1000000000u + time[1];
}
