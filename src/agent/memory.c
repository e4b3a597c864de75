// Texts and memory without a C library.

#include <sys/mman.h>

#include "agent.h"
#include "system_calls.h"

// The compiler may call these two on its own.
void* memcpy(void* to, const void* from, size_t bytes) {
  void* start = to;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
  return start;
}

void* memset(void* at, int value, size_t bytes) {
  void* start = at;
  __asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(value) : "memory");
  return start;
}

size_t text_length(const char* text) {
  size_t length = 0;
  while (text[length] != 0) {
    ++length;
  }
  return length;
}

int same_text(const char* one, const char* other) {
  while (*one != 0 && *one == *other) {
    ++one;
    ++other;
  }
  return *one == *other;
}

const char* after_prefix(const char* text, const char* prefix) {
  while (*prefix != 0) {
    if (*text++ != *prefix++) {
      return 0;
    }
  }
  return text;
}

char* append_number(char* at, uint64_t value) {
  char digits[24];
  int count = 0;
  do {
    digits[count++] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  while (count != 0) {
    *at++ = digits[--count];
  }
  *at = 0;
  return at;
}

void* map_memory(void* at, uint64_t bytes, int flags) {
  const long address = system_call(SYS_mmap,
                                   (long)at,
                                   (long)bytes,
                                   PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | flags,
                                   -1,
                                   0);
  return is_error(address) ? 0 : (void*)address;
}

uint32_t keep_name(const char* name) {
  const size_t bytes = text_length(name) + 1;
  const uint32_t at = region->head.names;
  if (bytes > tracso_name_bytes - at) {
    return 0;
  }
  memcpy(region->name + at, name, bytes);
  region->head.names = at + (uint32_t)bytes;
  return at;
}
