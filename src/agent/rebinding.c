// The loader fills a lazy slot at its first call and so writes over our stub. The call itself came
// through us (enter_lazy), so when it returns we look, take the loader's answer as target and put
// the stub back. Nested and later calls until then are not seen; they are few, for most lazy slots
// are bound by ourselves at the start (self_binding.c).

#include "agent.h"

int take_slot_back(uint32_t number) {
  struct tracso_slot* slot = &region->slot[number];
  const uint64_t content = *(volatile uint64_t*)slot->address;
  if ((region->object[slot->caller].flags & tracso_object_gone) != 0 || is_stub(content) ||
      content == slot->target) {
    return 0;
  }
  targets[number] = content;
  slot->target = content;
  slot->callee = object_at(content);
  slot->flags &= ~(uint32_t)tracso_slot_lazy;
  // What the library of the function decides was not known before.
  const int wanted = is_selected(region->name + slot->name, slot->caller, slot->callee) &&
                     (slot->callee != slot->caller || (setup->flags & tracso_intra) != 0);
  if (!wanted) {
    handlers[number] = content;
    slot->flags |= tracso_slot_unwanted;
    return 0;
  }
  if ((slot->flags & tracso_slot_loads) == 0 && capture_rules == 0) {
    handlers[number] = (uint64_t)enter_timed;
  }
  *(volatile uint64_t*)slot->address = stub_address(number);
  return 1;
}

// Slots whose first call did not pass enter_lazy: functions that are never timed.
void take_slots_back(uint32_t number) {
  const struct tracso_object* object = &region->object[number];
  for (uint32_t i = object->first_slot; i < object->end_slot; ++i) {
    const uint32_t flags = region->slot[i].flags;
    if ((flags & tracso_slot_lazy) != 0 &&
        (flags & (tracso_slot_counted | tracso_slot_loads)) != 0) {
      take_slot_back(i);
    }
  }
}
