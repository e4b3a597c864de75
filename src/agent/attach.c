// Coming into a running process, and going again. tracso borrows a thread of it at a moment when that
// holds no lock that matters (src/calls/safe_point.hpp), has the loader load this object, and calls
// the functions here. Nothing is ever unmapped: another thread may be in a function that was called
// through us, and will come back. Who attaches next finds all of it and begins a new session:
//
//   the region   is mapped in the place of the old one, so that what threads know of it stays true
//   the slots    keep their numbers and stubs, which a thread may just be running; what was asked for
//                is decided anew for each
//   frames       of calls that began before (session_start) are none of it
//
// Patching takes time, mostly for reading code (call_sites.c): so it is done in pieces, and the
// thread is let go in between.

#include "agent.h"
#include "system_calls.h"

enum { error_busy = 16, error_no_memory = 12 };

__attribute__((visibility("default"))) struct tracso_agent_state tracso_agent_state = {
    TRACSO_AGENT_MAGIC, 0, 0};

int is_active(void) { return __atomic_load_n(&tracso_agent_state.active, __ATOMIC_SEQ_CST) != 0; }

int is_attached(void) { return setup != 0 && (setup->flags & tracso_attached) != 0; }

void set_active(int active) {
  tracso_agent_state.setup = (uint64_t)setup;
  __atomic_store_n(&tracso_agent_state.active, (uint64_t)active, __ATOMIC_SEQ_CST);
}

static uint64_t ticks_now(void) {
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
}

// The region of the new session in the place of the old one: with its objects and slots, and with
// the threads that have a block in it, but nothing counted.
static int renew_region(int arena) {
  struct tracso_region* saved = map_memory(0, region_bytes, 0x4000 /* MAP_NORESERVE */);
  if (saved == 0) {
    return 0;
  }
  copy_used(saved, region);
  const uint32_t threads = region->head.threads < region->head.thread_blocks
                               ? region->head.threads
                               : region->head.thread_blocks;
  for (uint32_t i = 0; i < threads; ++i) {
    saved->thread[i].id = region->thread[i].id;
  }
  const int mapped = map_session(arena, region);
  if (mapped) {
    copy_used(region, saved);
    for (uint32_t i = 0; i < region->head.objects; ++i) {
      struct tracso_object* object = &region->object[i];
      if ((object->flags & tracso_object_gone) != 0) {
        forget_object(object);
      }
    }
    for (uint32_t i = 0; i < threads; ++i) {
      region->thread[i].id = saved->thread[i].id;
    }
    region->head.magic = 0;
    region->head.locks_memory = 0;
    region->head.threads_shared = region->head.ended = region->head.late_objects = 0;
    region->head.pointers = region->head.pointers_left = region->head.lookups_by_caller = 0;
    region->head.objects_left = 0;
    region->head.start_ns = 0;  // left_sites stay: they are as they were
  }
  call_2(SYS_munmap, (long)saved, (long)region_bytes);
  return mapped;
}

static long begin_attached(int arena) {
  const int resident = region != 0;
  if (!map_setup(arena) || (resident ? !renew_region(arena) : !map_session(arena, 0))) {
    return -error_no_memory;
  }
  session_start = ticks_now();
  begin_session();
  if (alive == 0 && !prepare_process()) {
    return -error_no_memory;
  }
  return 0;
}

// A piece of work of about `budget` nanoseconds; the first one with an open arena, the others with
// -1. 1: there is more to do. 0: all is patched. Below zero: a negated error number.
__attribute__((visibility("default"))) long tracso_agent_attach(long arena, long budget) {
  static uint64_t spent;
  const uint64_t start = now_ns();
  if (!may_look()) {
    if (arena < 0) {
      return 1;
    }
    call_1(SYS_close, arena);
    return -error_busy;
  }
  long result = 0;
  if (arena >= 0) {
    set_active(0);
    if (region != 0) {
      if (alive != 0 && alive->known == 0) {
        begin_as_child();
      }
      give_slots_back();  // of somebody who was killed
    }
    spent = 0;
    result = begin_attached((int)arena);
    set_active(result == 0);
    call_1(SYS_close, arena);
  }
  if (result == 0) {
    result = look_for_objects(look_at_attach, start + (uint64_t)budget) ? 0 : 1;
  }
  spent += now_ns() - start;
  if (result == 0) {
    region->head.start_ns = spent;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    region->head.magic = TRACSO_REGION_MAGIC;
  }
  end_of_look();
  return result;
}

__attribute__((visibility("default"))) long tracso_agent_detach(void) {
  if (region == 0) {
    return 0;
  }
  set_active(0);
  give_slots_back();
  return 0;
}
