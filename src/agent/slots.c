// Which words of an object's GOT become ours, and in which order: stubs first, complete and
// executable, then the words that lead to them, so that a thread that calls meanwhile goes either
// the old way or the new one.

#include <sys/mman.h>

#include "agent.h"
#include "system_calls.h"

static int must_be_seen(const char* name) {
  return loads_objects(name) || locks_memory(name) ||
         ((setup->flags & tracso_follow) != 0 && starts_program(name) != 0);
}

static void choose_handler(uint32_t number, const char* name, int lazy) {
  struct tracso_slot* slot = &region->slot[number];
  const int never_timed = (setup->flags & tracso_count_only) != 0 || region->head.no_mirror != 0 ||
                          must_not_be_timed(name);
  const int recorded =
      is_recording && (slot->flags & tracso_slot_unwanted) == 0;
  if (loads_objects(name) || locks_memory(name)) {
    // A process that is attached to is to be given back as it was: what it has looked up and kept
    // somewhere could not be taken back.
    const int asks = looks_up(name) && region->head.no_mirror == 0 && !is_attached();
    slot->flags |= tracso_slot_loads | tracso_slot_counted;
    handlers[number] = asks ? (uint64_t)(recorded ? enter_recorded_asking : enter_asking)
                            : (uint64_t)(recorded ? enter_recorded_loading : enter_loading);
  } else if (must_be_seen(name)) {
    const int only_counted = never_timed || (slot->flags & tracso_slot_unwanted) != 0;
    slot->flags |= tracso_slot_starts | (only_counted ? (uint32_t)tracso_slot_counted : 0);
    handlers[number] = recorded ? (uint64_t)(never_timed ? enter_starting_recorded_only
                                                         : enter_starting_recorded)
                                : (uint64_t)(only_counted ? enter_starting_counted
                                                          : enter_starting_timed);
  } else if (recorded) {
    slot->flags |= never_timed ? tracso_slot_counted : 0;
    handlers[number] = (uint64_t)(never_timed ? enter_recorded_only : enter_recorded);
  } else {
    slot->flags |= never_timed ? tracso_slot_counted : 0;
    handlers[number] =
        lazy && region->head.no_mirror == 0 && !must_not_be_timed(name) ? (uint64_t)enter_lazy
                                                                   : (uint64_t)enter_timed;
  }
}

int decide(uint32_t number) {
  struct tracso_slot* slot = &region->slot[number];
  struct tracso_object* object = &region->object[slot->caller];
  const char* name = region->name + slot->name;
  const int lazy = (slot->flags & tracso_slot_lazy) != 0;
  slot->flags &= (uint32_t)(tracso_slot_lazy | tracso_slot_glob_dat);
  uint64_t target = slot->target;
  if ((slot->flags & tracso_slot_glob_dat) != 0) {
    target = behind_plt_entry(target);
    slot->callee = object_at(target);
    if (slot->callee == UINT32_MAX) {  // these calls are seen where the program passes them on
      slot->flags |= tracso_slot_off;
      return 0;
    }
  }
  if (slot->callee == slot->caller && (setup->flags & tracso_intra) == 0) {
    ++object->intra;
    slot->flags |= tracso_slot_off;
    return 0;
  }
  const int selected = is_selected(name, slot->caller, slot->callee);
  if (!selected && !must_be_seen(name)) {
    ++object->filtered;
    slot->flags |= tracso_slot_off;
    return 0;
  }
  slot->flags |= selected ? 0 : (uint32_t)tracso_slot_unwanted;
  targets[number] = target;
  error_rules[number] = error_rule_of(name);
  if (is_recording) {
    capture_rules[number] = capture_rule_of(name);
  }
  choose_handler(number, name, lazy);
  return 1;
}

// One more slot to patch. Where nobody asked for it there is none, unless a process is attached to:
// there the next who attaches may ask for others. `word` is what will lead to the stub.
static uint32_t add_slot(const struct image* image,
                         uint32_t number,
                         const ElfW(Rela) * relocation,
                         uint64_t word,
                         uint64_t target,
                         uint32_t flags) {
  struct tracso_object* object = &region->object[image->object];
  const int lazy = (flags & tracso_slot_lazy) != 0;
  const uint32_t callee = lazy ? UINT32_MAX : object_at(target);
  if (!lazy && callee == UINT32_MAX) {
    ++object->unresolved;
    return number;
  }
  const uint32_t names = region->head.names;
  region->slot[number] = (struct tracso_slot){
      word, target, image->object, callee, keep_name(symbol_name(image, relocation)), flags};
  if (!decide(number) && !is_attached()) {
    region->head.names = names;
    object->flags |= tracso_object_partial;
    return number;
  }
  write_stub(number);
  return number + 1;
}

static uint32_t add_jump_slots(const struct image* image, uint32_t number, int at_start) {
  for (uint64_t i = 0; i < image->jump_slot_count; ++i) {
    const ElfW(Rela)* relocation = &image->jump_slots[i];
    const uint64_t content = content_of(image, relocation);
    if (ELF64_R_TYPE(relocation->r_info) != R_X86_64_JUMP_SLOT || content == 0) {
      continue;
    }
    uint64_t target = content;
    int lazy = is_lazily_bound(image, content, i);
    if (lazy && at_start) {
      const uint64_t found = resolve_lazily_bound(image, relocation);
      target = found != 0 ? found : content;
      lazy = found == 0;
    }
    const uint32_t flags = lazy ? (uint32_t)tracso_slot_lazy : 0;
    number = add_slot(
        image, number, relocation, image->base + relocation->r_offset, target, flags);
  }
  return number;
}

static int is_function_import(const struct image* image, const ElfW(Rela) * relocation) {
  if (ELF64_R_TYPE(relocation->r_info) != R_X86_64_GLOB_DAT) {
    return 0;
  }
  const int type = ELF64_ST_TYPE(image->symbols[ELF64_R_SYM(relocation->r_info)].st_info);
  const uint64_t content = content_of(image, relocation);
  const uint32_t callee = type == STT_OBJECT || type == STT_TLS ? UINT32_MAX : object_at(content);
  return callee != UINT32_MAX && content >= region->object[callee].code_start &&
         content < region->object[callee].code_end;
}

static uint64_t find_imports(const struct image* image, struct import* imports) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < image->relocation_count; ++i) {
    const ElfW(Rela)* relocation = &image->relocations[i];
    if (is_function_import(image, relocation)) {
      if (imports != 0) {
        imports[count] = (struct import){image->base + relocation->r_offset,
                                         content_of(image, relocation),
                                         (uint32_t)i,
                                         0,
                                         0,
                                         0};
      }
      ++count;
    }
  }
  return count;
}

static uint32_t add_imports(const struct image* image,
                            uint32_t number,
                            const struct import* imports,
                            uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    const struct import* import = &imports[i];
    const int only_calls = import->calls != 0 && import->reads == 0;
    if (!only_calls && import->cell == 0) {
      ++region->object[image->object].address_taken;
      continue;
    }
    number = add_slot(image,
                      number,
                      &image->relocations[import->relocation],
                      only_calls ? import->slot : import->cell,
                      import->target,
                      tracso_slot_glob_dat);
  }
  return number;
}

static uint64_t content_of_slot(uint32_t number) {
  return *(volatile uint64_t*)region->slot[number].address;
}

static void set_slot(uint32_t number, uint64_t content) {
  *(volatile uint64_t*)region->slot[number].address = content;
}

// A word of the GOT can be written while this lasts; cells of our own (call_sites.c) always.
static void open_slots(const struct image* image) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  protect(image->relro_start, image->relro_end, PROT_READ | PROT_WRITE);
}

static void close_slots(const struct image* image) {
  protect(image->relro_start, image->relro_end, PROT_READ);
}

static void publish(const struct image* image, uint32_t first, uint32_t end) {
  open_slots(image);
  for (uint32_t i = first; i < end; ++i) {
    if ((region->slot[i].flags & tracso_slot_off) == 0) {
      set_slot(i, stub_address(i));
    }
  }
  close_slots(image);
}

static int is_in_object(const struct image* image, uint64_t address) {
  const struct tracso_object* object = &region->object[image->object];
  return address >= object->start && address < object->end;
}

// The loader may have bound it meanwhile, or it is another load of the same file.
static void learn_content(const struct image* image, uint32_t number, uint64_t relocation) {
  struct tracso_slot* slot = &region->slot[number];
  const uint64_t content = content_of_slot(number);
  if (is_stub(content)) {
    return;
  }
  const int lazy = (slot->flags & tracso_slot_glob_dat) == 0 &&
                   is_lazily_bound(image, content, relocation);
  slot->target = content;
  slot->callee = lazy ? UINT32_MAX : object_at(content);
  slot->flags &= ~(uint32_t)tracso_slot_lazy;
  slot->flags |= lazy ? (uint32_t)tracso_slot_lazy : 0;
}

// The next slot from `slot` on that these relocations do not explain; what they explain is read
// again if that is wanted.
static uint32_t follow_slots(const struct image* image,
                             uint32_t slot,
                             const ElfW(Rela) * relocation,
                             uint64_t count,
                             int learn) {
  const struct tracso_object* object = &region->object[image->object];
  for (uint64_t i = 0; i < count && slot < object->end_slot; ++i) {
    while (slot < object->end_slot && !is_in_object(image, region->slot[slot].address)) {
      ++slot;  // a cell of our own
    }
    if (slot < object->end_slot &&
        region->slot[slot].address == image->base + relocation[i].r_offset &&
        same_text(region->name + region->slot[slot].name, symbol_name(image, &relocation[i]))) {
      if (learn) {
        learn_content(image, slot, i);
      }
      ++slot;
    }
  }
  return slot;
}

static uint32_t follow_all_slots(const struct image* image, int learn) {
  const struct tracso_object* object = &region->object[image->object];
  uint32_t slot = follow_slots(
      image, object->first_slot, image->jump_slots, image->jump_slot_count, learn);
  slot = follow_slots(image, slot, image->relocations, image->relocation_count, learn);
  while (slot < object->end_slot && !is_in_object(image, region->slot[slot].address)) {
    ++slot;
  }
  return slot;
}

int still_fits(const struct image* image) {
  return follow_all_slots(image, 0) == region->object[image->object].end_slot;
}

int has_cells(const struct image* image) {
  const struct tracso_object* object = &region->object[image->object];
  for (uint32_t i = object->first_slot; i < object->end_slot; ++i) {
    if (!is_in_object(image, region->slot[i].address)) {
      return 1;
    }
  }
  return 0;
}

// What a slot held before us, or what the loader has bound it to meanwhile. Those that lock memory
// stay ours: what we have mapped stays, too.
void restore_object(struct image* image) {
  const struct tracso_object* object = &region->object[image->object];
  open_slots(image);
  for (uint32_t i = object->first_slot; i < object->end_slot; ++i) {
    const int stays = locks_memory(region->name + region->slot[i].name);
    if (is_stub(content_of_slot(i)) && !stays) {
      set_slot(i, region->slot[i].target);
    }
  }
  close_slots(image);
}

// The stubs are there; where they lead is decided anew, for somebody else asks, or it is another
// load of the same file.
int patch_object_again(struct image* image) {
  struct tracso_object* object = &region->object[image->object];
  if (!is_relocated(image)) {
    return 0;
  }
  object->filtered = object->intra = 0;
  follow_all_slots(image, 1);
  for (uint32_t i = object->first_slot; i < object->end_slot; ++i) {
    decide(i);
  }
  publish(image, object->first_slot, object->end_slot);
  return 1;
}

static int is_asked_for(const struct image* image, const ElfW(Rela) * relocation, uint64_t target) {
  const uint32_t callee = object_at(target);
  const int inside = callee == image->object && (setup->flags & tracso_intra) == 0;
  return !inside && is_selected(symbol_name(image, relocation), image->object, callee);
}

// Functions that would have been traced. An unbound slot leads into its own object; where to is not
// known yet.
static uint32_t count_asked_for(const struct image* image,
                                const struct import* imports,
                                uint64_t count) {
  uint32_t asked_for = 0;
  for (uint64_t i = 0; i < image->jump_slot_count; ++i) {
    const ElfW(Rela)* relocation = &image->jump_slots[i];
    const uint64_t content = content_of(image, relocation);
    if (ELF64_R_TYPE(relocation->r_info) == R_X86_64_JUMP_SLOT && content != 0) {
      asked_for += is_lazily_bound(image, content, i)
                       ? is_selected(symbol_name(image, relocation), image->object, UINT32_MAX)
                       : is_asked_for(image, relocation, content);
    }
  }
  for (uint64_t i = 0; i < count; ++i) {
    asked_for += is_asked_for(
        image, &image->relocations[imports[i].relocation], imports[i].target);
  }
  return asked_for;
}

int patch_object(struct image* image, int at_start) {
  enum { stubs_of_a_page = 32 };
  if (!at_start && !is_relocated(image)) {
    return 0;
  }
  struct tracso_object* object = &region->object[image->object];
  const uint64_t count = find_imports(image, 0);
  const uint64_t import_bytes = TRACSO_ROUND(count * sizeof(struct import));
  struct import* imports = count == 0 ? 0 : map_memory(0, import_bytes, 0);
  const uint64_t usable = imports == 0 ? 0 : find_imports(image, imports);
  const uint32_t first =
      (region->head.slots + stubs_of_a_page - 1) / stubs_of_a_page * stubs_of_a_page;
  const uint64_t most = image->jump_slot_count + usable;
  if (first + most + stubs_of_a_page >= TRACSO_MOST_SLOTS ||
      !make_room_for_stubs(first, (uint32_t)most)) {
    object->full = count_asked_for(image, imports, usable);
  } else {
    classify_imports(image, imports, usable);
    uint32_t end = add_jump_slots(image, first, at_start);
    end = add_imports(image, end, imports, usable);
    seal_stubs(first, (uint32_t)most);
    object->first_slot = first;
    object->end_slot = end;
    region->head.slots = end;
    publish(image, first, end);
  }
  if (imports != 0) {
    call_2(SYS_munmap, (long)imports, (long)import_bytes);
  }
  return 1;
}
