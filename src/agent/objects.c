// The loaded objects, as dl_iterate_phdr(3) tells them: at the start, and again when a function
// that loads objects is called. What dlopen brings is so patched at the latest at the dlsym that
// follows, before the program can call into it; its constructors have run by then.

#include "agent.h"
#include "system_calls.h"

extern int dl_iterate_phdr(int (*)(struct dl_phdr_info*, size_t, void*), void*)
    __attribute__((weak));

struct walk {
  enum look when;
  uint64_t deadline;
  int is_cut;               // the deadline has come
  uint64_t loads, unloads;  // how many there have been in all
  uint32_t without_record;  // for which there is none left
};

static struct walk last = {look_at_start, 0, 0, ~(uint64_t)0, ~(uint64_t)0, 0};
static uint64_t unloads_when_given_back;

const char* last_name(const char* path) {
  const char* name = path;
  for (; *path != 0; ++path) {
    name = *path == '/' ? path + 1 : name;
  }
  return name;
}

const char* object_name(uint32_t object) { return region->name + region->object[object].name; }

// dl_iterate_phdr begins with the program.
int is_main_program(uint32_t object) { return object == 0; }

uint32_t object_at(uint64_t address) {
  for (uint32_t i = 0; i < region->head.objects; ++i) {
    const struct tracso_object* object = &region->object[i];
    if ((object->flags & tracso_object_gone) == 0 && address >= object->start &&
        address < object->end) {
      return i;
    }
  }
  return UINT32_MAX;
}

static void measure(struct tracso_object* object, const struct dl_phdr_info* info) {
  object->base = info->dlpi_addr;
  object->start = object->code_start = ~(uint64_t)0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    const uint64_t start = info->dlpi_addr + header->p_vaddr;
    const uint64_t end = start + header->p_memsz;
    if (header->p_type == PT_DYNAMIC) {
      object->dynamic = start;
    }
    if (header->p_type != PT_LOAD) {
      continue;
    }
    object->start = start < object->start ? start : object->start;
    object->end = end > object->end ? end : object->end;
    if ((header->p_flags & PF_X) != 0) {
      object->code_start = start < object->code_start ? start : object->code_start;
      object->code_end = end > object->code_end ? end : object->code_end;
    }
  }
}

static int defines_versions(const struct tracso_object* object) {
  if (object->dynamic == 0) {
    return 0;
  }
  for (const ElfW(Dyn)* entry = (const void*)object->dynamic; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_VERDEF) {
      return 1;
    }
  }
  return 0;
}

static int is_loader(const char* name) {
  return after_prefix(last_name(name), "ld-") != 0 || after_prefix(last_name(name), "ld.so") != 0 ||
         after_prefix(last_name(name), "ld64.") != 0;
}

static void add_object(const struct tracso_object* measured, const char* name, struct walk* walk) {
  if (region->head.objects >= tracso_most_objects || measured->end == 0) {
    walk->without_record += measured->end != 0;
    return;
  }
  const uint32_t index = region->head.objects;
  struct tracso_object* object = &region->object[index];
  *object = *measured;
  object->name = keep_name(name != 0 && *name != 0 ? name : index == 0 ? "" : "[vdso]");
  object->flags = tracso_object_seen | tracso_object_waiting;
  const uint64_t here = (uint64_t)&add_object;
  if (here >= object->start && here < object->end) {
    object->flags |= tracso_object_own;
  }
  object->flags |= defines_versions(object) ? tracso_object_versions : 0;
  object->flags |= is_loader(object_name(index)) ? tracso_object_loader : 0;
  region->head.objects = index + 1;
}

static int is_same_place(const struct tracso_object* object, const struct tracso_object* measured) {
  return object->base == measured->base && object->dynamic == measured->dynamic &&
         object->end == measured->end;
}

// By load address and dynamic section, for a name may be empty or used twice.
static uint32_t find_object(const struct tracso_object* measured) {
  for (uint32_t i = 0; i < region->head.objects; ++i) {
    const struct tracso_object* object = &region->object[i];
    if ((object->flags & tracso_object_gone) == 0 && is_same_place(object, measured)) {
      return i;
    }
  }
  return UINT32_MAX;
}

static int is_never_patched(uint32_t index) {
  return (region->object[index].flags & (tracso_object_own | tracso_object_loader)) != 0 ||
         same_text(object_name(index), "[vdso]") ||
         same_text(object_name(index), "linux-vdso.so.1");
}

// Its slots can be used again: a plugin that comes and goes mostly comes to the same place, and
// there are only so many slots. Code that was made to call through cells is as it was in the file
// again after another load: such objects get new slots.
static int can_be_used_again(uint32_t index, const struct dl_phdr_info* info, int same_load) {
  struct image image;
  return same_text(object_name(index), info->dlpi_name == 0 ? "" : info->dlpi_name) &&
         read_image(&image, index, info) && (same_load || !has_cells(&image)) && still_fits(&image);
}

// Unloaded and loaded again between two looks, at the same place: its GOT is fresh.
static int is_fresh(uint32_t index) {
  const struct tracso_object* object = &region->object[index];
  if (object->end_slot == object->first_slot || (object->flags & tracso_object_off) != 0) {
    return 0;
  }
  for (uint32_t i = object->first_slot; i < object->end_slot; ++i) {
    if (is_stub(*(volatile uint64_t*)region->slot[i].address)) {
      return 0;
    }
  }
  return 1;
}

static uint32_t find_former(const struct tracso_object* measured, const struct dl_phdr_info* info) {
  for (uint32_t i = region->head.objects; i > 0; --i) {
    const struct tracso_object* object = &region->object[i - 1];
    if ((object->flags & tracso_object_gone) != 0 && is_same_place(object, measured) &&
        can_be_used_again(i - 1, info, 0)) {
      return i - 1;
    }
  }
  return UINT32_MAX;
}

// It was not there, for who asks now.
void forget_object(struct tracso_object* object) {
  object->address_taken = object->unresolved = object->full = 0;
  object->filtered = object->intra = 0;
  if ((object->flags & tracso_object_partial) != 0) {
    object->end_slot = object->first_slot;  // of no use: others may be asked for
  }
}

// The record of an earlier load. Where that has no slots, because nobody asked or there was no room,
// it is looked at as if it were new.
static void take_again(struct tracso_object* object) {
  const int has_slots = object->end_slot != object->first_slot;
  object->flags &= ~(uint32_t)(tracso_object_gone | tracso_object_waiting);
  object->flags |= tracso_object_seen;
  if (has_slots) {
    object->flags |= tracso_object_off;
  } else {
    forget_object(object);
    object->flags |= tracso_object_waiting;
    object->flags &= ~(uint32_t)tracso_object_off;
  }
}

static int see(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct walk* walk = data;
  struct tracso_object measured;
  memset(&measured, 0, sizeof measured);
  measure(&measured, info);
  uint32_t index = find_object(&measured);
  if (index != UINT32_MAX) {
    struct tracso_object* object = &region->object[index];
    const int fresh = is_fresh(index);
    const int in_doubt = fresh || ((object->flags & tracso_object_off) != 0 &&
                                   last.unloads != unloads_when_given_back);
    const int partly = (object->flags & tracso_object_off) != 0 &&
                       (object->flags & tracso_object_partial) != 0;
    if (!partly &&
        (!in_doubt || is_never_patched(index) || can_be_used_again(index, info, !fresh))) {
      object->flags |= tracso_object_seen | (fresh ? (uint32_t)tracso_object_off : 0);
      return 0;
    }
    object->flags |= tracso_object_gone;
    if (partly) {
      forget_object(object);
    }
  }
  index = find_former(&measured, info);
  if (index != UINT32_MAX) {
    take_again(&region->object[index]);
  } else {
    add_object(&measured, info->dlpi_name, walk);
  }
  return 0;
}

static uint32_t object_of(const struct dl_phdr_info* info) {
  struct tracso_object measured;
  memset(&measured, 0, sizeof measured);
  measure(&measured, info);
  return find_object(&measured);
}

// Under the loader's lock, so that no object goes away meanwhile, and none is patched while all are
// given back.
static int patch(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct walk* walk = data;
  const uint32_t index = object_of(info);
  if (!is_active() || index == UINT32_MAX) {
    return 0;
  }
  struct tracso_object* object = &region->object[index];
  if ((object->flags & (tracso_object_waiting | tracso_object_off)) == 0) {
    take_slots_back(index);
    return 0;
  }
  if (walk->deadline != 0 && now_ns() > walk->deadline) {
    walk->is_cut = 1;
    return 1;
  }
  struct image image;
  const int is_readable = !is_never_patched(index) && read_image(&image, index, info);
  if ((object->flags & tracso_object_off) != 0) {
    if (!is_readable || patch_object_again(&image)) {
      object->flags &= ~(uint32_t)tracso_object_off;
    } else {
      last.loads = ~(uint64_t)0;
    }
  } else if (!is_readable || patch_object(&image, walk->when == look_at_start)) {
    object->flags &= ~(uint32_t)tracso_object_waiting;
  } else {
    last.loads = ~(uint64_t)0;  // not relocated yet: look again whatever the counters say
  }
  return 0;
}

static int restore(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  (void)data;
  const uint32_t index = object_of(info);
  struct image image;
  if (index != UINT32_MAX && (region->object[index].flags & tracso_object_waiting) == 0) {
    region->object[index].flags |= tracso_object_off;
    if (!is_never_patched(index) && read_image(&image, index, info)) {
      restore_object(&image);
    }
  }
  return 0;
}

static int read_counters(struct dl_phdr_info* info, size_t size, void* data) {
  struct walk* walk = data;
  if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs) {
    walk->loads = info->dlpi_adds;
    walk->unloads = info->dlpi_subs;
  }
  return 1;
}

int look_for_objects(enum look when, uint64_t deadline) {
  struct walk walk = {when, deadline, 0, 0, 0, 0};
  if (dl_iterate_phdr == 0) {
    return 1;
  }
  dl_iterate_phdr(read_counters, &walk);
  if (walk.loads != last.loads || walk.unloads != last.unloads) {
    last = walk;
    for (uint32_t i = 0; i < region->head.objects; ++i) {
      region->object[i].flags &= ~(uint32_t)tracso_object_seen;
    }
    dl_iterate_phdr(see, &walk);
    if (walk.without_record > region->head.objects_left) {
      region->head.objects_left = walk.without_record;
    }
    for (uint32_t i = 0; i < region->head.objects; ++i) {
      if ((region->object[i].flags & tracso_object_seen) == 0) {
        region->object[i].flags |= tracso_object_gone;
      }
    }
  }
  dl_iterate_phdr(patch, &walk);
  return !walk.is_cut;
}

uint64_t loads_so_far(void) { return last.loads; }

void give_slots_back(void) {
  if (dl_iterate_phdr != 0) {
    struct walk walk = {look_later, 0, 0, 0, 0, 0};
    dl_iterate_phdr(read_counters, &walk);
    unloads_when_given_back = walk.unloads;
    last.loads = ~(uint64_t)0;  // who comes next looks at all
    dl_iterate_phdr(restore, 0);
  }
}
