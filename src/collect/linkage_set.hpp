#pragma once
// The symbol tables of all objects of a process, and which of them has a symbol for whom.

#include "collect/workspace.hpp"
#include "elf/linkage.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tracso {

class LinkageSet {
 public:
  /// Reads the files of all mapped objects. Indexes are those of work.mapped.objects.
  explicit LinkageSet(const Workspace& work);

  std::size_t size() const { return tables_.size(); }

  /// nullptr: the file could not be opened, or is not what the loader would take.
  const elf::Linkage* table(std::size_t object) const {
    return tables_[object] ? &*tables_[object] : nullptr;
  }

  std::size_t unreadable() const { return unreadable_; }

  /// Where the object lies, one or more times.
  std::vector<std::uint64_t> biases(std::size_t object) const;

  /// The object itself and all it needs, breadth first: what it would find if it were alone.
  const std::vector<std::size_t>& closure(std::size_t object);

  struct Found {
    std::size_t object = 0;
    std::uint32_t symbol = 0;
  };

  /// The first of the closure that has the symbol.
  std::optional<Found> promised(std::size_t object, const elf::SymbolName& name);
  /// Whom the loader would bind it to: the program, what is preloaded and what these need, breadth
  /// first, then the closure of the object (System V ABI, elf/dl-deps.c of glibc). An object that
  /// binds to itself first (DT_SYMBOLIC) is asked before. Not seen: what dlopen made global.
  std::optional<Found> expected(std::size_t object, const elf::SymbolName& name);
  /// The first one behind the object itself: where the loader copies a variable from.
  std::optional<Found> copied_from(std::size_t object, const elf::SymbolName& name);

  std::optional<std::size_t> object_of(NodeId node) const;

 private:
  void read(std::size_t object);
  const std::vector<std::size_t>& global_order();
  void add_needed(std::vector<std::size_t>& order) const;
  std::optional<Found> first_of(std::size_t object, const elf::SymbolName& name, std::size_t from);
  std::optional<Found> first_in(const std::vector<std::size_t>& order,
                                const elf::SymbolName& name,
                                std::size_t from) const;

  const Workspace& work_;
  std::vector<std::optional<elf::Linkage>> tables_;
  std::vector<std::optional<std::vector<std::size_t>>> closures_;
  std::optional<std::vector<std::size_t>> global_order_;
  std::vector<std::optional<std::size_t>> object_of_node_;
  std::size_t unreadable_ = 0;
};

}  // namespace tracso
