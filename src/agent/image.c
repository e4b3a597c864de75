// What the headers of a loaded object say, and whether the loader has done with it.

#include <sys/mman.h>

#include "agent.h"
#include "system_calls.h"

enum { DT_RELR_TAG = 36, DT_RELRSZ_TAG = 35 };  // not in every elf.h

static uint64_t with_bias(uint64_t value, uint64_t base) {
  // glibc adds the load bias to these entries in place, musl and the vdso do not.
  return value != 0 && value < base ? value + base : value;
}

static void read_dynamic(struct image* image, const ElfW(Dyn) * entry) {
  for (; entry->d_tag != DT_NULL; ++entry) {
    const uint64_t value = entry->d_un.d_val;
    const uint64_t address = with_bias(value, image->base);
    switch (entry->d_tag) {
      case DT_JMPREL: image->jump_slots = (const void*)address; break;
      case DT_PLTRELSZ: image->jump_slot_count = value / sizeof(ElfW(Rela)); break;
      case DT_RELA: image->relocations = (const void*)address; break;
      case DT_RELASZ: image->relocation_count = value / sizeof(ElfW(Rela)); break;
      case DT_RELR_TAG: image->packed = (const void*)address; break;
      case DT_RELRSZ_TAG: image->packed_words = value / sizeof(uint64_t); break;
      case DT_GNU_HASH: image->gnu_hash = (const void*)address; break;
      case DT_HASH: image->hash = (const void*)address; break;
      case DT_SYMTAB: image->symbols = (const void*)address; break;
      case DT_STRTAB: image->strings = (const void*)address; break;
      case DT_VERSYM: image->versions = (const void*)address; break;
      case DT_VERNEED: image->needed_versions = (const void*)address; break;
      case DT_VERNEEDNUM: image->needed_version_count = value; break;
      case DT_SYMBOLIC: image->symbolic = 1; break;
      case DT_FLAGS: image->symbolic |= (value & DF_SYMBOLIC) != 0; break;
      default: break;
    }
  }
}

int read_symbols(struct image* image, uint32_t object) {
  const struct tracso_object* from = &region->object[object];
  memset(image, 0, sizeof *image);
  image->object = object;
  image->base = from->base;
  if (from->dynamic != 0) {
    read_dynamic(image, (const void*)from->dynamic);
  }
  return image->symbols != 0 && image->strings != 0;
}

int read_image(struct image* image, uint32_t object, const struct dl_phdr_info* info) {
  memset(image, 0, sizeof *image);
  image->object = object;
  image->base = info->dlpi_addr;
  image->headers = info->dlpi_phdr;
  image->header_count = info->dlpi_phnum;
  const ElfW(Dyn)* dynamic = 0;
  for (int i = 0; i < image->header_count; ++i) {
    const ElfW(Phdr)* header = &image->headers[i];
    const uint64_t start = image->base + header->p_vaddr;
    if (header->p_type == PT_DYNAMIC) {
      dynamic = (const void*)start;
    } else if (header->p_type == PT_GNU_RELRO) {  // as the loader rounds it
      image->relro_start = start & ~(uint64_t)(TRACSO_PAGE - 1);
      image->relro_end = (start + header->p_memsz) & ~(uint64_t)(TRACSO_PAGE - 1);
    }
  }
  if (dynamic == 0) {
    return 0;
  }
  read_dynamic(image, dynamic);
  return image->symbols != 0 && image->strings != 0;
}

const char* symbol_name(const struct image* image, const ElfW(Rela) * relocation) {
  return image->strings + image->symbols[ELF64_R_SYM(relocation->r_info)].st_name;
}

uint64_t content_of(const struct image* image, const ElfW(Rela) * relocation) {
  return *(volatile uint64_t*)(image->base + relocation->r_offset);
}

// Whether a page can be written, without changing it: the kernel adds 0 to a word in it, atomically,
// and says EFAULT where it may not (futex(2), FUTEX_WAKE_OP that wakes nobody).
static int is_writable(uint64_t page) {
  enum { wake_op_private = 5 | 128, error_fault = 14, add_nothing = 1 << 28 };
  static uint32_t nobody_waits_here;
  return system_call(SYS_futex,
                     (long)&nobody_waits_here,
                     wake_op_private,
                     0,
                     0,
                     (long)page,
                     add_nothing) != -error_fault;
}

// Another thread's dlopen may have mapped an object and be about to relocate it. Were it patched now,
// the loader would write over our stubs, add the load bias to them (lazy slots), or find the page
// that it writes read-only. It makes the RELRO pages read-only as its last step; without such pages
// the last lazy slot tells, which has no load bias before.
int is_relocated(const struct image* image) {
  if (image->relro_end > image->relro_start) {
    return !is_writable(image->relro_start);
  }
  uint64_t i = image->jump_slot_count;
  while (i > 0 && ELF64_R_TYPE(image->jump_slots[i - 1].r_info) != R_X86_64_JUMP_SLOT) {
    --i;
  }
  if (i == 0 || image->base == 0) {
    return 1;
  }
  const struct tracso_object* object = &region->object[image->object];
  const uint64_t content = content_of(image, &image->jump_slots[i - 1]);
  return content == 0 || content >= image->base || content >= object->end - object->start;
}
