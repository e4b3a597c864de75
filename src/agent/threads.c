// The counters of a thread. Each thread has its own, so that counting needs no atomic instruction;
// the pointer to them is the agent's only thread-local variable.

#include "agent.h"
#include "system_calls.h"

__thread struct tracso_thread* this_thread __attribute__((tls_model("initial-exec"))) = 0;

// A block whose thread is gone can be used again: its sums stay, and a program that starts and ends
// thousands of threads needs a handful of blocks. Only looked for once there are many.
static struct tracso_thread* block_of_an_ended_thread(uint32_t used, uint64_t id) {
  enum { many = 32, looked_at = 64, error_no_such_process = 3 };
  static uint32_t next;
  if (used < many) {
    return 0;
  }
  const long pid = call_1(SYS_getpid, 0);
  for (uint32_t i = 0; i < looked_at && i < used; ++i) {
    struct tracso_thread* block = &region->thread[(next + i) % used];
    uint64_t old = block->id;
    if (old != 0 && call_3(SYS_tgkill, pid, (long)old, 0) == -error_no_such_process &&
        __atomic_compare_exchange_n(&block->id, &old, id, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      next = (next + i + 1) % used;
      return block;
    }
  }
  return 0;
}

int take_thread_block(void) {
  if (this_thread != 0) {
    return 1;
  }
  const uint64_t id = (uint64_t)call_1(SYS_gettid, 0);
  const uint32_t blocks = region->head.thread_blocks;
  const uint32_t used = region->head.threads < blocks ? region->head.threads : blocks;
  struct tracso_thread* block = block_of_an_ended_thread(used, id);
  if (block == 0) {
    uint32_t index = __atomic_fetch_add(&region->head.threads, 1, __ATOMIC_SEQ_CST);
    if (index >= blocks) {  // more live threads than blocks: they share the last one
      region->head.threads = blocks;
      region->head.threads_shared = 1;
      index = blocks - 1;
    }
    block = &region->thread[index];
    block->id = id;
  }
  block->children = 0;
  if (rings != 0) {
    begin_ring(&rings[block - region->thread]);
  }
  this_thread = block;
  return 1;
}
