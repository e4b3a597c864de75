// A lazily bound slot is filled by the loader at the first call, which would write over ours. So
// the function is looked up here, before anything runs, by the same rules: by name and version, in
// the order of the global scope. Where the loader's rules for this object differ, or the answer is
// in doubt, the slot stays lazy and rebinding.c takes it back after the loader has filled it.

#include "agent.h"

extern void* dlvsym(void*, const char*, const char*) __attribute__((weak));
extern void* dlsym(void*, const char*) __attribute__((weak));

// An unbound slot points into the object's own PLT, at "push $index" (behind endbr64 if built so).
int is_lazily_bound(const struct image* image, uint64_t content, uint64_t index) {
  enum { bytes_of_both = 9 };  // lld ends the code with the PLT: behind its last entry there is nothing
  const struct tracso_object* object = &region->object[image->object];
  if (content < object->code_start || content + bytes_of_both > object->code_end) {
    return 0;
  }
  const uint8_t* code = (const uint8_t*)content;
  if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa) {
    code += 4;
  }
  uint32_t pushed = 0;
  memcpy(&pushed, code + 1, sizeof pushed);
  return code[0] == 0x68 && pushed == index;
}

// The version a symbol asks for (.gnu.version and .gnu.version_r); 0: none.
static const char* wanted_version(const struct image* image, uint32_t symbol) {
  if (image->versions == 0 || image->needed_versions == 0) {
    return 0;
  }
  const uint16_t wanted = image->versions[symbol] & 0x7fff;
  const uint8_t* need_at = image->needed_versions;
  for (uint64_t i = 0; i < image->needed_version_count; ++i) {
    const ElfW(Verneed)* need = (const void*)need_at;
    const uint8_t* aux_at = need_at + need->vn_aux;
    for (uint32_t k = 0; k < need->vn_cnt; ++k) {
      const ElfW(Vernaux)* aux = (const void*)aux_at;
      if ((aux->vna_other & 0x7fff) == wanted) {
        return image->strings + aux->vna_name;
      }
      aux_at += aux->vna_next;
    }
    if (need->vn_next == 0) {
      break;
    }
    need_at += need->vn_next;
  }
  return 0;
}

static uint64_t look_up(void* scope, const char* name, const char* version) {
  if (version != 0) {
    return dlvsym != 0 ? (uint64_t)dlvsym(scope, name, version) : 0;
  }
  return dlsym != 0 ? (uint64_t)dlsym(scope, name) : 0;
}

uint64_t resolve_lazily_bound(const struct image* image, const ElfW(Rela) * relocation) {
  const uint32_t symbol = (uint32_t)ELF64_R_SYM(relocation->r_info);
  const char* name = image->strings + image->symbols[symbol].st_name;
  const char* version = wanted_version(image, symbol);
  if (image->symbolic) {
    return 0;  // it asks itself first; dlsym would not
  }
  uint64_t target = look_up(RTLD_DEFAULT, name, version);
  uint32_t object = object_at(target);
  // The program may answer with its own PLT entry, which stands for the function's address where
  // code is not position-independent. A call must not go there: the entry behind which this very
  // slot lies would lead to itself for ever.
  if (target != 0 && is_main_program(object)) {
    target = look_up(RTLD_NEXT, name, version);
    object = object_at(target);
  }
  const struct tracso_object* found = object == UINT32_MAX ? 0 : &region->object[object];
  // A reference without a version takes the oldest of a library that has versions; dlsym the newest.
  const int other_rule =
      version == 0 && found != 0 && (found->flags & tracso_object_versions) != 0;
  const int in_doubt = found == 0 || other_rule || is_main_program(object) ||
                       (found->flags & tracso_object_own) != 0;
  return in_doubt ? 0 : target;
}

// Where the program is not position-independent, a function's one address may be an entry of its
// PLT, and what libraries import is that. The program's own slot knows the function: a call that
// went through the entry would come by us twice, and the second time as the program's.
uint64_t behind_plt_entry(uint64_t target) {
  struct image program;
  if (!is_main_program(object_at(target)) || !read_symbols(&program, 0)) {
    return target;
  }
  for (uint64_t i = 0; i < program.jump_slot_count; ++i) {
    const ElfW(Rela)* relocation = &program.jump_slots[i];
    const ElfW(Sym)* symbol = &program.symbols[ELF64_R_SYM(relocation->r_info)];
    if (ELF64_R_TYPE(relocation->r_info) != R_X86_64_JUMP_SLOT ||
        symbol->st_shndx != SHN_UNDEF || symbol->st_value == 0 ||
        program.base + symbol->st_value != target) {
      continue;
    }
    const uint64_t content = content_of(&program, relocation);
    const uint64_t function = is_stub(content) ? target_of_stub(content) : content;
    return is_lazily_bound(&program, function, i) ? 0 : function;
  }
  return target;
}
