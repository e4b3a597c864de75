#include "loader/link_map_memory.hpp"

#include "base/byte_view.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tracso::loader {
namespace {

constexpr std::size_t longest_text = 4096;
constexpr std::size_t most_text_bytes = std::size_t{4} << 20U;
// malloc hands out multiples of 16 bytes: a text and the end of its last 16 bytes are one block.
constexpr std::size_t text_step = 16;
constexpr std::size_t convincing = 8;  // bytes of a guess that must be right before it is followed

std::uint64_t step_end(std::uint64_t address) {
  return address - address % text_step + text_step;
}

/// The next piece of a text of which `known` bytes are known.
Range next_piece(const TextWish& wish, std::string_view known) {
  const std::uint64_t at = wish.address + known.size();
  std::uint64_t end = step_end(at);
  const std::size_t length = wish.guess.size();
  if (known.size() >= convincing && wish.guess.substr(0, known.size()) == known) {
    // No byte behind the guessed length, in case the text is a little shorter.
    end = std::max(end, wish.address + length - (wish.address + length) % text_step);
  }
  return {at, static_cast<std::size_t>(end - at)};
}

}  // namespace

std::vector<std::uint64_t> to_words(std::string_view bytes, std::size_t word) {
  const ByteView view(bytes);
  std::vector<std::uint64_t> values;
  if (word == sizeof(std::uint64_t)) {
    values.resize(bytes.size() / word);
    if (!values.empty()) {
      std::memcpy(values.data(), bytes.data(), values.size() * word);
    }
    return values;
  }
  values.reserve(bytes.size() / word);
  for (std::size_t at = 0; at + word <= bytes.size(); at += word) {
    values.push_back(view.get<std::uint32_t>(at).value_or(0));
  }
  return values;
}

std::vector<std::string_view> SteadyMemory::read(std::span<const Range> ranges) {
  std::size_t total = 0;
  for (const auto& range : ranges) {
    total += range.bytes;
  }
  std::size_t offset = seen_bytes_.size();
  seen_bytes_.resize(offset + total);
  std::vector<MemoryRead> reads;
  reads.reserve(ranges.size());
  for (const auto& range : ranges) {
    const auto into = std::span(seen_bytes_).subspan(offset, range.bytes);
    reads.push_back({range.address, std::as_writable_bytes(into), false});
    offset += range.bytes;
  }
  process_.read_memory(reads);
  std::vector<std::string_view> answers;
  offset = seen_bytes_.size() - total;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    auto& answer = answers.emplace_back();
    if (reads[i].got) {
      answer = std::string_view(seen_bytes_).substr(offset, ranges[i].bytes);
      seen_.push_back({ranges[i], offset});
    }
    offset += ranges[i].bytes;
  }
  return answers;
}

// Neighbouring pieces are read again as one: the second look is the quicker the fewer they are.
bool SteadyMemory::unchanged() const {
  std::vector<Seen> sorted = seen_;
  std::sort(sorted.begin(), sorted.end(), [](const Seen& a, const Seen& b) {
    return a.range.address < b.range.address;
  });
  std::vector<Range> joined;
  std::size_t total = 0;
  for (const auto& seen : sorted) {
    if (joined.empty() || joined.back().address + joined.back().bytes != seen.range.address) {
      joined.push_back({seen.range.address, 0});
    }
    joined.back().bytes += seen.range.bytes;
    total += seen.range.bytes;
  }
  std::string now(total, '\0');
  std::vector<MemoryRead> reads;
  std::size_t offset = 0;
  for (const auto& range : joined) {
    const auto into = std::span(now).subspan(offset, range.bytes);
    reads.push_back({range.address, std::as_writable_bytes(into), false});
    offset += range.bytes;
  }
  process_.read_memory(reads);
  const bool all =
      std::all_of(reads.begin(), reads.end(), [](const auto& read) { return read.got; });
  std::string before;
  for (const auto& seen : sorted) {
    before.append(seen_bytes_, seen.offset, seen.range.bytes);
  }
  return all && now == before;
}

std::vector<std::uint64_t> SteadyMemory::words(std::uint64_t address, std::size_t count) {
  const Range range{address, count * word_};
  return to_words(read(std::span(&range, 1)).front(), word_);
}

std::vector<std::uint64_t> SteadyMemory::peek(std::uint64_t address, std::size_t count) const {
  std::string bytes(count * word_, '\0');
  if (!process_.read_memory(address, std::as_writable_bytes(std::span(bytes)))) {
    return {};
  }
  return to_words(bytes, word_);
}

std::vector<std::string> SteadyMemory::bytes_of(std::span<const Range> ranges) {
  const auto answers = read(ranges);
  return {answers.begin(), answers.end()};
}

std::vector<std::optional<std::string>> SteadyMemory::texts_of(std::span<const TextWish> wishes) {
  std::vector<std::optional<std::string>> texts;
  std::vector<std::size_t> open;  // texts whose end is not read yet
  std::size_t total = 0;
  for (const auto& wish : wishes) {
    const std::size_t end = wish.start.find('\0');
    texts.emplace_back(wish.start.substr(0, end));
    if (end == std::string::npos) {
      open.push_back(texts.size() - 1);
    }
  }
  while (!open.empty()) {
    std::vector<Range> ranges;
    for (const std::size_t i : open) {
      ranges.push_back(next_piece(wishes[i], *texts[i]));
    }
    const auto answers = read(ranges);
    std::vector<std::size_t> unfinished;
    for (std::size_t k = 0; k < open.size(); ++k) {
      auto& text = texts[open[k]];
      const std::size_t end = answers[k].find('\0');
      text->append(answers[k].substr(0, end));
      total += answers[k].size();
      if (answers[k].empty() || text->size() > longest_text || total > most_text_bytes) {
        text = std::nullopt;
      } else if (end == std::string::npos) {
        unfinished.push_back(open[k]);
      }
    }
    open = std::move(unfinished);
  }
  return texts;
}

}  // namespace tracso::loader
