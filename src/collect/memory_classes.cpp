#include "collect/memory_classes.hpp"

#include "base/own_agent.hpp"
#include "base/text.hpp"
#include "collect/malloc_arenas.hpp"
#include "collect/thread_pools.hpp"
#include "python/arenas.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace tracso {
namespace {

using proc::MappingCost;

const Mapping* before(std::span<const MappingCost> mappings, std::size_t at) {
  return at > 0 && mappings[at - 1].mapping.end == mappings[at].mapping.start
             ? &mappings[at - 1].mapping
             : nullptr;
}

bool is_stack(std::span<const MappingCost> mappings, std::size_t at) {
  const Mapping* guard = before(mappings, at);
  return guard != nullptr && guard->is_reserved() && guard->end - guard->start <= largest_guard;
}

// Names that a program has given (PR_SET_VMA_ANON_NAME): glibc 2.39 "[anon: glibc: malloc]".
MemoryClass class_of_name(std::string_view name) {
  if (name == "[heap]" || name.find("malloc") != name.npos) {
    return MemoryClass::heap;
  }
  if (name == "[stack]" || name.find("stack") != name.npos) {
    return MemoryClass::stacks;
  }
  if (name.starts_with("[anon_shmem")) {
    return MemoryClass::shared;
  }
  return name.starts_with("[anon:cpython") ? MemoryClass::python : MemoryClass::other;
}

MemoryClass class_of_file(const Mapping& mapping) {
  constexpr std::array<std::string_view, 4> shared{"/dev/shm/", "/memfd:", "/SYSV", "/dev/zero"};
  const bool is_shared = std::any_of(shared.begin(), shared.end(), [&](std::string_view prefix) {
    return mapping.name.starts_with(prefix);
  });
  return is_shared                                    ? MemoryClass::shared
         : mapping.name.starts_with("/anon_hugepage") ? MemoryClass::other
                                                      : MemoryClass::files;
}

// `part` of `whole`, in every figure; no more than is resident.
MemoryUse part_of(const MemoryUse& use, std::uint64_t part) {
  const std::uint64_t resident = std::min(part, use.resident);
  const auto share = [&](std::uint64_t bytes) { return std::min(bytes, resident); };
  return {std::min(part, use.mapped), resident, share(use.private_bytes), share(use.dirty), 0};
}

MemoryUse rest_of(const MemoryUse& use, const MemoryUse& part) {
  return {use.mapped - part.mapped,
          use.resident - part.resident,
          use.private_bytes - part.private_bytes,
          use.dirty - part.dirty,
          use.swapped};
}

// Of a mapping that belongs to no ELF file. Anonymous memory is told by what lies around it: a
// thread's stack lies behind a guard page.
MemoryClass class_of(const ProcessSource& process,
                     std::span<const MappingCost> mappings,
                     std::size_t at) {
  const Mapping& mapping = mappings[at].mapping;
  if (mapping.has_file()) {
    return class_of_file(mapping);
  }
  if (!mapping.name.empty()) {
    return class_of_name(mapping.name);
  }
  if (mapping.shared) {
    return MemoryClass::shared;
  }
  if (mapping.is_reserved()) {
    return MemoryClass::other;
  }
  const Mapping* next = at + 1 < mappings.size() ? &mappings[at + 1].mapping : nullptr;
  return is_malloc_arena(process, mapping, next) ? MemoryClass::heap
         : is_stack(mappings, at)                ? MemoryClass::stacks
                                                 : MemoryClass::other;
}

MemoryUse memory_use(const MappingCost& cost) {
  return {cost.mapping.end - cost.mapping.start,
          cost.resident + cost.huge,
          cost.private_bytes(),
          cost.dirty,
          cost.swapped};
}

// `python_bytes` tells how much of an anonymous mapping is pymalloc's; empty: the process is no
// Python.
void add_by_class(MemoryByClass& classes,
                  MemoryClass what,
                  const MappingCost& cost,
                  const std::function<std::uint64_t(const Mapping&)>& python_bytes) {
  const Mapping& mapping = cost.mapping;
  const MemoryUse use = memory_use(cost);
  const bool may_be_python = python_bytes && mapping.is_anonymous() && mapping.writable &&
                             what != MemoryClass::shared && use.resident != 0 &&
                             !is_own_room(mapping.start, mapping.end);
  const MemoryUse python = may_be_python ? part_of(use, python_bytes(mapping)) : MemoryUse{};
  classes[MemoryClass::python].add(python);
  classes[what].add(rest_of(use, python));
}

}  // namespace

QuickClasses classify_memory(const ProcessSource& process,
                             std::span<const MappingCost> mappings,
                             const std::optional<PoolsByMapping>& known) {
  QuickClasses out;
  std::set<std::pair<std::uint64_t, std::uint64_t>> code;
  for (const MappingCost& cost : mappings) {
    const Mapping& mapping = cost.mapping;
    if (mapping.executable && mapping.has_file()) {
      code.emplace(mapping.device, mapping.inode);
      const std::string_view name = base_name(mapping.name);
      out.is_python = out.is_python || name.starts_with("libpython") || name.starts_with("python");
    }
  }
  std::function<std::uint64_t(const Mapping&)> python_bytes;
  if (out.is_python && known) {
    python_bytes = [&](const Mapping& mapping) {
      const auto found = known->find(mapping.start);
      return found == known->end() ? 0 : found->second;
    };
  } else if (out.is_python) {
    python_bytes = [&](const Mapping& mapping) {
      const python::PoolUse use = python::pools_in(process, mapping.start, mapping.end);
      out.python_blocks += use.blocks;
      if (use.pools != 0) {
        out.pools[mapping.start] = use.pools;
      }
      return use.pools;
    };
  }
  for (std::size_t at = 0; at < mappings.size(); ++at) {
    const MappingCost& cost = mappings[at];
    const bool is_code =
        cost.mapping.has_file() && code.count({cost.mapping.device, cost.mapping.inode}) != 0;
    if (is_code) {
      out.memory[MemoryClass::libraries].add(memory_use(cost));
    } else {
      add_by_class(out.memory, class_of(process, mappings, at), cost, python_bytes);
    }
  }
  return out;
}

Result<QuickClasses> quick_memory_classes(const ProcessSource& process) {
  const auto text = process.read("smaps");
  const auto costs =
      text ? proc::parse_smaps(*text) : Result<std::vector<MappingCost>>(text.error());
  return costs ? Result<QuickClasses>(classify_memory(process, *costs)) : costs.error();
}

}  // namespace tracso
