// A child after fork has all our code, slots and stubs, and a region that is still its parent's.
// The kernel has wiped the alive page for it, so its first traced call comes here (through the slow
// path) before it counts anything: it gets a region of its own, or with no -f private memory that
// nobody reads. vfork and posix_spawn share the parent's memory until exec: they stay the parent's.

#include <sys/mman.h>

#include "agent.h"
#include "system_calls.h"

// The used part of the region: what the slots are made of, without the counters.
void copy_used(struct tracso_region* to, const struct tracso_region* from) {
  memcpy(to, from, offsetof(struct tracso_region, object));
  memcpy(to->object, from->object, from->head.objects * sizeof(from->object[0]));
  memcpy(to->slot, from->slot, from->head.slots * sizeof(from->slot[0]));
  memcpy(to->name, from->name, from->head.names);
}

static void own_region(void) {
  struct tracso_region* saved = map_memory(0, region_bytes, MAP_NORESERVE);
  if (saved == 0) {
    return;
  }
  copy_used(saved, region);
  const int follow = (setup->flags & tracso_follow) != 0;
  if (!follow) {
    __atomic_fetch_add(&region->head.children, 1, __ATOMIC_RELAXED);  // the parent's still
  }
  if (!follow || !open_region(region)) {
    map_memory(region, region_bytes, MAP_NORESERVE | MAP_FIXED);
    rings = 0;  // the parent's; mapped still, for nothing can be running in them here
  }
  copy_used(region, saved);
  region->head.pid = (uint32_t)call_1(SYS_getpid, 0);
  region->head.threads = 0;
  region->head.threads_shared = 0;
  region->head.children = 0;
  region->head.starts_without_agent = 0;
  region->head.pointers = region->head.pointers_left = region->head.lookups_by_caller = 0;
  call_2(SYS_munmap, (long)saved, region_bytes);
}

void begin_as_child(void) {
  own_region();
  this_thread = 0;
  alive->known = 1;
  alive->counting = 1;
}
