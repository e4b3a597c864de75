// The loader fills a lazy slot at its first call and so writes over our stub. The call itself came
// through us (enter_lazy), so when it returns we look, take the loader's answer as target and put
// the stub back. Nested and later calls until then are not seen; they are few, for most lazy slots
// are bound by ourselves at the start (self_binding.c).

#include "agent.h"

// Where the loader has led a slot: 0 if nobody asked for that.
static int learn_target(uint32_t number, uint64_t content) {
  struct tracso_slot* slot = &region->slot[number];
  targets[number] = content;
  slot->target = content;
  slot->callee = object_at(content);
  slot->flags &= ~(uint32_t)tracso_slot_lazy;
  // What the library of the function decides was not known before.
  const int wanted = is_selected(region->name + slot->name, slot->caller, slot->callee) &&
                     (slot->callee != slot->caller || (setup->flags & tracso_intra) != 0);
  if ((slot->flags & (tracso_slot_loads | tracso_slot_starts)) != 0) {
    return 1;  // its handler stays
  }
  if (!wanted) {
    handlers[number] = content;
    slot->flags |= tracso_slot_unwanted;
    return 0;
  }
  if (!is_recording) {
    handlers[number] = (uint64_t)enter_timed;
  }
  return 1;
}

int take_slot_back(uint32_t number) {
  struct tracso_slot* slot = &region->slot[number];
  const uint64_t content = *(volatile uint64_t*)slot->address;
  if (!is_active() || (region->object[slot->caller].flags & tracso_object_gone) != 0 ||
      is_stub(content)) {
    return 0;
  }
  if ((slot->flags & tracso_slot_lazy) != 0) {
    if (content == slot->target || !learn_target(number, content)) {
      return 0;
    }
  } else if (content != slot->target || (slot->flags & tracso_slot_off) != 0 ||
             ((slot->flags & tracso_slot_unwanted) != 0 &&
              (slot->flags & (tracso_slot_loads | tracso_slot_starts)) == 0)) {
    return 0;  // else: two threads were in the loader for it, and the slower one wrote last
  }
  *(volatile uint64_t*)slot->address = stub_address(number);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (!is_active()) {  // all were given back just now (attach.c), perhaps before this one was set
    *(volatile uint64_t*)slot->address = slot->target;
  }
  return 1;
}

// Slots whose first call did not pass enter_lazy: functions that are never timed, and those for
// which a thread was in the loader while they were patched.
void take_slots_back(uint32_t number) {
  const struct tracso_object* object = &region->object[number];
  for (uint32_t i = object->first_slot; i < object->end_slot; ++i) {
    if ((region->slot[i].flags & tracso_slot_lazy) != 0) {
      take_slot_back(i);
    }
  }
}
