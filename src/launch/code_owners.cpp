#include "launch/code_owners.hpp"

#include "proc/maps.hpp"

#include <algorithm>
#include <utility>

namespace tracso::launch {
namespace {

// The addresses from the start of an object on to the last mapping of its file behind it. `inside`
// is one of its mappings, of code: so the way back to offset 0 stays in this object, even where the
// file is loaded a second time beside it.
std::pair<std::uint64_t, std::uint64_t> extent(const std::vector<Mapping>& mappings,
                                               std::size_t inside) {
  const Mapping& file = mappings[inside];
  const auto is_same = [&](const Mapping& mapping) {
    return mapping.inode == file.inode && mapping.device == file.device;
  };
  std::size_t first = inside;
  while (first > 0 && mappings[first].offset != 0 && is_same(mappings[first - 1])) {
    --first;
  }
  std::size_t last = inside;
  while (last + 1 < mappings.size() && is_same(mappings[last + 1])) {
    ++last;
  }
  return {mappings[first].start, mappings[last].end};
}

}  // namespace

std::uint64_t CodeOwners::owner_of(const ProcessSource& process,
                                   std::uint64_t address,
                                   std::span<const std::uint64_t> dynamics) {
  const auto covers = [&](const auto& piece) {
    return piece.start <= address && address < piece.end;
  };
  const auto known = std::find_if(known_.begin(), known_.end(), covers);
  if (known != known_.end()) {
    return known->dynamic;
  }
  const auto text = process.read("maps");
  const auto mappings = text ? proc::parse_maps(*text) : Result<std::vector<Mapping>>(text.error());
  if (!mappings) {
    return 0;
  }
  const auto found = std::find_if(mappings->begin(), mappings->end(), covers);
  if (found == mappings->end() || !found->has_file()) {
    return 0;  // code that no file holds: its maker is not known
  }
  const auto [start, end] = extent(*mappings, static_cast<std::size_t>(found - mappings->begin()));
  Piece piece{found->start, found->end, 0};
  for (const std::uint64_t dynamic : dynamics) {
    // The first one behind the start: a second copy of the file comes later.
    if (start <= dynamic && dynamic < end && (piece.dynamic == 0 || dynamic < piece.dynamic)) {
      piece.dynamic = dynamic;
    }
  }
  known_.push_back(piece);
  return piece.dynamic;
}

}  // namespace tracso::launch
