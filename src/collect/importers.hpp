#pragma once
// What files beside the Python modules add to the graph: who imports an extension module, and which
// installed distribution it belongs to.

#include "tracso/module_files.hpp"
#include "tracso/target.hpp"
#include "tracso/trace.hpp"

#include <optional>

namespace tracso {

/// Names the distribution of every Python source. `known`: what a recording says; else the target's
/// files are read. What could not be read becomes a notice.
void add_distributions(Trace& trace,
                       const FileSystem& files,
                       const std::optional<ModuleFiles>& known);

/// Gives the edge from a Python source to its file the import statement that probably brought it
/// in, where there is none yet. The names of sources must be uncut (Trace::name_depth 0). `known`
/// and notices as above.
void add_importers(Trace& trace, const FileSystem& files, const std::optional<ModuleFiles>& known);

/// An importer or a distribution is known, or there is no module with a file: nobody needs to look.
bool has_module_files(const Trace& trace);

/// The trace was made of this process, which may go by the number of one that has ended.
bool is_process_of(const Trace& trace, const ProcessSource& process);

/// The modules that stand for a Python source of the trace: those with a mapped file.
std::vector<PythonModule> extension_modules(const Trace& trace);

}  // namespace tracso
