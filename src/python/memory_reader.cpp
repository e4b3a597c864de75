#include "python/memory_reader.hpp"

#include "python/address_space.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tracso::python {
namespace {

// Longer reads are one piece anyway and would push everything else out.
constexpr std::uint64_t longest_cached = 32768;
constexpr std::uint64_t longest_planned = std::uint64_t{1} << 20;
constexpr std::uint32_t reads_per_clock_look = 1024;
constexpr std::size_t most_remembered = 4096;  // lines: 2 MB
constexpr std::uint64_t page_lines = page_bytes / Evidence::line_bytes;
constexpr std::uint64_t widest_gap = 5;

bool is_address(std::uint64_t address, std::uint64_t bytes) {
  return address >= page_bytes && address < highest_address && bytes <= highest_address - address;
}

}  // namespace

void Evidence::add(std::uint64_t address, std::span<const std::byte> bytes) {
  places_.push_back({address, bytes.size()});
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  for (auto line = address / line_bytes; line * line_bytes < address + bytes.size(); ++line) {
    // Mostly it goes on where it was last.
    if (std::find(lines_.rbegin(), lines_.rend(), line) == lines_.rend()) {
      lines_.push_back(line);
    }
  }
}

bool Evidence::all_of(const std::function<bool(const Piece&)>& test) const {
  std::size_t at = 0;
  for (const Place& place : places_) {
    if (!test({place.address, std::span(bytes_).subspan(at, place.bytes)})) {
      return false;
    }
    at += place.bytes;
  }
  return true;
}

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

// Of a pass that has read nothing, what the one before asked for is remembered still.
void MemoryReader::forget() {
  if (!lines_.empty()) {
    asked_before_.clear();
    kept_before_.clear();
    for (const auto& [number, line] : lines_) {
      if (line.asked && line.bytes != nullptr && asked_before_.size() < most_remembered) {
        asked_before_.push_back(number);
      }
      if (line.kept && kept_before_.size() < most_remembered) {
        kept_before_.push_back(number);
      }
    }
    lines_.clear();
  }
  planned_.clear();
  supposed_.clear();
  notes_ = nullptr;
  keeps_ = false;
  used_lines_ = 0;
  last_number_ = 0;
}

void MemoryReader::restart(ReadLimits limits) {
  forget();
  limits_ = limits;
  bytes_ = 0;
  exhausted_ = false;
}

void MemoryReader::prefetch() {
  planned_.insert(planned_.end(), kept_before_.begin(), kept_before_.end());
  fetch();
}

bool MemoryReader::knows(std::uint64_t address, std::uint64_t bytes) const {
  auto number = address / line_bytes;
  while (number <= (address + bytes - 1) / line_bytes && is_known(number)) {
    ++number;
  }
  return number > (address + bytes - 1) / line_bytes;
}

bool MemoryReader::holds(const Evidence::Piece& piece) const {
  auto address = piece.address;
  for (auto bytes = piece.bytes; !bytes.empty();) {
    const std::uint64_t offset = address % line_bytes;
    const auto count = std::min<std::size_t>(bytes.size(), line_bytes - offset);
    const auto known = lines_.find(address / line_bytes);
    if (known == lines_.end() || known->second.bytes == nullptr ||
        std::memcmp(known->second.bytes + offset, bytes.data(), count) != 0) {
      return false;
    }
    address += count;
    bytes = bytes.subspan(count);
  }
  return true;
}

void MemoryReader::suppose(const Evidence& evidence) {
  supposed_.push_back(&evidence);
  for (const std::uint64_t number : evidence.lines()) {
    const auto known = lines_.find(number);
    if (known != lines_.end()) {
      known->second.kept = true;
    } else {
      planned_.push_back(number);
    }
  }
}

bool MemoryReader::confirm() {
  fetch();
  std::sort(supposed_.begin(), supposed_.end());
  supposed_.erase(std::unique(supposed_.begin(), supposed_.end()), supposed_.end());
  const bool stands = std::all_of(supposed_.begin(), supposed_.end(), [this](const auto* evidence) {
    return evidence->all_of([this](const Evidence::Piece& piece) { return holds(piece); });
  });
  supposed_.clear();
  return stands;
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
  planned_.insert(planned_.end(), asked_before_.begin(), asked_before_.end());
  fetch();
}

void MemoryReader::fetch() {
  std::erase_if(planned_, [this](std::uint64_t number) { return is_known(number); });
  fetch_lines(planned_);
  planned_.clear();
}

// Sorted numbers. A piece costs more than a few lines of the page that it lies in.
void MemoryReader::fill_gaps(std::vector<std::uint64_t>& numbers) const {
  if (!process_.may_read_ahead() || lines_.size() + numbers.size() > limits_.lines / 8) {
    return;
  }
  const std::size_t planned = numbers.size();
  for (std::size_t i = 1; i < planned; ++i) {
    const std::uint64_t before = numbers[i - 1], next = numbers[i];
    if (next - before > widest_gap || before / page_lines != next / page_lines) {
      continue;
    }
    for (auto number = before + 1; number < next; ++number) {
      if (!is_known(number)) {
        numbers.push_back(number);
      }
    }
  }
  if (numbers.size() != planned) {
    std::sort(numbers.begin(), numbers.end());
  }
}

void MemoryReader::fetch_lines(std::vector<std::uint64_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  fill_gaps(numbers);
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
      lines_[(piece.address + at) / line_bytes].bytes =
          piece.got ? piece.into.data() + at : nullptr;
    }
  }
}

// Nobody planned it. A page costs the system call that a line costs, and what is read next is
// often beside it; lines that fill the room we have are not worth it.
MemoryReader::Line* MemoryReader::fetch_line(std::uint64_t number) {
  std::vector<std::uint64_t> wanted{number};
  if (process_.may_read_ahead() && lines_.size() < limits_.lines / 4) {
    const std::uint64_t first = number - number % page_lines;
    for (auto other = first; other < first + page_lines; ++other) {
      if (other != number && !is_known(other)) {
        wanted.push_back(other);
      }
    }
  }
  fetch_lines(wanted);
  const auto fetched = lines_.find(number);
  return fetched == lines_.end() ? nullptr : &fetched->second;
}

const MemoryReader::Line* MemoryReader::line(std::uint64_t number) {
  if (number == last_number_) {
    return last_line_;
  }
  const auto known = lines_.find(number);
  Line* line = known != lines_.end() ? &known->second : fetch_line(number);
  if (line != nullptr) {
    line->asked = true;
    line->kept = line->kept || keeps_ || notes_ != nullptr;
  }
  last_number_ = number;
  last_line_ = line;
  return line;
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
  const bool there =
      into.size() > longest_cached ? read_directly(address, into) : read_lines(address, into);
  if (there && notes_ != nullptr) {
    notes_->add(address, into);
  }
  return there;
}

bool MemoryReader::read_lines(std::uint64_t address, std::span<std::byte> into) {
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
