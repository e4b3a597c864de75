// Functions that a program looks up by name: what dlsym gives is no word of a GOT, and the program
// keeps it where it likes. So it is given a stub that leads there, made like those of slots, and
// calls through it are seen as calls of the object that has asked.
//
// A function must have one address only, for addresses are compared (`xDel == sqlite3_free`). The
// real one may be known elsewhere: then it stays the answer, and that is counted. It is known
//
//   in other objects   through a word that the loader has filled with it (GLOB_DAT, R_X86_64_64)
//   in its own object  through a table of pointers (RELATIVE, DT_RELR), or by "lea function(%rip)"
//                      in the code: which is read once for all functions of the object
//
// The same question later has the same answer, whoever asks. What comes after the answer, as a
// library that is loaded later and imports the address, is not foreseen. Look-ups with RTLD_DEFAULT
// and RTLD_NEXT depend on who calls dlsym, by its return address, which may have to stay (lookups.c):
// then their results do not come by us. Data is given as it is: only what a symbol calls a function
// gets a stub, for data may lie between code.

#include <sys/mman.h>

#include "agent.h"
#include "system_calls.h"

extern int dl_iterate_phdr(int (*)(struct dl_phdr_info*, size_t, void*), void*)
    __attribute__((weak));

enum {
  most_answers = 8192,       // a power of two
  stubs_of_a_page = 32,
  most_code = 64 << 20,      // bytes: more is not read
  modrm_mask = 0xc7,         // mod 00, r/m 101: a displacement from the instruction pointer
  modrm_relative = 0x05,
  opcode_lea = 0x8d,
};

// What was answered for a function: a stub, or itself.
static struct answer {
  uint64_t pointer;  // 0: free
  uint32_t slot;     // UINT32_MAX: itself
  uint32_t object;
  uint32_t counted;  // as one that does not lead through us
} answers[most_answers];
static uint32_t answer_count;

// Which addresses of an object's code are known somewhere: one bit for each.
static struct known {
  uint8_t* bits;
  uint64_t bytes;
  uint64_t loads;  // when it was made
  uint32_t object;
} known;

static uint32_t next_slot, end_slot;  // of a page of stubs

void count_left_pointer(void) {
  __atomic_fetch_add(&region->head.pointers_left, 1, __ATOMIC_RELAXED);
}

static struct answer* find_answer(uint64_t pointer) {
  uint32_t at = (uint32_t)((pointer * 0x9E3779B97F4A7C15u) >> 40) % most_answers;
  while (answers[at].pointer != 0 && answers[at].pointer != pointer) {
    at = (at + 1) % most_answers;
  }
  return &answers[at];
}

static void mark(uint64_t address) {
  const struct tracso_object* object = &region->object[known.object];
  if (address >= object->code_start && address < object->code_end) {
    const uint64_t bit = address - object->code_start;
    known.bits[bit / 8] |= (uint8_t)(1 << bit % 8);
  }
}

static int mark_relocations(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  (void)data;
  struct image image;
  if (!read_image(&image, 0, info)) {
    return 0;
  }
  for (uint64_t i = 0; i < image.relocation_count; ++i) {
    const uint64_t type = ELF64_R_TYPE(image.relocations[i].r_info);
    if (type == R_X86_64_GLOB_DAT || type == R_X86_64_64 || type == R_X86_64_RELATIVE) {
      mark(content_of(&image, &image.relocations[i]));
    }
  }
  // DT_RELR: an address, then bits for the 63 words behind it (the generic ABI).
  uint64_t at = 0;
  for (uint64_t i = 0; i < image.packed_words; ++i) {
    const uint64_t entry = image.packed[i];
    if ((entry & 1) == 0) {
      at = image.base + entry;
      mark(*(volatile uint64_t*)at);
      at += 8;
      continue;
    }
    for (uint64_t bit = 0; bit < 63; ++bit) {
      if ((entry >> (bit + 1) & 1) != 0) {
        mark(*(volatile uint64_t*)(at + 8 * bit));
      }
    }
    at += 63 * 8;
  }
  return 0;
}

static void mark_code(uint8_t* code, uint64_t bytes) {
  for (uint64_t i = 2; i + 4 <= bytes; ++i) {
    if (code[i - 2] == opcode_lea && (code[i - 1] & modrm_mask) == modrm_relative) {
      int32_t displacement = 0;
      __builtin_memcpy(&displacement, code + i, sizeof displacement);
      mark((uint64_t)(code + i + 4) + (uint64_t)(int64_t)displacement);
    }
  }
}

static int mark_own_code(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  (void)data;
  if (info->dlpi_addr != region->object[known.object].base) {
    return 0;
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    if (header->p_type == PT_LOAD && (header->p_flags & PF_X) != 0 &&
        (header->p_flags & PF_R) != 0) {
      mark_code((uint8_t*)(info->dlpi_addr + header->p_vaddr), header->p_filesz);
    }
  }
  return 1;
}

// 0: it cannot be known, or there is no memory for it.
static int learn_known(uint32_t object) {
  const struct tracso_object* code = &region->object[object];
  if (known.bits != 0 && known.object == object && known.loads == loads_so_far()) {
    return 1;
  }
  if (known.bits != 0) {
    call_2(SYS_munmap, (long)known.bits, (long)known.bytes);
    known.bits = 0;
  }
  // Code that is not position-independent has addresses in its instructions in other ways.
  if (code->base == 0 || code->code_end - code->code_start > most_code || dl_iterate_phdr == 0) {
    return 0;
  }
  known.bytes = TRACSO_ROUND((code->code_end - code->code_start) / 8 + 1);
  known.bits = map_memory(0, known.bytes, MAP_NORESERVE);
  known.object = object;
  known.loads = loads_so_far();
  if (known.bits != 0) {
    dl_iterate_phdr(mark_relocations, 0);
    dl_iterate_phdr(mark_own_code, 0);
  }
  return known.bits != 0;
}

static int is_known_elsewhere(uint64_t pointer, uint32_t object) {
  if (!learn_known(object)) {
    return 1;
  }
  const uint64_t bit = pointer - region->object[object].code_start;
  return known.bits[bit / 8] >> bit % 8 & 1;
}

// Stubs are made a page at once: none is written while others of its page may run.
static int take_slot(uint32_t* number) {
  if (next_slot == end_slot) {
    const uint32_t first =
        (region->head.slots + stubs_of_a_page - 1) / stubs_of_a_page * stubs_of_a_page;
    const uint32_t end = first + stubs_of_a_page;
    if (end + stubs_of_a_page >= TRACSO_MOST_SLOTS ||
        !make_room_for_stubs(first, stubs_of_a_page)) {
      return 0;
    }
    for (uint32_t i = first; i < end; ++i) {
      memset(&region->slot[i], 0, sizeof region->slot[i]);
      region->slot[i].flags = tracso_slot_off;
      region->slot[i].callee = UINT32_MAX;  // a reader sees that it is not described yet
      write_stub(i);
    }
    seal_stubs(first, stubs_of_a_page);
    region->head.slots = end;
    next_slot = first;
    end_slot = end;
  }
  *number = next_slot++;
  return 1;
}

// UINT32_MAX: it stays what it is.
static uint32_t make_stub(uint64_t pointer, uint32_t asker, uint32_t object, const char* name) {
  const int inside = asker == object && (setup->flags & tracso_intra) == 0;
  const int wanted = is_selected(name, asker, object) || loads_objects(name) ||
                     locks_memory(name);
  uint32_t number = UINT32_MAX;
  if (inside || !wanted || is_known_elsewhere(pointer, object) || !take_slot(&number)) {
    return UINT32_MAX;
  }
  region->slot[number] =
      (struct tracso_slot){0, pointer, asker, UINT32_MAX, keep_name(name), 0};
  // Who finds a callee finds the rest.
  __atomic_store_n(&region->slot[number].callee, object, __ATOMIC_RELEASE);
  if (!decide(number)) {
    targets[number] = pointer;
    handlers[number] = pointer;
    return UINT32_MAX;
  }
  return number;
}

static int is_asked_for(uint32_t asker, uint32_t object, const char* name) {
  return (asker != object || (setup->flags & tracso_intra) != 0) &&
         is_selected(name, asker, object);
}

static uint64_t answer_of(const struct answer* known_answer) {
  return known_answer->slot == UINT32_MAX ? known_answer->pointer
                                          : stub_address(known_answer->slot);
}

static uint64_t answer_locked(uint64_t pointer,
                              uint32_t asker,
                              uint32_t object,
                              const char* name) {
  if (!is_function(object, name, pointer)) {
    return pointer;
  }
  struct answer* found = find_answer(pointer);
  const int is_new = found->pointer == 0 || found->object != object;
  if (is_new) {
    if (found->pointer == 0 && answer_count >= most_answers / 2) {
      count_left_pointer();
      return pointer;
    }
    answer_count += found->pointer == 0;
    *found = (struct answer){pointer, make_stub(pointer, asker, object, name), object, 0};
  }
  if (found->slot != UINT32_MAX) {
    __atomic_fetch_add(&region->head.pointers, 1, __ATOMIC_RELAXED);
  } else if (found->counted == 0 && is_asked_for(asker, object, name)) {
    found->counted = 1;  // functions are counted, not questions
    count_left_pointer();
  }
  return answer_of(found);
}

__attribute__((visibility("hidden"))) uint64_t answer(uint64_t pointer,
                                                      uint32_t slot,
                                                      const char* name) {
  enum { patience = 2000 };
  const uint32_t object = pointer == 0 || name == 0 ? UINT32_MAX : object_at(pointer);
  if (object == UINT32_MAX || !is_active() ||
      (region->object[object].flags & tracso_object_own) != 0 ||
      pointer < region->object[object].code_start || pointer >= region->object[object].code_end) {
    return pointer;
  }
  // A signal handler that has interrupted the one who looks waits in vain, and gives up.
  for (int i = 0; i < patience; ++i) {
    if (may_look()) {
      const uint64_t given = answer_locked(pointer, region->slot[slot].caller, object, name);
      end_of_look();
      return given;
    }
    call_1(SYS_sched_yield, 0);
  }
  count_left_pointer();
  return pointer;
}
