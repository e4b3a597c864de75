// Each call with its arguments and each return with its result, in the ring of the thread: a
// position that only this thread moves forward and one that only tracso does. An event is written
// behind the first and becomes visible when that moves over it.
//
// A signal handler that makes a traced call while an event is being written cannot write another in
// the middle of it: that one is lost, and counted. If the handler never comes back (longjmp), the
// next call from a place not below the interrupted one knows it, for stacks grow downwards.
//
// errno is read, never changed; the C library is called for its address alone.

#include "agent.h"
#include "system_calls.h"

extern int* __errno_location(void) __attribute__((weak));
int prepare_to_count(void);

struct tracso_ring* rings;
const struct tracso_capture_rule** capture_rules;

// Of a thread that begins: an earlier one may have had it, and left in the middle.
void begin_ring(struct tracso_ring* ring) {
  ring->writing = 0;
  ring->pending_count = 0;
}

static int take_ring(struct tracso_ring* ring, uint64_t place) {
  uint64_t owner = 0;
  if (__atomic_compare_exchange_n(
          &ring->writing, &owner, place, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    return 1;
  }
  if (place < owner) {  // called by a signal handler, while that one waits below us
    return 0;
  }
  ring->writing = place;
  return 1;
}

// As long as tracso lives, it reads; waiting for it is what strace's and ltrace's programs do, too.
static int is_read(void) {
  enum { at_fdcwd = -100 };
  return !is_error(system_call(SYS_faccessat, at_fdcwd, (long)arena_path, 0, 0, 0, 0));
}

// A process that has been attached to has its own life: it waits for one second, and from then on
// no more until there is room again.
static int wait_for_room(struct tracso_ring* ring, uint64_t bytes) {
  enum { turns_between_looks = 256, patience_ns = 1000000000 };
  if (ring->written - __atomic_load_n(&ring->read, __ATOMIC_ACQUIRE) + bytes <= tracso_ring_bytes) {
    ring->deaf = 0;
    return 1;
  }
  const uint64_t session = session_start, begun = is_attached() ? now_ns() : 0;
  for (uint32_t turn = 1; (setup->flags & tracso_drop) == 0 && ring->deaf == 0; ++turn) {
    const uint64_t pause[2] = {0, 200000};
    call_2(SYS_nanosleep, (long)pause, 0);
    if (ring->written - __atomic_load_n(&ring->read, __ATOMIC_ACQUIRE) + bytes <=
        tracso_ring_bytes) {
      return 1;
    }
    if (session != *(const volatile uint64_t*)&session_start) {
      return 0;  // who asked is gone, and somebody else has come
    }
    if (is_attached() ? now_ns() - begun >= patience_ns
                      : turn % turns_between_looks == 0 && !is_read()) {
      ring->deaf = 1;
    }
  }
  return 0;
}

// Room for one event in one piece, its head filled in. 0: it is lost.
static int begin_event(struct writing* writing,
                       struct tracso_ring* ring,
                       uint64_t place,
                       uint64_t ticks,
                       uint32_t slot,
                       uint16_t kind,
                       uint64_t pieces) {
  const uint64_t most = sizeof(struct tracso_event) + sizeof(struct tracso_call_words) +
                        TRACSO_FORMAT_BYTES + pieces;
  const uint64_t behind = tracso_ring_bytes - ring->written % tracso_ring_bytes;
  const uint64_t filler = behind < most ? behind : 0;
  if (!wait_for_room(ring, filler + most)) {
    return 0;
  }
  if (filler >= sizeof(struct tracso_event)) {
    struct tracso_event* event = (void*)(ring->data + ring->written % tracso_ring_bytes);
    event->kind = tracso_event_filler;
    event->bytes = (uint32_t)filler;
  }
  const uint64_t start = ring->written + filler;
  writing->event = (void*)(ring->data + start % tracso_ring_bytes);
  *writing->event = (struct tracso_event){
      (uint32_t)filler, kind, 0, slot, (uint32_t)this_thread->id, ticks, place};
  writing->at = (uint8_t*)(writing->event + 1);
  return 1;
}

static void end_event(struct writing* writing, struct tracso_ring* ring) {
  const uint64_t filler = writing->event->bytes;
  writing->event->bytes = (uint32_t)(writing->at - (uint8_t*)writing->event);
  if (ring->writing == writing->event->place) {
    __atomic_store_n(
        &ring->written, ring->written + filler + writing->event->bytes, __ATOMIC_RELEASE);
  } else {
    ++ring->lost;  // somebody thought that we would never come back
  }
}

static uint64_t room_of_piece(uint64_t bytes) {
  return sizeof(struct tracso_piece) + (bytes > setup->text_bytes ? bytes : setup->text_bytes) + 16;
}

static uint32_t nodes_of(const struct tracso_capture_rule* rule) {
  return rule->nodes < tracso_most_capture_nodes ? rule->nodes : tracso_most_capture_nodes;
}

// Bytes that the pieces may take.
static uint64_t room_for(const struct tracso_capture_rule* rule, int after) {
  if (rule == 0) {
    return 0;
  }
  uint32_t count = after && rule->result != 0;
  for (int i = 0; i < tracso_argument_registers; ++i) {
    const int kind = rule->argument[i] & tracso_capture_kind;
    if (kind != 0 && ((rule->argument[i] & tracso_capture_after) != 0) == after) {
      count += kind == tracso_capture_format ? 1 + tracso_argument_registers + tracso_stack_words : 1;
    }
  }
  uint64_t room = (count < tracso_most_pieces ? count : tracso_most_pieces) * room_of_piece(0);
  for (uint32_t i = 0; i < nodes_of(rule); ++i) {
    room += ((rule->node[i].kind & tracso_capture_after) != 0) == after
                ? room_of_piece(rule->node[i].bytes)
                : 0;
  }
  return room;
}

static uint64_t length_of(int source, const uint64_t* integer, uint64_t result) {
  switch (source) {
    case 0: return ~(uint64_t)0;
    case tracso_length_is_result: return result;
    case tracso_length_is_product: return integer[1] * integer[2];
    case tracso_length_is_result_product: return result * integer[1];
    default: return source <= tracso_argument_registers ? integer[source - 1] : 0;
  }
}

static void capture(struct writing* writing,
                    const struct tracso_capture_rule* rule,
                    const struct tracso_call_words* words,
                    int after,
                    uint64_t result) {
  for (uint8_t i = 0; i < tracso_argument_registers; ++i) {
    const uint8_t what = rule->argument[i];
    if (((what & tracso_capture_after) != 0) != after) {
      continue;
    }
    uint64_t at_most = length_of(what >> tracso_capture_length, words->integer, result);
    if ((what & tracso_capture_narrow) != 0) {
      at_most = (uint64_t)(int32_t)at_most;  // below zero: a failure, nothing to show
    }
    switch (what & tracso_capture_kind) {
      case tracso_capture_text: capture_text(writing, i, words->integer[i], at_most); break;
      case tracso_capture_bytes: capture_bytes(writing, i, words->integer[i], at_most); break;
      case tracso_capture_format: capture_format(writing, i, words->integer[i], words); break;
      default: break;
    }
  }
  capture_nodes(writing, rule->node, nodes_of(rule), words->integer, after, result);
}

static int wants_arguments_later(const struct tracso_capture_rule* rule) {
  for (int i = 0; i < tracso_argument_registers; ++i) {
    if ((rule->argument[i] & tracso_capture_after) != 0) {
      return 1;
    }
  }
  for (uint32_t i = 0; i < nodes_of(rule); ++i) {
    if ((rule->node[i].kind & tracso_capture_after) != 0) {
      return 1;
    }
  }
  return 0;
}

// The arguments of calls under way, innermost last. What lies at or below the new place has been
// left by longjmp; where stacks are switched that drops a live one, whose buffers are not shown.
static void keep_arguments(struct tracso_ring* ring, uint64_t place, const uint64_t* integer) {
  uint64_t count = ring->pending_count < tracso_most_pending ? ring->pending_count : 0;
  while (count > 0 && ring->pending[count - 1].place <= place) {
    --count;
  }
  ring->pending[count].place = place;
  memcpy(ring->pending[count].integer, integer, sizeof ring->pending[count].integer);
  ring->pending_count = count + 1;
}

static int kept_arguments(struct tracso_ring* ring, uint64_t place, uint64_t* integer) {
  uint64_t count =
      ring->pending_count <= tracso_most_pending ? ring->pending_count : tracso_most_pending;
  while (count > 0 && ring->pending[count - 1].place < place) {
    --count;
  }
  ring->pending_count = count;
  if (count == 0 || ring->pending[count - 1].place != place) {
    return 0;
  }
  memcpy(integer, ring->pending[count - 1].integer, sizeof ring->pending[count - 1].integer);
  ring->pending_count = count - 1;
  return 1;
}

// The same questions as ENTRY of enter_timed.S asks.
static int will_return_through_us(uint32_t slot, uint64_t place, uint64_t return_address) {
  enum { window_bits = 41, window = 0x3f, misaligned = 8 };
  return (region->slot[slot].flags & tracso_slot_counted) == 0 && (place & misaligned) != 0 &&
         place >> window_bits == window &&
         !(return_address >= (uint64_t)returns_start && return_address < (uint64_t)returns_end);
}

static struct tracso_ring* ring_of_this_thread(uint32_t slot) {
  if (alive->counting == 0 || alive->known == 0 || this_thread == 0) {
    if (!prepare_to_count()) {
      return 0;
    }
  }
  const int recorded = is_recording && rings != 0 && region->head.magic == TRACSO_REGION_MAGIC &&
                       (region->slot[slot].flags & tracso_slot_unwanted) == 0;
  return recorded ? &rings[this_thread - region->thread] : 0;
}

static uint64_t ticks_now(void) {
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
}

static void fill_words(struct tracso_call_words* words,
                       const struct tracso_capture_rule* rule,
                       const uint64_t* saved,
                       const uint64_t* floating) {
  words->integer[0] = saved[saved_rdi];
  words->integer[1] = saved[saved_rsi];
  words->integer[2] = saved[saved_rdx];
  words->integer[3] = saved[saved_rcx];
  words->integer[4] = saved[saved_r8];
  words->integer[5] = saved[saved_r9];
  memcpy(words->floating, floating, sizeof words->floating);
  words->return_address = saved[saved_place];
  words->stack_words = 0;
  if (rule != 0 && rule->stack != 0) {  // a coroutine's stack may end right here
    words->stack_words = read_memory(words->stack,
                                     (uint64_t)(saved + saved_place + 1),
                                     sizeof words->stack) /
                         sizeof(uint64_t);
  }
}

__attribute__((visibility("hidden"))) void record_call(uint32_t slot,
                                                       const uint64_t* saved,
                                                       const uint64_t* floating) {
  struct tracso_ring* ring = ring_of_this_thread(slot);
  const uint64_t place = (uint64_t)(saved + saved_place);
  if (ring == 0) {
    return;
  }
  if (!take_ring(ring, place)) {
    ++ring->lost;
    return;
  }
  const struct tracso_capture_rule* rule = capture_rules[slot];
  const int returns = will_return_through_us(slot, place, saved[saved_place]);
  struct writing writing;
  if (begin_event(&writing,
                  ring,
                  place,
                  ticks_now(),
                  slot,
                  returns ? tracso_event_call : tracso_event_only,
                  room_for(rule, 0))) {
    struct tracso_call_words* words = (void*)writing.at;
    writing.at += sizeof *words;
    fill_words(words, rule, saved, floating);
    if (rule != 0) {
      capture(&writing, rule, words, 0, 0);
    }
    if (rule != 0 && returns && wants_arguments_later(rule)) {
      keep_arguments(ring, place, words->integer);
    }
    end_event(&writing, ring);
  } else {
    ++ring->lost;
  }
  if (ring->writing == place) {
    __atomic_store_n(&ring->writing, 0, __ATOMIC_SEQ_CST);
  }
}

static int error_number(void) { return __errno_location != 0 ? *__errno_location() : 0; }

// At the return point: the place where the return address will be put back, rax, and xmm0.
__attribute__((visibility("hidden"))) void record_return(uint64_t place,
                                                         uint64_t result,
                                                         const uint64_t* floating) {
  enum { window_bits = 41, mirror_bit = 45 };
  const uint64_t ticks = ticks_now();
  const uint64_t* frame =
      (const uint64_t*)(((place & (((uint64_t)1 << window_bits) - 1)) << 1) +
                        ((uint64_t)1 << mirror_bit));  // mirror.inc
  const uint32_t slot = (uint32_t)frame[1];
  if (frame[2] < session_start) {
    return;
  }
  if ((region->slot[slot].flags & tracso_slot_lazy) != 0) {
    take_slot_back(slot);
  }
  struct tracso_ring* ring = ring_of_this_thread(slot);
  if (ring == 0) {
    return;
  }
  if (!take_ring(ring, place)) {
    ++ring->lost;
    return;
  }
  const struct tracso_capture_rule* rule = capture_rules[slot];
  struct writing writing;
  if (begin_event(&writing, ring, place, ticks, slot, tracso_event_return, room_for(rule, 1))) {
    struct tracso_return_words* words = (void*)writing.at;
    writing.at += sizeof *words;
    *words = (struct tracso_return_words){result, *floating, ticks - frame[2], error_number()};
    struct tracso_call_words call;
    if (rule != 0 && wants_arguments_later(rule) && kept_arguments(ring, place, call.integer)) {
      capture(&writing, rule, &call, 1, result);
    }
    if (rule != 0 && rule->result != 0) {
      capture_text(&writing, tracso_piece_result, result, ~(uint64_t)0);
    }
    end_event(&writing, ring);
  } else {
    ++ring->lost;
  }
  if (ring->writing == place) {
    __atomic_store_n(&ring->writing, 0, __ATOMIC_SEQ_CST);
  }
}
