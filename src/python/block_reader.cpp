#include "python/block_reader.hpp"

#include "python/address_space.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tracso::python {
namespace {

constexpr std::uint64_t lowest_address = 4096;

}  // namespace

void BlockReader::forget() {
  blocks_.clear();
  last_ = nullptr;
  spent_ = 0;
}

void BlockReader::restart(BlockLimits limits) {
  forget();
  limits_ = limits;
  exhausted_ = false;
}

const BlockReader::Block* BlockReader::block(std::uint64_t number) {
  if (last_ != nullptr && number == last_number_) {
    return last_;
  }
  auto found = blocks_.find(number);
  if (found == blocks_.end()) {
    exhausted_ = exhausted_ || spent_ + block_bytes > limits_.bytes ||
                 std::chrono::steady_clock::now() > limits_.deadline;
    if (exhausted_) {
      return nullptr;
    }
    spent_ += block_bytes;
    Block block{std::make_unique_for_overwrite<std::byte[]>(block_bytes), 0};
    std::array<MemoryRead, block_pages> pieces;
    for (std::size_t i = 0; i < block_pages; ++i) {
      pieces[i] = {number * block_bytes + i * page_bytes,
                   {block.bytes.get() + i * page_bytes, page_bytes},
                   false};
    }
    process_.read_memory(std::span(pieces));
    for (std::size_t i = 0; i < block_pages; ++i) {
      block.pages |= pieces[i].got ? 1U << i : 0U;
    }
    found = blocks_.emplace(number, std::move(block)).first;
  }
  last_number_ = number;
  last_ = &found->second;
  return last_;
}

bool BlockReader::read(std::uint64_t address, std::span<std::byte> into) {
  if (address < lowest_address || address >= highest_address ||
      into.size() > highest_address - address) {
    return false;
  }
  while (!into.empty()) {
    const Block* from = block(address / block_bytes);
    const std::uint64_t offset = address % block_bytes;
    if (from == nullptr || (from->pages >> (offset / page_bytes) & 1U) == 0) {
      return false;
    }
    const auto count = std::min<std::size_t>(into.size(), page_bytes - offset % page_bytes);
    std::memcpy(into.data(), from->bytes.get() + offset, count);
    address += count;
    into = into.subspan(count);
  }
  return true;
}

}  // namespace tracso::python
