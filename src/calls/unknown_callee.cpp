#include "calls/unknown_callee.hpp"

#include "calls/filter_match.hpp"

#include <string>

namespace tracso::calls {

bool is_unknown_and_unwanted(const Region& region, std::size_t slot, const Filter& filter) {
  if (slot >= region.slots().size() || region.slots()[slot].callee < region.objects().size()) {
    return false;
  }
  const tracso_slot& facts = region.slots()[slot];
  const std::string caller = region.path(facts.caller);
  return !selects(filter, region.name(facts.name), {caller, facts.caller == 0}, {"", false});
}

}  // namespace tracso::calls
