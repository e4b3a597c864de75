#pragma once
// What findings rest on that needs no symbol tables: who may write where, memory that is both
// writable and executable, descriptors.

#include "tracso/problem_facts.hpp"

#include "collect/workspace.hpp"
#include "loader/environment.hpp"

#include <cstdint>

namespace tracso {

/// Needs the object nodes. What a recording does not have is left out.
void collect_problem_facts(const Workspace& work,
                           const loader::LoadEnvironment& environment,
                           const FactsOptions& wanted,
                           ProblemFacts& facts);

/// Places that somebody else may change: files of the objects, their directories, search paths.
std::vector<Place> find_open_places(const Workspace& work,
                                    const loader::LoadEnvironment& environment,
                                    std::uint32_t user);

}  // namespace tracso
