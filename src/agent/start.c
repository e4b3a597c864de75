// The agent's beginning and end. The loader runs start() before any other constructor (the object is
// linked -z initfirst), when even the C library's own variables may not be set: so the environment
// comes from the arguments of constructors, as glibc passes them.

#include <fcntl.h>
#include <sys/mman.h>

#include "agent.h"
#include "system_calls.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

_Static_assert(sizeof(struct tracso_stat) == 8 * TRACSO_STAT_WORDS, "enter_timed.S");
_Static_assert(offsetof(struct tracso_stat, errors) == TRACSO_STAT_ERRORS, "enter_timed.S");
_Static_assert(offsetof(struct tracso_stat, longest) == TRACSO_STAT_LONGEST, "enter_timed.S");
_Static_assert(offsetof(struct tracso_ring, data) % 4096 == 0, "a page of its own");
_Static_assert(sizeof(struct tracso_ring) % 4096 == 0, "rings begin on pages");
_Static_assert(offsetof(struct tracso_thread, stat) == TRACSO_THREAD_STATS, "enter_timed.S");

extern char** environ __attribute__((weak));
extern const char* gnu_get_libc_version(void) __attribute__((weak));
extern char* dlerror(void) __attribute__((weak));

struct tracso_setup* setup;
struct tracso_region* region;
uint64_t region_bytes;
char arena_path[64];
uint64_t exact_calls;
uint64_t session_start;
int is_recording;
static uint32_t thread_blocks;  // in the region
static uint32_t looking;  // a thread is in look_for_objects

static const char* variable(char** environment, const char* name) {
  for (char** entry = environment; *entry != 0; ++entry) {
    const char* rest = after_prefix(*entry, name);
    if (rest != 0 && *rest == '=') {
      return rest + 1;
    }
  }
  return 0;
}

static void remove_variable(char** environment, const char* name) {
  char** kept = environment;
  for (char** entry = environment; *entry != 0; ++entry) {
    const char* rest = after_prefix(*entry, name);
    if (rest == 0 || *rest != '=') {
      *kept++ = *entry;
    }
  }
  *kept = 0;
}

// tracso has put our path behind what the user had there.
static void restore_preload(char** environment) {
  if ((setup->flags & tracso_keep_preload) == 0) {
    remove_variable(environment, "LD_PRELOAD");
    return;
  }
  char* value = (char*)variable(environment, "LD_PRELOAD");
  if (value == 0) {
    return;
  }
  const size_t length = text_length(value);
  const size_t ours = text_length(setup->agent_path);
  if (length >= ours && same_text(value + length - ours, setup->agent_path)) {
    const size_t kept = length - ours;
    value[kept > 0 ? kept - 1 : 0] = 0;
  }
}

void hide_agent(char** environment) {
  remove_variable(environment, "TRACSO_CALLS");
  restore_preload(environment);
}

static void* map_arena(int fd, void* at, uint64_t bytes, uint64_t offset) {
  const long address = system_call(SYS_mmap,
                                   (long)at,
                                   (long)bytes,
                                   PROT_READ | PROT_WRITE,
                                   MAP_SHARED | (at != 0 ? MAP_FIXED : 0),
                                   fd,
                                   (long)offset);
  return is_error(address) ? 0 : (void*)address;
}

static int open_arena(void) {
  enum { at_fdcwd = -100 };
  return (int)system_call(
      SYS_openat, at_fdcwd, (long)arena_path, O_RDWR | O_CLOEXEC, 0, 0, 0);
}

// Where address space is limited (ulimit -v), a few thread blocks must do.
static struct tracso_region* map_region(int fd, void* at, uint32_t index) {
  const uint64_t offset = TRACSO_SETUP_BYTES + (uint64_t)index * TRACSO_REGION_BYTES;
  const uint32_t blocks[] = {TRACSO_MOST_THREADS, 64, 8};
  for (int i = 0; i < 3; ++i) {
    const uint64_t bytes =
        at != 0 ? region_bytes
                : TRACSO_ROUND(sizeof(struct tracso_region) -
                               (TRACSO_MOST_THREADS - blocks[i]) * sizeof(struct tracso_thread));
    struct tracso_region* mapped = map_arena(fd, at, bytes, offset);
    if (mapped != 0) {
      region_bytes = bytes;
      thread_blocks = at != 0 ? thread_blocks : blocks[i];
      mapped->head.thread_blocks = thread_blocks;
      return mapped;
    }
  }
  return 0;
}

// A forked child gets its own in the place of its parent's, and so does who attaches again.
static void map_rings(int fd, uint32_t index) {
  const uint64_t bytes = thread_blocks * (uint64_t)sizeof(struct tracso_ring);
  rings = map_arena(
      fd, rings, bytes, TRACSO_RINGS_START + (uint64_t)index * TRACSO_RINGS_BYTES);
}

int map_setup(int arena) {
  setup = map_arena(arena, setup, TRACSO_SETUP_BYTES, 0);
  return setup != 0;
}

int map_session(int arena, void* at) {
  struct tracso_region* mapped = 0;
  if (setup != 0 && setup->magic == TRACSO_SETUP_MAGIC) {
    const uint32_t index = __atomic_fetch_add(&setup->regions, 1, __ATOMIC_SEQ_CST);
    mapped = index < tracso_most_regions ? map_region(arena, at, index) : 0;
    if (mapped != 0 && (setup->flags & tracso_record) != 0) {
      map_rings(arena, index);
    }
  }
  region = mapped != 0 ? mapped : region;
  return mapped != 0;
}

int open_region(void* at) {
  const int arena = open_arena();
  if (arena < 0) {
    return 0;
  }
  const int mapped = (setup != 0 || map_setup(arena)) && map_session(arena, at);
  call_1(SYS_close, arena);
  return mapped;
}

static void map_mirror(void) {
  void* at = map_memory((void*)TRACSO_MIRROR_START, TRACSO_MIRROR_BYTES, MAP_NORESERVE | MAP_FIXED_NOREPLACE);
  if ((uint64_t)at != TRACSO_MIRROR_START) {
    if (at != 0) {
      call_2(SYS_munmap, (long)at, (long)TRACSO_MIRROR_BYTES);
    }
    region->head.no_mirror = 1;
    return;
  }
  call_3(SYS_madvise, (long)at, (long)TRACSO_MIRROR_BYTES, MADV_DONTDUMP);
}

static void read_command(void) {
  enum { at_fdcwd = -100 };
  const long fd = system_call(
      SYS_openat, at_fdcwd, (long)"/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0, 0, 0);
  if (fd >= 0) {
    call_3(SYS_read, fd, (long)region->head.command, sizeof region->head.command - 1);
    call_1(SYS_close, fd);
  }
  const long length = system_call(SYS_readlinkat,
                                  at_fdcwd,
                                  (long)"/proc/self/exe",
                                  (long)region->head.program,
                                  sizeof region->head.program - 1,
                                  0,
                                  0);
  if (is_error(length) || length == (long)sizeof region->head.program - 1) {
    region->head.program[0] = 0;  // cut off is no path
  }
}

// Our own look-ups went through the program's libraries: their calls are not the program's.
static void forget_own_calls(void) {
  if (this_thread == 0) {
    return;
  }
  for (uint32_t i = 0; i < region->head.slots; ++i) {
    if (this_thread->stat[i].calls != 0) {
      memset(&this_thread->stat[i], 0, sizeof this_thread->stat[i]);
    }
  }
  this_thread->children = 0;
}

int prepare_process(void) {
  if (!map_stubs()) {
    return 0;
  }
  map_mirror();
  alive->known = 1;
  alive->counting = 1;
  return 1;
}

void begin_session(void) {
  exact_calls = setup->exact_calls;
  if (region->head.names == 0) {
    region->head.names = 1;  // offset 0 is the empty name
  }
  region->head.pid = (uint32_t)call_1(SYS_getpid, 0);
  read_command();
  is_recording = rings != 0 && (setup->flags & tracso_record) != 0;
  if (is_recording && capture_rules == 0) {
    capture_rules = map_memory(0, TRACSO_MOST_SLOTS * sizeof *capture_rules, MAP_NORESERVE);
    is_recording = capture_rules != 0;
  }
}

static void begin(void) {
  const uint64_t start = now_ns();
  begin_session();
  if (!prepare_process()) {
    return;
  }
  set_active(1);
  look_for_objects(look_at_start, 0);
  if (dlerror != 0) {
    dlerror();  // a failed look-up of ours must not be the program's next error
  }
  forget_own_calls();
  region->head.start_ns = now_ns() - start;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  region->head.magic = TRACSO_REGION_MAGIC;
}

__attribute__((constructor)) static void start(int count, char** words, char** from_loader) {
  (void)count;
  (void)words;
  // musl passes nothing, but has set environ.
  char** environment = &environ != 0 && environ != 0  ? environ
                       : gnu_get_libc_version != 0 ? from_loader
                                                   : 0;
  const char* path = environment == 0 ? 0 : variable(environment, "TRACSO_CALLS");
  if (region != 0 || path == 0 || text_length(path) >= sizeof arena_path) {
    return;
  }
  memcpy(arena_path, path, text_length(path) + 1);
  const int opened = open_region(0);
  if (setup != 0 && (setup->flags & tracso_follow) == 0) {
    hide_agent(environment);
  }
  if (opened) {
    begin();
  }
}

// What the C library has loaded for itself since the last look (name services, character sets) was
// not traced; at a normal exit it is counted, so that it can be said.
static int count_late(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  (void)data;
  for (uint32_t i = 0; i < region->head.objects; ++i) {
    if ((region->object[i].flags & tracso_object_gone) == 0 &&
        region->object[i].base == info->dlpi_addr) {
      return 0;
    }
  }
  ++region->head.late_objects;
  return 0;
}

extern int dl_iterate_phdr(int (*)(struct dl_phdr_info*, size_t, void*), void*)
    __attribute__((weak));

__attribute__((destructor)) static void end(void) {
  if (region != 0 && alive != 0 && alive->known != 0 && dl_iterate_phdr != 0 && is_active()) {
    region->head.ended = 1;
    region->head.late_objects = 0;
    dl_iterate_phdr(count_late, 0);
  }
}

// --- what the assembly calls when it cannot go on by itself

// Before a thread's first counted call, and a child's. Not 0: it may count now.
__attribute__((visibility("hidden"))) int prepare_to_count(void) {
  if (alive->known == 0) {
    begin_as_child();
    end_of_look();  // a thread that looked when we were forked is not here
  }
  return take_thread_block() && alive->counting != 0;
}

int may_look(void) {
  uint32_t nobody = 0;
  return __atomic_compare_exchange_n(
      &looking, &nobody, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void end_of_look(void) { __atomic_store_n(&looking, 0, __ATOMIC_SEQ_CST); }

static void look(void) {
  prepare_to_count();
  if (is_active() && may_look()) {
    look_for_objects(look_later, 0);
    end_of_look();
  }
}

// mlockall(2) touches all that is mapped, our reserved 4 TiB and the rows of all threads too, which no
// machine has. So what is touched later is locked when that happens.
static void lock_on_touch(uint64_t* flags) {
  enum { mcl_current = 1, mcl_future = 2, mcl_onfault = 4 };
  if ((*flags & (mcl_current | mcl_future)) != 0) {
    *flags |= mcl_onfault;
    region->head.locks_memory = 1;
  }
}

// At the call of a function that loads objects or asks about them. Only one thread looks; a signal
// handler that calls dlsym meanwhile goes on without. Who asks about one of our stubs (dladdr) is
// told about what it leads to.
__attribute__((visibility("hidden"))) void look_at_loading_call(uint32_t slot, uint64_t* saved) {
  look();
  if (locks_memory(region->name + region->slot[slot].name)) {
    lock_on_touch(&saved[saved_rdi]);
  } else if (looks_up(region->name + region->slot[slot].name)) {
    count_left_pointer();
  } else if (is_stub(saved[saved_rdi])) {
    saved[saved_rdi] = target_of_stub(saved[saved_rdi]);
  }
}

// At a look-up. Not 0: its result is to come by us.
__attribute__((visibility("hidden"))) int look_at_asking_call(const uint64_t* saved) {
  look();
  return may_answer(saved);
}
