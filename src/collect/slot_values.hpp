#pragma once
// What stands in the slots of all objects: read from memory in one go, the process is not stopped.

#include "collect/linkage_set.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tracso {

/// One slot and where it leads.
struct SlotValue {
  std::size_t object = 0;  ///< whose slot
  elf::ImportSlot slot;
  bool bound = false;                ///< false: the first call will find the function
  std::optional<std::size_t> leads;  ///< to the object of the address
  bool to_code = false;              ///< the address is executable
};

/// Slots that are empty (weak symbols that nobody has) or could not be read are left out. By object
/// and address.
std::vector<SlotValue> read_slot_values(const Workspace& work, const LinkageSet& set);

}  // namespace tracso
