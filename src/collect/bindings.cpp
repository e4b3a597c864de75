// For each imported function: which library its slot leads to, and which one the object would find
// if it were alone with what it needs. Where the two differ, somebody else's function is called.
//
// The file says where the slots are and who defines what; the memory says what the loader wrote.
// A slot that still has the file's own word plus the load bias leads back into the PLT: the
// function has not been called. Weak symbols give way by design, and the C library's parts stand in
// for each other: these are marked as usual.

#include "collect/bindings.hpp"

#include "base/text.hpp"
#include "collect/library_uses.hpp"
#include "collect/linkage_set.hpp"
#include "collect/own_runtimes.hpp"
#include "collect/slot_values.hpp"
#include "collect/usual_interposers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

constexpr std::uint8_t unique_binding = 10;  // STB_GNU_UNIQUE

class BindingsCollector {
 public:
  BindingsCollector(Workspace& work, LinkageSet& set, bool all, ProblemFacts& facts)
      : work_(work), set_(set), uses_(set), all_(all), facts_(facts) {}

  void collect() {
    for (const SlotValue& value : read_slot_values(work_, set_)) {
      add(value);
    }
    facts_.uses = uses_.answers(work_);
  }

 private:
  NodeId node(std::size_t object) const { return work_.node_of_object[object]; }

  const ObjectFile& file(std::size_t object) const {
    return *tracso::object(work_.trace.graph[node(object)]);
  }

  bool is_weak(const LinkageSet::Found& found) const {
    const auto binding = set_.table(found.object)->symbol(found.symbol).binding;
    return binding == elf::weak_binding || binding == unique_binding;
  }

  // A program at a fixed address lends functions of others the address of its own PLT: the call
  // goes on to whom the program finds.
  std::optional<std::size_t> behind_plt(std::size_t object, const elf::SymbolName& name) {
    constexpr std::uint16_t fixed_address = 2;  // ET_EXEC
    const elf::Linkage* table = set_.table(object);
    const bool lends = work_.mapped.objects[object].elf.type == fixed_address && table != nullptr &&
                       !table->find(name) && !table->find({name.text, ""});
    const auto found = lends ? set_.promised(object, name) : std::nullopt;
    return found ? std::optional(found->object) : object;
  }

  void add(SlotValue value) {
    const elf::Linkage& table = *set_.table(value.object);
    const elf::SymbolName name(table.name(value.slot.symbol),
                               table.needed_version(value.slot.symbol));
    const auto promised = set_.promised(value.object, name);
    if (value.leads) {
      value.leads = behind_plt(*value.leads, name);
    }
    if (value.leads) {
      uses_.note(value, *value.leads);
    } else if (!value.bound && promised) {
      uses_.note(value, promised->object);
    }
    if (!value.bound && !promised) {
      note_undefined(value, name);
    }
    if (!value.bound || value.to_code) {
      add_binding(value, promised, name);
    }
  }

  // Not even in what the object does not need itself, as a program's own functions for plug-ins.
  void note_undefined(const SlotValue& value, const elf::SymbolName& name) {
    const elf::Linkage& table = *set_.table(value.object);
    if (set_.unreadable() > 0 || name.text.empty() ||
        table.symbol(value.slot.symbol).binding == elf::weak_binding) {
      return;
    }
    for (std::size_t i = 0; i < set_.size(); ++i) {
      const elf::Linkage* other = set_.table(i);
      if (other != nullptr && (other->find(name) || other->find({name.text, ""}))) {
        return;
      }
    }
    facts_.undefined.push_back(
        {node(value.object), std::string(name.text), std::string(name.version)});
  }

  void add_binding(const SlotValue& value,
                   const std::optional<LinkageSet::Found>& promised,
                   const elf::SymbolName& name) {
    if (value.leads && name.text == "malloc") {
      note_malloc(node(*value.leads));
    }
    Binding binding;
    if (value.leads && promised && *value.leads != promised->object) {
      judge(value, *promised, name, binding);
    }
    if (!all_ && !binding.interposed) {
      return;
    }
    binding.object = node(value.object);
    binding.symbol = std::string(name.text);
    binding.version = std::string(name.version);
    binding.bound = value.bound;
    binding.provider = value.leads ? std::optional(node(*value.leads)) : std::nullopt;
    if (!value.bound) {
      const auto expected = set_.expected(value.object, name);
      binding.expected = expected ? std::optional(node(expected->object)) : std::nullopt;
    }
    binding.promised = promised ? std::optional(node(promised->object)) : std::nullopt;
    facts_.bindings.push_back(std::move(binding));
  }

  void note_malloc(NodeId provider) {
    auto& all = facts_.malloc_providers;
    if (std::find(all.begin(), all.end(), provider) == all.end()) {
      all.push_back(provider);
    }
  }

  void judge(const SlotValue& value,
             const LinkageSet::Found& promised,
             const elf::SymbolName& name,
             Binding& binding) {
    // Code of an object that does not export the name is no interposition by the loader's rules.
    const elf::Linkage* there = set_.table(*value.leads);
    const auto theirs = there == nullptr ? std::nullopt : there->find({name.text, name.version});
    if (there != nullptr && !theirs && !there->find({name.text, ""})) {
      return;
    }
    binding.interposed = true;
    binding.usual = std::string(usual_interposition(
        file(*value.leads), file(promised.object), name.text, is_weak(promised)));
  }

  Workspace& work_;
  LinkageSet& set_;
  LibraryUses uses_;
  bool all_;
  ProblemFacts& facts_;
};

void note_unreadable(Workspace& work, std::size_t count) {
  work.trace.notices.push_back(
      {"symbols-unreadable",
       fmt::format("the symbols of {} could not be read", counted(count, "mapped file")),
       "what these call, and what is called of them, is not known",
       "run as root: deleted files can be read then"});
}

void note_recording(Workspace& work) {
  work.trace.notices.push_back(
      {"symbols-not-recorded",
       "a recording has no symbol tables and no slots: they are many times what a report needs",
       "which library a call goes to is not known",
       "tracso --bindings PID, while the process runs"});
}

}  // namespace

void collect_bindings(Workspace& work, const FactsOptions& wanted, ProblemFacts& facts) {
  if (wanted.symbols == SymbolDepth::none) {
    return;
  }
  if (wanted.recorded) {
    note_recording(work);
    return;
  }
  LinkageSet set(work);
  BindingsCollector(work, set, wanted.symbols == SymbolDepth::all, facts).collect();
  facts.runtimes = find_own_runtimes(work, set);
  facts.versions = find_openssl_versions(work);
  facts.symbols = true;
  if (set.unreadable() > 0) {
    note_unreadable(work, set.unreadable());
  }
}

}  // namespace tracso
