#include "proc/paged_process.hpp"

#include <algorithm>

namespace tracso::proc {

const PagedProcess::Page* PagedProcess::page_at(std::uint64_t address) const {
  const auto known = pages_.find(address);
  if (known != pages_.end()) {
    return known->second.get();
  }
  if (pages_.size() == most_pages) {
    pages_.clear();
  }
  auto page = std::make_unique_for_overwrite<Page>();
  if (!process_.read_memory(address, *page)) {
    return nullptr;
  }
  return pages_.emplace(address, std::move(page)).first->second.get();
}

void PagedProcess::fetch(std::span<const std::uint64_t> addresses) const {
  if (!process_.may_read_ahead()) {
    return;
  }
  std::map<std::uint64_t, std::unique_ptr<Page>> pages;
  std::vector<MemoryRead> pieces;
  for (const std::uint64_t address : addresses) {
    const std::uint64_t start = address - address % page_bytes;
    if (pages.size() + pages_.size() >= most_pages || pages_.contains(start)) {
      continue;
    }
    const auto [place, fresh] = pages.emplace(start, nullptr);
    if (fresh) {
      place->second = std::make_unique_for_overwrite<Page>();
      pieces.push_back({start, *place->second, false});
    }
  }
  process_.read_memory(std::span(pieces));
  for (const MemoryRead& piece : pieces) {
    if (piece.got) {
      pages_[piece.address] = std::move(pages[piece.address]);
    }
  }
}

Result<Done> PagedProcess::read_memory(std::uint64_t address, std::span<std::byte> into) const {
  if (into.size() > page_bytes || !process_.may_read_ahead()) {
    return process_.read_memory(address, into);
  }
  for (std::span<std::byte> rest = into; !rest.empty();) {
    const std::uint64_t at = address + (into.size() - rest.size());
    const std::uint64_t offset = at % page_bytes;
    const Page* page = page_at(at - offset);
    if (page == nullptr) {
      return process_.read_memory(address, into);  // its words for what is wrong
    }
    const auto count = std::min<std::size_t>(rest.size(), page_bytes - offset);
    std::copy_n(page->begin() + static_cast<std::ptrdiff_t>(offset), count, rest.begin());
    rest = rest.subspan(count);
  }
  return Done{};
}

}  // namespace tracso::proc
