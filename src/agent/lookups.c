// Whether the result of a look-up may come by us, so that pointers.c can answer with a stub. Then it
// is the agent that dlsym sees as its caller, by the return address. With a handle that is all the
// same; RTLD_DEFAULT and RTLD_NEXT mean something else for each caller. So the agent may stand in for
// one object only, the one right before it in the loader's order (the program, or what the user's own
// LD_PRELOAD names last):
//
//   RTLD_NEXT     what is next for it is next for us
//   RTLD_DEFAULT  both search the program and what it was started with, unless it asks itself first
//                 (DT_SYMBOLIC). So do the libraries behind us; but they get no answer for RTLD_NEXT,
//                 and who compares the two must not find them different
//
// What is not found is asked for by the caller itself, so that dlerror(3) names that one. An own
// dlsym of a library that stands before the C library's may do anything: it is left alone.

#include "agent.h"

extern void* dlvsym(void*, const char*, const char*) __attribute__((weak));
extern void* dlsym(void*, const char*) __attribute__((weak));

static int is_vdso(uint32_t object) {
  return same_text(object_name(object), "[vdso]") ||
         same_text(object_name(object), "linux-vdso.so.1");
}

static int is_right_before_us(uint32_t asker) {
  for (uint32_t i = asker + 1; i < region->head.objects; ++i) {
    if ((region->object[i].flags & tracso_object_own) != 0) {
      return 1;
    }
    if (!is_vdso(i)) {
      return 0;
    }
  }
  return 0;
}

static int asks_itself_first(uint32_t object) {
  struct image image;
  return !read_symbols(&image, object) || image.symbolic;
}

static int is_c_library(uint32_t object) {
  static const char* const prefixes[] = {"libc.", "libc-", "libdl.", "libdl-", "ld-musl-", 0};
  for (const char* const* prefix = prefixes; object != UINT32_MAX && *prefix != 0; ++prefix) {
    if (after_prefix(last_name(object_name(object)), *prefix) != 0) {
      return 1;
    }
  }
  return 0;
}

// Would we be given what the caller will be given?
static int stands_for(const uint64_t* saved) {
  const uint64_t target = targets[(uint32_t)saved[saved_r11]];
  const uint32_t asker = object_at(saved[saved_place]);
  return asker != UINT32_MAX && is_right_before_us(asker) &&
         (saved[saved_rdi] == (uint64_t)RTLD_NEXT || !asks_itself_first(asker)) &&
         is_c_library(object_at(target)) &&
         (target == (uint64_t)dlsym || target == (uint64_t)dlvsym);
}

static int is_found(const uint64_t* saved) {
  void* const handle = (void*)saved[saved_rdi];
  const char* const name = (const char*)saved[saved_rsi];
  const char* const version = (const char*)saved[saved_rdx];
  if (name == 0) {
    return 0;
  }
  return targets[(uint32_t)saved[saved_r11]] == (uint64_t)dlsym
             ? dlsym(handle, name) != 0
             : version != 0 && dlvsym(handle, name, version) != 0;
}

// Before a look-up: 1 if its result is to come by us.
int may_answer(const uint64_t* saved) {
  const uint64_t handle = saved[saved_rdi];
  if (handle != (uint64_t)RTLD_DEFAULT && handle != (uint64_t)RTLD_NEXT) {
    return 1;
  }
  if (stands_for(saved)) {
    return is_found(saved);
  }
  count_left_pointer();
  __atomic_fetch_add(&region->head.lookups_by_caller, 1, __ATOMIC_RELAXED);
  return 0;
}
