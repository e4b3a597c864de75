// What a patched slot points to: a few instructions, made for that slot. Two entries of 64 bytes:
//
//   timed    endbr64; mov $slot,%r11d; jmp *handlers[slot]
//   counted  endbr64; cmpl $0,alive; je slow
//            mov %fs:this_thread,%r11; test %r11,%r11; je slow
//            incq stat[slot].calls(%r11); jmp *targets[slot]
//      slow: mov $slot,%r11d; jmp *targets[last]
//
// A call clobbers r11 and the flags by convention (the PLT itself uses r11), and these touch nothing
// else. endbr64 because an indirect jump leads here (CET). The handler is data, so a slot changes
// what it does without code being rewritten while others run it.

#include <sys/mman.h>

#include "agent.h"
#include "system_calls.h"

enum { stub_bytes = 128, counted_at = 64 };

uint64_t* targets;
uint64_t* handlers;
uint8_t* error_rules;
struct alive_page* alive;
static uint8_t* stubs;

// The alive page, both tables and all stubs lie in one mapping, so that 32-bit displacements reach.
int map_stubs(void) {
  const uint64_t table_bytes = TRACSO_MOST_SLOTS * sizeof(uint64_t);
  const uint64_t bytes = TRACSO_PAGE + 2 * table_bytes + TRACSO_MOST_SLOTS +
                         (uint64_t)TRACSO_MOST_SLOTS * stub_bytes;
  uint8_t* at = map_memory(0, bytes, MAP_NORESERVE);
  if (at == 0) {
    return 0;
  }
  alive = (struct alive_page*)at;
  call_3(SYS_madvise, (long)at, TRACSO_PAGE, MADV_WIPEONFORK);
  targets = (uint64_t*)(at + TRACSO_PAGE);
  handlers = targets + TRACSO_MOST_SLOTS;
  error_rules = (uint8_t*)(handlers + TRACSO_MOST_SLOTS);
  stubs = error_rules + TRACSO_MOST_SLOTS;
  targets[TRACSO_MOST_SLOTS - 1] = (uint64_t)enter_counted;  // the last slot is never used
  return 1;
}

static void put_32(uint8_t** at, uint32_t value) {
  memcpy(*at, &value, sizeof value);
  *at += sizeof value;
}

static void put_bytes(uint8_t** at, const char* bytes, size_t count) {
  memcpy(*at, bytes, count);
  *at += count;
}

#define PUT(at, text) put_bytes(at, text, sizeof(text) - 1)
#define ENDBR64 "\xf3\x0f\x1e\xfa"

// The displacement of an instruction that ends `after` bytes behind the four of the displacement.
static void put_displacement(uint8_t** at, const void* to, int after) {
  put_32(at, (uint32_t)((const uint8_t*)to - (*at + 4 + after)));
}

static void put_slot_number(uint8_t** at, uint32_t slot) {
  PUT(at, "\x41\xbb");  // mov $slot,%r11d
  put_32(at, slot);
}

static void put_jump_through(uint8_t** at, const uint64_t* word) {
  PUT(at, "\xff\x25");  // jmp *word(%rip)
  put_displacement(at, word, 0);
}

static uint32_t thread_pointer_offset(void) {
  uint64_t thread_pointer = 0;
  __asm__("mov %%fs:0,%0" : "=r"(thread_pointer));
  return (uint32_t)((uint64_t)&this_thread - thread_pointer);
}

static void write_counted(uint8_t* at, uint32_t slot) {
  PUT(&at, ENDBR64);
  PUT(&at, "\x83\x3d");  // cmpl $0,alive->counting(%rip)
  put_displacement(&at, &alive->counting, 1);
  PUT(&at, "\x00\x74");  // je slow
  uint8_t* first_jump = at++;
  PUT(&at, "\x64\x4c\x8b\x1c\x25");  // mov %fs:this_thread,%r11
  put_32(&at, thread_pointer_offset());
  PUT(&at, "\x4d\x85\xdb\x74");  // test %r11,%r11; je slow
  uint8_t* second_jump = at++;
  PUT(&at, "\x49\xff\x83");  // incq stat[slot].calls(%r11): one instruction, whole even if a signal
                             // handler counts the same function in between
  put_32(&at, TRACSO_THREAD_STATS + slot * (uint32_t)sizeof(struct tracso_stat));
  put_jump_through(&at, &targets[slot]);
  *first_jump = (uint8_t)(at - (first_jump + 1));
  *second_jump = (uint8_t)(at - (second_jump + 1));
  put_slot_number(&at, slot);
  put_jump_through(&at, &targets[TRACSO_MOST_SLOTS - 1]);
}

void write_stub(uint32_t slot) {
  uint8_t* start = stubs + (uint64_t)slot * stub_bytes;
  uint8_t* at = start;
  PUT(&at, ENDBR64);
  put_slot_number(&at, slot);
  put_jump_through(&at, &handlers[slot]);
  write_counted(start + counted_at, slot);
}

static uint64_t page_below(uint32_t slot) {
  return ((uint64_t)stubs + (uint64_t)slot * stub_bytes) & ~(uint64_t)(TRACSO_PAGE - 1);
}

static uint64_t page_above(uint32_t slot) {
  return page_below(slot) + (page_below(slot) == (uint64_t)stubs + (uint64_t)slot * stub_bytes
                                 ? 0
                                 : TRACSO_PAGE);
}

// New stubs begin on a page of their own (slots.c): pages that others run are never made writable.
int make_room_for_stubs(uint32_t first, uint32_t count) {
  const uint64_t start = page_below(first);
  const uint64_t end = page_above(first + count);
  return end <= start ||
         !is_error(call_3(SYS_mprotect, (long)start, (long)(end - start), PROT_READ | PROT_WRITE));
}

void seal_stubs(uint32_t first, uint32_t count) {
  protect(page_below(first), page_above(first + count), PROT_READ | PROT_EXEC);
}

// Where the slot of that number should point.
uint64_t stub_address(uint32_t slot) {
  const uint32_t flags = region->slot[slot].flags;
  const int only_counts = (flags & tracso_slot_counted) != 0 &&
                          (flags & (tracso_slot_loads | tracso_slot_starts)) == 0 &&
                          handlers[slot] != (uint64_t)enter_lazy &&
                          handlers[slot] != (uint64_t)enter_recorded_only;
  return (uint64_t)stubs + (uint64_t)slot * stub_bytes + (only_counts ? counted_at : 0);
}

uint64_t target_of_stub(uint64_t address) {
  return targets[(address - (uint64_t)stubs) / stub_bytes];
}

int is_stub(uint64_t address) {
  return address >= (uint64_t)stubs &&
         address < (uint64_t)stubs + (uint64_t)TRACSO_MOST_SLOTS * stub_bytes;
}
