#include "python/arenas.hpp"

#include "base/byte_view.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

namespace tracso::python {
namespace {

constexpr std::uint64_t header_bytes = 48;
constexpr std::uint64_t old_pool = 4096, new_pool = 16384;
constexpr std::uint64_t most_looked_at = std::uint64_t{4} << 30;
constexpr std::size_t at_once = 512;
constexpr std::size_t size_class_at = 36;
constexpr std::uint32_t alignment = 16;

// How many of its blocks are in use, times their size.
std::uint64_t blocks_of(std::span<const std::byte> header) {
  const ByteView view(header);
  const std::uint64_t size_class = view.get<std::uint32_t>(size_class_at).value_or(0);
  return view.get<std::uint32_t>(0).value_or(0) * (size_class + 1) * alignment;
}

// Which pages of a range are there, in memory or swapped out. Where the kernel does not tell, all
// are taken to be. To read a page that was never written gives zeros, takes longer than to ask, and
// puts zero pages into the tables of the process that is looked at.
class PagesThere {
 public:
  PagesThere(const ProcessSource& process, std::uint64_t start, std::uint64_t end)
      : page_(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))), first_(start / page_) {
    const std::uint64_t count = (end + page_ - 1) / page_ - first_;
    std::vector<std::uint64_t> entries;
    there_.reserve(count);
    while (there_.size() < count) {
      entries.resize(std::min(count - there_.size(), entries_at_once));
      const auto bytes = std::as_writable_bytes(std::span(entries));
      const auto got =
          process.read_at("pagemap", (first_ + there_.size()) * sizeof(std::uint64_t), bytes);
      if (!got || *got != bytes.size()) {
        there_.clear();
        return;
      }
      for (const std::uint64_t entry : entries) {
        there_.push_back((entry & (present | swapped)) != 0);
      }
    }
  }

  bool has(std::uint64_t address) const {
    return there_.empty() || there_[address / page_ - first_];
  }

 private:
  // The bits of an entry of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst).
  static constexpr std::uint64_t present = std::uint64_t{1} << 63;
  static constexpr std::uint64_t swapped = std::uint64_t{1} << 62;
  static constexpr std::uint64_t entries_at_once = std::uint64_t{1} << 16;

  std::uint64_t page_, first_;
  std::vector<bool> there_;
};

// Counts pools of one size, 512 headers a call.
PoolUse count_pools(const ProcessSource& process,
                    const PagesThere& pages,
                    std::uint64_t start,
                    std::uint64_t end,
                    std::uint64_t pool) {
  PoolUse found;
  std::vector<std::array<std::byte, header_bytes>> heads(at_once);
  std::vector<MemoryRead> reads;
  for (std::uint64_t at = (start + pool - 1) / pool * pool; at + pool <= end;) {
    reads.clear();
    for (; reads.size() < at_once && at + pool <= end; at += pool) {
      if (pages.has(at)) {
        reads.push_back({at, heads[reads.size()], false});
      }
    }
    process.read_memory(std::span(reads));
    for (const MemoryRead& read : reads) {
      if (read.got && is_pool_header(read.into, read.address, pool)) {
        found.pools += pool;
        found.blocks += blocks_of(read.into);
      }
    }
  }
  return found;
}

}  // namespace

bool is_pool_header(std::span<const std::byte> bytes,
                    std::uint64_t address,
                    std::uint64_t pool_bytes) {
  const ByteView view(bytes);
  const auto count = view.get<std::uint32_t>(0);
  const auto free_block = view.get<std::uint64_t>(8);
  const auto size_class = view.get<std::uint32_t>(size_class_at);
  const auto next_offset = view.get<std::uint32_t>(40);
  const auto last_offset = view.get<std::uint32_t>(44);
  constexpr std::uint32_t classes = 32;
  if (!count || !free_block || !size_class || !next_offset || !last_offset ||
      *size_class >= classes) {
    return false;
  }
  const std::uint64_t block = (*size_class + 1) * std::uint64_t{alignment};
  const bool free_is_inside = *free_block == 0 || (*free_block >= address + header_bytes &&
                                                   *free_block < address + pool_bytes);
  return *last_offset == pool_bytes - block && *next_offset >= header_bytes &&
         *next_offset <= pool_bytes && (*next_offset - header_bytes) % block == 0 &&
         *count <= pool_bytes / block && free_is_inside;
}

PoolUse pools_in(const ProcessSource& process, std::uint64_t start, std::uint64_t end) {
  end = std::min(end, start + most_looked_at);
  const PagesThere pages(process, start, end);
  const PoolUse now = count_pools(process, pages, start, end, new_pool);
  return now.pools != 0 ? now : count_pools(process, pages, start, end, old_pool);
}

}  // namespace tracso::python
