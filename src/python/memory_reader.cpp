#include "python/memory_reader.hpp"

#include "python/address_space.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace tracso::python {
namespace {

// Longer reads are one piece anyway and would push everything else out.
constexpr std::uint64_t longest_cached = 32768;
constexpr std::uint64_t longest_planned = std::uint64_t{1} << 20;
constexpr std::uint32_t reads_per_clock_look = 1024;
constexpr std::size_t most_remembered = 4096;  // lines: 2 MB

bool is_address(std::uint64_t address, std::uint64_t bytes) {
  return address >= page_bytes && address < highest_address && bytes <= highest_address - address;
}

}  // namespace

MemoryReader::MemoryReader(const ProcessSource& process, ReadLimits limits)
    : process_(process), limits_(limits) {}

bool MemoryReader::spend(std::uint64_t bytes) {
  bytes_ += bytes;
  if (bytes_ > limits_.bytes || std::chrono::steady_clock::now() > limits_.deadline) {
    exhausted_ = true;
  }
  return !exhausted_;
}

std::byte* MemoryReader::new_line() {
  const std::size_t chunk = used_lines_ / chunk_lines;
  if (chunk == chunks_.size()) {
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk_lines * line_bytes));
  }
  return chunks_[chunk].get() + used_lines_++ % chunk_lines * line_bytes;
}

void MemoryReader::forget() {
  if (!lines_.empty()) {
    asked_before_.clear();
    for (const auto& [number, line] : lines_) {
      if (asked_before_.size() == most_remembered) {
        break;
      }
      if (line.asked && line.bytes != nullptr) {
        asked_before_.push_back(number);
      }
    }
  }
  lines_.clear();
  past_.clear();
  begin(limits_);
}

void MemoryReader::begin(ReadLimits limits) {
  limits_ = limits;
  planned_.clear();
  beliefs_.clear();
  used_lines_ = 0;
  last_number_ = 0;
  trust_ = Trust::not_yet;
}

void MemoryReader::restart(ReadLimits limits) {
  forget();
  limits_ = limits;
  bytes_ = 0;
  exhausted_ = false;
}

void MemoryReader::restart_with_past(ReadLimits limits) {
  std::swap(lines_, past_);
  std::swap(chunks_, past_chunks_);
  lines_.clear();
  asked_before_.clear();
  kept_before_.clear();
  for (const auto& [number, line] : past_) {
    if (line.kept && kept_before_.size() < most_remembered) {
      kept_before_.push_back(number);
    }
  }
  begin(limits);
  bytes_ = 0;
  exhausted_ = false;
}

void MemoryReader::trust(Trust trust) {
  trust_ = trust;
  last_number_ = 0;
}

void MemoryReader::prefetch() {
  for (const auto number : kept_before_) {
    if (lines_.count(number) == 0) {
      planned_.push_back(number);
    }
  }
  fetch();
}

bool MemoryReader::is_known(std::uint64_t number) const {
  const auto known = lines_.find(number);
  if (known != lines_.end() && (!known->second.believed || trust_ == Trust::confirmed)) {
    return true;
  }
  return trust_ == Trust::confirmed && past_.count(number) != 0;
}

bool MemoryReader::knows(std::uint64_t address, std::uint64_t bytes) const {
  auto number = address / line_bytes;
  while (number <= (address + bytes - 1) / line_bytes && is_known(number)) {
    ++number;
  }
  return number > (address + bytes - 1) / line_bytes;
}

bool MemoryReader::confirm() {
  trust(Trust::not_yet);
  const auto beliefs = std::exchange(beliefs_, {});
  for (const Belief& belief : beliefs) {
    plan(belief.address, belief.bytes);
  }
  fetch();
  return std::all_of(beliefs.begin(), beliefs.end(), [this](const Belief& belief) {
    std::array<std::byte, line_bytes> now{};
    const auto bytes = std::span(now).first(belief.bytes);
    return read(belief.address, bytes) && std::equal(bytes.begin(), bytes.end(), belief.expected);
  });
}

void MemoryReader::plan(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0 || bytes > longest_planned || !is_address(address, bytes)) {
    return;
  }
  for (auto number = address / line_bytes; number <= (address + bytes - 1) / line_bytes; ++number) {
    if (!is_known(number)) {
      planned_.push_back(number);
    }
  }
}

void MemoryReader::fetch_as_before() {
  for (const auto number : asked_before_) {
    if (lines_.count(number) == 0) {
      planned_.push_back(number);
    }
  }
  fetch();
}

void MemoryReader::fetch() {
  fetch_lines(planned_);
  planned_.clear();
}

void MemoryReader::fetch_lines(std::vector<std::uint64_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (lines_.size() + numbers.size() > limits_.lines) {
    exhausted_ = true;
  }
  if (numbers.empty() || !spend(numbers.size() * line_bytes)) {
    return;
  }
  // Neighbours are read as one piece, but never across a page: a page is there or not as a whole.
  std::vector<MemoryRead> pieces;
  pieces.reserve(numbers.size());
  for (const auto number : numbers) {
    std::byte* into = new_line();
    const std::uint64_t address = number * line_bytes;
    if (!pieces.empty() && address % page_bytes != 0 &&
        pieces.back().address + pieces.back().into.size() == address &&
        pieces.back().into.data() + pieces.back().into.size() == into) {
      pieces.back().into = {pieces.back().into.data(), pieces.back().into.size() + line_bytes};
    } else {
      pieces.push_back({address, {into, line_bytes}, false});
    }
  }
  process_.read_memory(std::span(pieces));
  for (const auto& piece : pieces) {
    for (std::size_t at = 0; at < piece.into.size(); at += line_bytes) {
      Line& line = lines_[(piece.address + at) / line_bytes];
      line.bytes = piece.got ? piece.into.data() + at : nullptr;
      line.believed = false;
    }
  }
}

// Nobody planned it. A page costs the system call that a line costs, and what is read next is
// often beside it; lines that fill the room we have are not worth it.
const MemoryReader::Line* MemoryReader::fetch_line(std::uint64_t number) {
  std::vector<std::uint64_t> wanted{number};
  if (process_.may_read_ahead() && lines_.size() < limits_.lines / 4) {
    constexpr std::uint64_t page_lines = page_bytes / line_bytes;
    const std::uint64_t first = number - number % page_lines;
    for (auto other = first; other < first + page_lines; ++other) {
      if (other != number && lines_.count(other) == 0) {
        wanted.push_back(other);
      }
    }
  }
  fetch_lines(wanted);
  const auto fetched = lines_.find(number);
  return fetched == lines_.end() || fetched->second.believed ? nullptr : &fetched->second;
}

// It stays what it was for this pass, whatever becomes of the last one's room.
const MemoryReader::Line* MemoryReader::believe_line(std::uint64_t number) {
  const auto old = past_.find(number);
  if (old == past_.end() || old->second.bytes == nullptr) {
    return nullptr;
  }
  std::byte* into = new_line();
  std::memcpy(into, old->second.bytes, line_bytes);
  Line& line = lines_[number];
  line.bytes = into;
  line.believed = true;
  return &line;
}

const MemoryReader::Line* MemoryReader::find_line(std::uint64_t number) {
  const auto known = lines_.find(number);
  if (known != lines_.end() && (!known->second.believed || trust_ == Trust::confirmed)) {
    return &known->second;
  }
  const Line* believed = trust_ == Trust::confirmed ? believe_line(number) : nullptr;
  return believed != nullptr ? believed : fetch_line(number);
}

const MemoryReader::Line* MemoryReader::line(std::uint64_t number) {
  if (number != last_number_) {
    last_line_ = find_line(number);
    last_number_ = number;
    if (last_line_ != nullptr) {
      Line& line = lines_[number];
      line.asked = true;
      line.kept = line.kept || trust_ == Trust::never;
    }
  }
  return last_line_;
}

bool MemoryReader::read_directly(std::uint64_t address, std::span<std::byte> into) {
  return spend(into.size()) && static_cast<bool>(process_.read_memory(address, into));
}

bool MemoryReader::read(std::uint64_t address, std::span<std::byte> into) {
  // Known lines cost no system call, so the clock needs a look of its own now and then.
  if (++reads_ % reads_per_clock_look == 0) {
    spend(0);
  }
  if (exhausted_ || !is_address(address, into.size())) {
    return false;
  }
  if (into.size() > longest_cached) {
    return read_directly(address, into);
  }
  if (into.size() > line_bytes) {
    plan(address, into.size());
    fetch();
  }
  while (!into.empty()) {
    const std::uint64_t offset = address % line_bytes;
    const auto count = std::min<std::size_t>(into.size(), line_bytes - offset);
    const Line* from = line(address / line_bytes);
    if (from == nullptr || from->bytes == nullptr) {
      return false;
    }
    if (from->believed) {
      beliefs_.push_back({address, count, from->bytes + offset});
    }
    std::memcpy(into.data(), from->bytes + offset, count);
    address += count;
    into = into.subspan(count);
  }
  return true;
}

std::optional<std::string> MemoryReader::text(std::uint64_t address, std::size_t limit) {
  std::string text;
  while (text.size() <= limit) {
    char piece[64];
    const std::size_t count = sizeof piece - address % sizeof piece;
    if (!read(address, std::as_writable_bytes(std::span(piece, count)))) {
      return std::nullopt;
    }
    const auto length = static_cast<std::size_t>(std::find(piece, piece + count, '\0') - piece);
    text.append(piece, length);
    if (length < count) {
      return text.size() <= limit ? std::optional(text) : std::nullopt;
    }
    address += count;
  }
  return std::nullopt;
}

}  // namespace tracso::python
