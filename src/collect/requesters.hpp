#pragma once
// Every mapped object as someone who may ask for others: what the loader would know of it.

#include "collect/start_facts.hpp"
#include "collect/workspace.hpp"
#include "loader/search_places.hpp"

#include <deque>
#include <vector>

namespace tracso {

/// A deque, because requesters point at each other.
struct Requesters {
  std::deque<loader::Requester> all;
  std::vector<const loader::Requester*> of_object;  ///< per mapped object
  const loader::Requester* main = nullptr;          ///< null: the program is not known
};

/// By the loader's records as far as they go. The workspace must outlive them.
Requesters make_requesters(const Workspace& work, const StartFacts& start);

}  // namespace tracso
