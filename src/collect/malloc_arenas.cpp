// glibc reserves 64 MB at a multiple of 64 MB, makes the beginning of it usable, and more as it is
// needed. Others do much the same (a program with a mapping of its own of 64 MB, the heap of Go),
// so the place alone is no proof: the header at its beginning is.

#include "collect/malloc_arenas.hpp"

#include "base/byte_view.hpp"

#include <array>

namespace tracso {
namespace {

constexpr std::uint64_t heap_bytes = std::uint64_t{64} << 20;  // HEAP_MAX_SIZE, 64 bit
constexpr std::uint64_t page = 4096;

bool has_place_of_heap(const Mapping& mapping, const Mapping* next) {
  if (mapping.start % heap_bytes != 0 || mapping.end - mapping.start > heap_bytes) {
    return false;
  }
  return mapping.end % heap_bytes == 0 || (next != nullptr && next->start == mapping.end &&
                                           next->is_reserved() && next->end % heap_bytes == 0);
}

}  // namespace

// ar_ptr, prev, size, mprotect_size. The arena itself lies in its first heap, right behind this.
bool is_heap_info(std::span<const std::byte> bytes, std::uint64_t address) {
  const ByteView view(bytes);
  const auto word = [&](std::uint64_t at) { return view.get<std::uint64_t>(at).value_or(0); };
  const std::uint64_t arena = word(0);
  const std::uint64_t before = word(8);
  const std::uint64_t size = word(16);
  const std::uint64_t usable = word(24);
  const std::uint64_t first = arena - arena % heap_bytes;
  const bool points_well = arena - first >= heap_info_bytes && arena - first < page &&
                           arena % sizeof(std::uint64_t) == 0 && before % heap_bytes == 0 &&
                           (before == 0) == (first == address);
  return bytes.size() >= heap_info_bytes && points_well && size != 0 && size <= usable &&
         usable <= heap_bytes && size % page == 0 && usable % page == 0;
}

bool is_malloc_arena(const ProcessSource& process, const Mapping& mapping, const Mapping* next) {
  if (!mapping.is_anonymous() || !mapping.writable || !has_place_of_heap(mapping, next)) {
    return false;
  }
  std::array<std::byte, heap_info_bytes> bytes{};
  return !process.read_memory(mapping.start, bytes) || is_heap_info(bytes, mapping.start);
}

}  // namespace tracso
