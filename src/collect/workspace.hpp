#pragma once
// What one snapshot knows while it is being made: facts on the left, the trace that grows from them
// on the right.

#include "tracso/snapshot.hpp"

#include "collect/mapped_objects.hpp"
#include "collect/process_facts.hpp"
#include "loader/link_map.hpp"

#include <optional>
#include <vector>

namespace tracso {

struct Workspace {
  const Target& target;
  const SnapshotOptions& options;
  const ElfReader& reader;

  ProcessFacts facts;
  std::optional<loader::LinkMaps> link_maps;  ///< nullopt: not readable, or a static program
  MappedObjects mapped;
  std::vector<std::optional<std::size_t>>
      object_of_entry;  ///< per link map entry: index into mapped.objects

  Trace trace;
  NodeId root{};
  std::optional<std::size_t> executable;  ///< index into mapped.objects
  std::optional<std::size_t> loader;
  std::vector<NodeId> node_of_object;  ///< per mapped object

  void log(std::string line) const {
    if (options.log) {
      options.log(std::move(line));
    }
  }

  NodeId node_of_entry(std::size_t entry) const { return node_of_object[*object_of_entry[entry]]; }
};

}  // namespace tracso
