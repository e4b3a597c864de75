// Code built with -fno-plt, and functions whose address is taken as well, use a GLOB_DAT slot: the
// same word is called through and read as a function pointer. Were it patched, the program would
// see another address than its libraries do (`free == get_free()` would fail). So the code is read
// once, and each instruction that refers to such a slot is one of
//
//   call *slot(%rip)   ff 15 disp32       a call
//   jmp *slot(%rip)    ff 25 disp32       a call, too: a PLT entry, or a tail call
//   anything else      .. modrm disp32    the address is taken
//
// Only calls: the slot is patched like any other. Both: the slot stays, and the calls are led to a
// cell of our own near the library, by rewriting their displacement. Only address taken: not traced,
// and said. Every byte is taken as a possible instruction; data in the code that looks like a
// reference to just such a slot (one chance in millions) would count as one.

#include <sys/mman.h>

#include "agent.h"
#include "system_calls.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

// Finds the import of a slot address in constant time: one number per word between the first and
// the last slot; 0: none, else index + 1.
struct slot_index {
  uint64_t start, bytes;  // of the slots' addresses
  uint32_t* number;
  uint64_t number_bytes;
};

static int make_index(struct slot_index* index, const struct import* imports, uint64_t count) {
  uint64_t start = ~(uint64_t)0;
  uint64_t end = 0;
  for (uint64_t i = 0; i < count; ++i) {
    start = imports[i].slot < start ? imports[i].slot : start;
    end = imports[i].slot + 8 > end ? imports[i].slot + 8 : end;
  }
  index->start = start;
  index->bytes = end - start;
  index->number_bytes = TRACSO_ROUND(index->bytes / 8 * sizeof(uint32_t));
  index->number = map_memory(0, index->number_bytes, 0);
  for (uint64_t i = 0; index->number != 0 && i < count; ++i) {
    index->number[(imports[i].slot - start) / 8] = (uint32_t)i + 1;
  }
  return index->number != 0;
}

typedef void visit(struct import* import, uint8_t* displacement);

static int is_call(const uint8_t* displacement) {
  return displacement[-2] == 0xff && (displacement[-1] == 0x15 || displacement[-1] == 0x25);
}

// The byte before a displacement from the instruction pointer is a modrm with mod 00, r/m 101.
enum { modrm_mask = 0xc7, modrm_relative = 0x05 };

// Whether one of eight bytes may be such a modrm. Looking at eight at once, for there are megabytes
// and one byte in 32 is: a byte that becomes 0 borrows from the bit above it.
static int has_modrm(const uint8_t* bytes) {
  const uint64_t each = 0x0101010101010101u;
  uint64_t word = 0;
  __builtin_memcpy(&word, bytes, sizeof word);
  word = (word & (each * modrm_mask)) ^ (each * modrm_relative);
  return ((word - each) & ~word & (each * 0x80)) != 0;
}

static void visit_at(const struct slot_index* index,
                     struct import* imports,
                     uint8_t* at,
                     visit* visitor) {
  if ((at[-1] & modrm_mask) != modrm_relative) {
    return;
  }
  int32_t displacement = 0;
  __builtin_memcpy(&displacement, at, sizeof displacement);
  const uint64_t offset = (uint64_t)(at + 4) + (uint64_t)(int64_t)displacement - index->start;
  if (offset < index->bytes && offset % 8 == 0 && index->number[offset / 8] != 0) {
    visitor(&imports[index->number[offset / 8] - 1], at);
  }
}

static void visit_segment(const struct slot_index* index,
                          struct import* imports,
                          uint8_t* code,
                          uint64_t bytes,
                          visit* visitor) {
  uint8_t* const end = code + bytes - 4;  // the last place of a displacement
  uint8_t* at = code + 2;
  while (at + 8 <= end) {
    if (has_modrm(at - 1)) {
      for (int i = 0; i < 8; ++i) {
        visit_at(index, imports, at + i, visitor);
      }
    }
    at += 8;
  }
  for (; at <= end; ++at) {
    visit_at(index, imports, at, visitor);
  }
}

static void visit_references(const struct image* image,
                             const struct slot_index* index,
                             struct import* imports,
                             visit* visitor) {
  for (int i = 0; i < image->header_count; ++i) {
    const ElfW(Phdr)* header = &image->headers[i];
    const int code = header->p_type == PT_LOAD && (header->p_flags & PF_X) != 0 &&
                     (header->p_flags & PF_R) != 0;
    if (code && header->p_filesz >= 8) {
      visit_segment(index,
                    imports,
                    (uint8_t*)(image->base + header->p_vaddr),
                    header->p_filesz,
                    visitor);
    }
  }
}

static void count_reference(struct import* import, uint8_t* displacement) {
  if (is_call(displacement)) {
    ++import->calls;
  } else {
    ++import->reads;
  }
}

// Rewrites four bytes of an instruction. The page is private to this process; it stays executable
// throughout, for a thread may be in it. Where others run already, they must see the old four or the
// new ones, and processors promise that only within an aligned word of eight.
static void redirect(struct import* import, uint8_t* displacement) {
  const int64_t distance = (int64_t)(import->cell - (uint64_t)(displacement + 4));
  if (import->cell == 0 || !is_call(displacement) || distance != (int32_t)distance) {
    return;
  }
  const int crosses_words = ((uint64_t)displacement & 7) > 4;
  if (crosses_words && is_attached()) {
    ++region->head.left_sites;
    return;
  }
  const uint64_t first = (uint64_t)displacement & ~(uint64_t)(TRACSO_PAGE - 1);
  const uint64_t end = TRACSO_ROUND((uint64_t)displacement + 4);
  if (is_error(call_3(SYS_mprotect,
                      (long)first,
                      (long)(end - first),
                      PROT_READ | PROT_WRITE | PROT_EXEC))) {
    return;
  }
  const int32_t changed = (int32_t)distance;
  __builtin_memcpy(displacement, &changed, sizeof changed);
  protect(first, end, PROT_READ | PROT_EXEC);
  ++region->head.redirected_sites;
}

// Memory that a 32-bit displacement from anywhere in the object reaches.
static uint64_t* memory_near(const struct tracso_object* object, uint64_t bytes) {
  const uint64_t step = 0x10000;
  const uint64_t farthest = 0x60000000;  // 1.5 GiB; displacements reach 2
  const uint64_t start = object->start & ~(uint64_t)(TRACSO_PAGE - 1);
  const uint64_t end = TRACSO_ROUND(object->end);
  for (uint64_t away = 0; away < farthest; away += step) {
    const uint64_t places[2] = {end + away, start - bytes - away};
    for (int i = 0; i < 2; ++i) {
      void* at = map_memory((void*)places[i], bytes, MAP_FIXED_NOREPLACE);
      if ((uint64_t)at == places[i]) {
        return at;
      }
      if (at != 0) {  // a kernel before 4.17 takes the address for a hint
        call_2(SYS_munmap, (long)at, (long)bytes);
      }
    }
  }
  return 0;
}

static void give_cells(const struct image* image, struct import* imports, uint64_t count) {
  uint64_t needed = 0;
  for (uint64_t i = 0; i < count; ++i) {
    needed += imports[i].calls != 0 && imports[i].reads != 0;
  }
  uint64_t* cell = needed == 0 ? 0
                               : memory_near(&region->object[image->object],
                                             TRACSO_ROUND(needed * sizeof(uint64_t)));
  for (uint64_t i = 0; cell != 0 && i < count; ++i) {
    if (imports[i].calls != 0 && imports[i].reads != 0) {
      *cell = imports[i].target;
      imports[i].cell = (uint64_t)cell++;
    }
  }
}

void classify_imports(const struct image* image, struct import* imports, uint64_t count) {
  struct slot_index index;
  if (count == 0 || !make_index(&index, imports, count)) {
    return;
  }
  visit_references(image, &index, imports, count_reference);
  give_cells(image, imports, count);
  for (uint64_t i = 0; i < count; ++i) {
    if (imports[i].cell != 0) {
      visit_references(image, &index, imports, redirect);
      break;
    }
  }
  call_2(SYS_munmap, (long)index.number, (long)index.number_bytes);
}
