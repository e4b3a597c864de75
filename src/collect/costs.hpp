#pragma once
// What each mapped object takes of the process' memory.

#include "tracso/result.hpp"

#include "collect/workspace.hpp"
#include "proc/smaps.hpp"

#include <vector>

namespace tracso {

/// What each mapping takes. To be read before anything else: reading memory of a process can bring
/// pages in.
Result<std::vector<proc::MappingCost>> read_mapping_costs(const ProcessSource& process);

/// Fills resident and private bytes of every object node from smaps: the mappings of its file, and
/// the anonymous memory inside its own segments (.bss, code moved to large pages). Anonymous memory
/// that merely lies beside a library is nobody's. Needs the nodes of the objects; where something
/// cannot be read a notice says so and the figure stays unknown.
void add_memory_costs(Workspace& work, const Result<std::vector<proc::MappingCost>>& costs);

/// Fills relocation bytes: pages that the loader itself writes to before main.
void add_relocation_costs(Workspace& work);
/// The same for files that nothing runs.
void add_relocation_costs(Graph& graph, const FileSystem& files);

}  // namespace tracso
