// The loaded objects, as dl_iterate_phdr(3) tells them: at the start, and again when a function
// that loads objects is called. What dlopen brings is so patched at the latest at the dlsym that
// follows, before the program can call into it; its constructors have run by then.

#include "agent.h"
extern int dl_iterate_phdr(int (*)(struct dl_phdr_info*, size_t, void*), void*)
    __attribute__((weak));

struct walk {
  int at_start;
  uint64_t loads, unloads;  // how many there have been in all
};

static struct walk last = {0, ~(uint64_t)0, ~(uint64_t)0};

static const char* last_name(const char* path) {
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

static void add_object(const struct tracso_object* measured, const char* name) {
  if (region->head.objects >= tracso_most_objects || measured->end == 0) {
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

// By load address and dynamic section, for a name may be empty or used twice.
static uint32_t find_object(const struct tracso_object* measured) {
  for (uint32_t i = 0; i < region->head.objects; ++i) {
    const struct tracso_object* object = &region->object[i];
    if ((object->flags & tracso_object_gone) == 0 && object->base == measured->base &&
        object->dynamic == measured->dynamic) {
      return i;
    }
  }
  return UINT32_MAX;
}

// Unloaded and loaded again between two looks, at the same place: its GOT is fresh.
static int is_fresh(const struct tracso_object* object) {
  if (object->end_slot == object->first_slot) {
    return 0;
  }
  for (uint32_t i = object->first_slot; i < object->end_slot; ++i) {
    if (is_stub(*(volatile uint64_t*)region->slot[i].address)) {
      return 0;
    }
  }
  return 1;
}

static int see(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  (void)data;
  struct tracso_object measured;
  memset(&measured, 0, sizeof measured);
  measure(&measured, info);
  const uint32_t index = find_object(&measured);
  if (index != UINT32_MAX && !is_fresh(&region->object[index])) {
    region->object[index].flags |= tracso_object_seen;
  } else {
    add_object(&measured, info->dlpi_name);
  }
  return 0;
}

// Under the loader's lock, so that no object goes away meanwhile.
static int patch(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  const struct walk* walk = data;
  struct tracso_object measured;
  memset(&measured, 0, sizeof measured);
  measure(&measured, info);
  const uint32_t index = find_object(&measured);
  if (index == UINT32_MAX) {
    return 0;
  }
  struct tracso_object* object = &region->object[index];
  if ((object->flags & tracso_object_waiting) == 0) {
    take_slots_back(index);
    return 0;
  }
  const int never =
      (object->flags & (tracso_object_own | tracso_object_loader)) != 0 ||
      same_text(object_name(index), "[vdso]") ||
      same_text(object_name(index), "linux-vdso.so.1");
  struct image image;
  if (never || !read_image(&image, index, info) || patch_object(&image, walk->at_start)) {
    object->flags &= ~(uint32_t)tracso_object_waiting;
  } else {
    last.loads = ~(uint64_t)0;  // not relocated yet: look again whatever the counters say
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

void look_for_objects(int at_start) {
  struct walk walk = {at_start, 0, 0};
  if (dl_iterate_phdr == 0) {
    return;
  }
  dl_iterate_phdr(read_counters, &walk);
  if (walk.loads != last.loads || walk.unloads != last.unloads) {
    last = walk;
    for (uint32_t i = 0; i < region->head.objects; ++i) {
      region->object[i].flags &= ~(uint32_t)tracso_object_seen;
    }
    dl_iterate_phdr(see, &walk);
    for (uint32_t i = 0; i < region->head.objects; ++i) {
      if ((region->object[i].flags & tracso_object_seen) == 0) {
        region->object[i].flags |= tracso_object_gone;
      }
    }
  }
  dl_iterate_phdr(patch, &walk);
}
