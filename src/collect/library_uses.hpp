#pragma once
// Which libraries have been called: a slot that is bound lazily is filled by the first call.

#include "tracso/problem_facts.hpp"

#include "collect/linkage_set.hpp"
#include "collect/slot_values.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tracso {

/// Notes every slot, then says of each library what can be said. "Not called so far" needs proof:
/// that each object which imports from it binds lazily (it has a slot that is still empty), has
/// called none of it, and that there is no other way in.
class LibraryUses {
 public:
  explicit LibraryUses(LinkageSet& set);

  /// `provider`: to whom the slot leads, or would.
  void note(const SlotValue& value, std::size_t provider);

  std::vector<LibraryUse> answers(const Workspace& work);

 private:
  struct Tally {
    std::size_t lazy_called = 0, lazy_waiting = 0, eager = 0;
    std::vector<std::size_t> callers;    // of lazy_called
    std::vector<std::size_t> waiting;    // who has not called
    std::vector<std::size_t> at_once;    // who was bound at once
    std::vector<std::size_t> addresses;  // who holds an address of it
    std::vector<std::size_t> copiers;    // who has the value of a variable of it
    std::string copied;                  // the name of one such variable
  };

  struct Slot {
    std::size_t object, provider;
    bool jump, bound, code;
  };

  void add(const Slot& slot);
  void add_addresses_taken();
  void add_copies();
  LibraryUse answer(const Workspace& work, std::size_t object) const;

  LinkageSet& set_;
  std::vector<bool> lazy_;  // proved
  std::vector<Slot> slots_;
  std::vector<Tally> tallies_;
};

}  // namespace tracso
