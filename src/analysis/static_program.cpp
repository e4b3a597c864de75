#include "analysis/static_program.hpp"

namespace tracso {

bool is_statically_linked(const Trace& trace) {
  bool program = false;
  for (const Node& node : trace.graph.nodes()) {
    const ObjectFile* file = object(node);
    if (file == nullptr) {
      continue;
    }
    if (file->role != ObjectFile::Role::executable || !file->elf.interp.empty() ||
        !file->elf.dynamic.needed.empty()) {
      return false;
    }
    program = true;
  }
  return program;
}

}  // namespace tracso
