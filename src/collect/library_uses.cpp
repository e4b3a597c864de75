#include "collect/library_uses.hpp"

#include "base/own_agent.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

using State = LibraryUse::State;

void add_once(std::vector<std::size_t>& to, std::size_t object) {
  if (to.empty() || (to.back() != object && std::find(to.begin(), to.end(), object) == to.end())) {
    to.push_back(object);
  }
}

std::string names(const Workspace& work, const std::vector<std::size_t>& objects) {
  constexpr std::size_t most = 3;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(most, objects.size()); ++i) {
    shown.push_back(display_name(work.trace.graph[work.node_of_object[objects[i]]]));
  }
  const std::string text = join(shown, ", ");
  return objects.size() > most ? fmt::format("{} and {} more", text, objects.size() - most) : text;
}

std::string functions(std::size_t count) {
  return counted(count, "function");
}

bool has_cause(const Workspace& work, NodeId node, EdgeKind kind, bool from_python) {
  for (const EdgeId id : work.trace.graph.causes_of(node)) {
    const Edge& edge = work.trace.graph[id];
    const bool python = std::holds_alternative<PythonSource>(work.trace.graph[edge.from].subject);
    if (edge.kind == kind && python == from_python) {
      return true;
    }
  }
  return false;
}

bool is_needed(const Workspace& work, NodeId node) {
  return has_cause(work, node, EdgeKind::needed, false);
}

}  // namespace

LibraryUses::LibraryUses(LinkageSet& set) : set_(set), lazy_(set.size()), tallies_(set.size()) {}

void LibraryUses::note(const SlotValue& value, std::size_t provider) {
  const elf::Linkage* table = set_.table(value.object);
  if (!value.bound && table != nullptr && !table->binds_now()) {
    lazy_[value.object] = true;
  }
  if (provider != value.object) {
    slots_.push_back(
        {value.object, provider, value.slot.jump, value.bound, !value.bound || value.to_code});
  }
}

void LibraryUses::add(const Slot& slot) {
  Tally& tally = tallies_[slot.provider];
  if (!slot.jump) {
    add_once(tally.addresses, slot.object);
  } else if (!slot.bound) {
    ++tally.lazy_waiting;
    add_once(tally.waiting, slot.object);
  } else if (lazy_[slot.object]) {
    ++tally.lazy_called;
    add_once(tally.callers, slot.object);
  } else {
    ++tally.eager;
    add_once(tally.at_once, slot.object);
  }
}

void LibraryUses::add_addresses_taken() {
  for (std::size_t i = 0; i < set_.size(); ++i) {
    const elf::Linkage* table = set_.table(i);
    for (const std::uint32_t symbol :
         table != nullptr ? table->addresses_taken() : std::span<const std::uint32_t>()) {
      const elf::SymbolName name(table->name(symbol), table->needed_version(symbol));
      const auto found = set_.promised(i, name);
      if (found && found->object != i) {
        add_once(tallies_[found->object].addresses, i);
      }
    }
  }
}

// The loader has copied them at the start: their library did its work by being there.
void LibraryUses::add_copies() {
  for (std::size_t i = 0; i < set_.size(); ++i) {
    const elf::Linkage* table = set_.table(i);
    for (const std::uint32_t symbol :
         table != nullptr ? table->copies() : std::span<const std::uint32_t>()) {
      const elf::SymbolName name(table->name(symbol), table->needed_version(symbol));
      if (const auto found = set_.copied_from(i, name)) {
        Tally& tally = tallies_[found->object];
        add_once(tally.copiers, i);
        tally.copied = tally.copied.empty() ? std::string(name.text) : tally.copied;
      }
    }
  }
}

LibraryUse LibraryUses::answer(const Workspace& work, std::size_t object) const {
  const Tally& tally = tallies_[object];
  LibraryUse use;
  use.node = work.node_of_object[object];
  use.functions = tally.lazy_called + tally.lazy_waiting + tally.eager;
  use.called = tally.lazy_called;
  for (const auto* who : {&tally.callers, &tally.at_once, &tally.waiting}) {
    for (const std::size_t one : *who) {
      use.asked_by.push_back(work.node_of_object[one]);
    }
  }
  const ObjectFile& file = *tracso::object(work.trace.graph[use.node]);
  if (tally.lazy_called > 0) {
    use.state = State::used;
    use.reason =
        fmt::format("{} called by {}", functions(tally.lazy_called), names(work, tally.callers));
  } else if (has_cause(work, use.node, EdgeKind::origin, true)) {
    use.state = State::used;
    use.reason = "Python imported it, which calls its init function";
  } else if (!tally.copiers.empty()) {
    use.state = State::used;
    use.reason = fmt::format("{} took over the value of its variable {} (a copy relocation)",
                             names(work, tally.copiers),
                             tally.copied);
  } else if (tally.eager > 0) {
    use.reason = fmt::format("{} bound all at once: whether {} called, slots do not tell",
                             names(work, tally.at_once),
                             tally.at_once.size() == 1 ? "it" : "they");
  } else if (file.first_cause == "preload" || file.first_cause == "other means") {
    use.reason = "it did not come because somebody needs it";
  } else if (!is_needed(work, use.node) || file.dlopen_count > 0) {
    use.reason = "it was loaded with dlopen: calls by dlsym leave no trace";
  } else if (set_.unreadable() > 0) {
    use.reason = "a file could not be read that may call it";
  } else if (!tally.addresses.empty()) {
    use.reason = fmt::format("{} holds addresses of it, by which it may call or read",
                             names(work, tally.addresses));
  } else {
    use.state = State::not_called_so_far;
    use.needed_for_nothing = use.functions == 0;
    use.reason = use.functions == 0
                     ? "it is needed, but nobody imports a function of it; not called so far"
                     : fmt::format("{} imported by {}, none called so far",
                                   functions(use.functions),
                                   names(work, tally.waiting));
  }
  return use;
}

std::vector<LibraryUse> LibraryUses::answers(const Workspace& work) {
  for (const Slot& slot : slots_) {
    add(slot);
  }
  slots_.clear();
  add_addresses_taken();
  add_copies();
  std::vector<LibraryUse> all;
  for (std::size_t i = 0; i < set_.size(); ++i) {
    const ObjectFile& file = *tracso::object(work.trace.graph[work.node_of_object[i]]);
    if (file.role == ObjectFile::Role::library && !is_own_agent(file.path.text)) {
      all.push_back(answer(work, i));
    }
  }
  return all;
}

}  // namespace tracso
