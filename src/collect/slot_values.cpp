#include "collect/slot_values.hpp"

#include <algorithm>
#include <cstring>

namespace tracso {
namespace {

// A run of slots with small gaps is read as one piece.
constexpr std::uint64_t largest_gap = 512, longest_run = std::uint64_t{1} << 20U;
// Slots of a thousand libraries take some megabytes; this only stops a hostile file.
constexpr std::uint64_t most_slot_bytes = std::uint64_t{128} << 20U;

struct Run {
  std::size_t object = 0;
  std::uint64_t bias = 0;
  std::size_t first = 0, last = 0;  // of the object's slots; last is one behind
  std::uint64_t start = 0, bytes = 0;
};

void add_runs(const elf::Linkage& table,
              std::size_t object,
              std::uint64_t bias,
              std::vector<Run>& runs) {
  const auto slots = table.slots();
  for (std::size_t first = 0; first < slots.size();) {
    std::size_t last = first + 1;
    while (last < slots.size() && slots[last].address - slots[last - 1].address <= largest_gap &&
           slots[last].address - slots[first].address < longest_run) {
      ++last;
    }
    runs.push_back({object,
                    bias,
                    first,
                    last,
                    slots[first].address + bias,
                    slots[last - 1].address - slots[first].address + table.word()});
    first = last;
  }
}

// In the byte order of this machine, whose processes these are.
std::uint64_t word_at(const std::byte* at, std::uint64_t bytes) {
  if (bytes == sizeof(std::uint32_t)) {
    std::uint32_t narrow = 0;
    std::memcpy(&narrow, at, sizeof narrow);
    return narrow;
  }
  std::uint64_t wide = 0;
  std::memcpy(&wide, at, sizeof wide);
  return wide;
}

class Decoder {
 public:
  Decoder(const Workspace& work, const LinkageSet& set) : work_(work), set_(set) {}

  void decode(const Run& run, std::span<const std::byte> bytes, std::vector<SlotValue>& into) {
    const elf::Linkage& table = *set_.table(run.object);
    const std::uint64_t mask = table.word() == 8 ? ~std::uint64_t{0} : 0xFFFFFFFFU;
    for (std::size_t i = run.first; i < run.last; ++i) {
      const elf::ImportSlot& slot = table.slots()[i];
      const std::uint64_t value =
          word_at(bytes.data() + (slot.address + run.bias - run.start), table.word());
      if (value == 0) {
        continue;
      }
      SlotValue found{run.object, slot, true, std::nullopt, false};
      if (slot.jump && slot.initial != 0 && value == ((slot.initial + run.bias) & mask)) {
        found.bound = false;
      } else {
        locate(value, found);
      }
      into.push_back(found);
    }
  }

 private:
  // Neighbouring slots often lead to one library.
  void locate(std::uint64_t address, SlotValue& found) {
    const auto& mappings = work_.facts.mappings;
    if (last_ >= mappings.size() || address < mappings[last_].start ||
        address >= mappings[last_].end) {
      const auto next = std::upper_bound(
          mappings.begin(), mappings.end(), address, [](std::uint64_t at, const Mapping& mapping) {
            return at < mapping.start;
          });
      if (next == mappings.begin() || std::prev(next)->end <= address) {
        return;
      }
      last_ = static_cast<std::size_t>(std::prev(next) - mappings.begin());
    }
    found.leads = work_.mapped.of_mapping[last_];
    found.to_code = mappings[last_].executable;
  }

  const Workspace& work_;
  const LinkageSet& set_;
  std::size_t last_ = static_cast<std::size_t>(-1);
};

}  // namespace

std::vector<SlotValue> read_slot_values(const Workspace& work, const LinkageSet& set) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (const elf::Linkage* table = set.table(i)) {
      for (const std::uint64_t bias : set.biases(i)) {
        add_runs(*table, i, bias, runs);
      }
    }
  }
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (total + runs[i].bytes > most_slot_bytes) {
      runs.resize(i);
      break;
    }
    total += runs[i].bytes;
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(total));
  std::vector<MemoryRead> pieces;
  std::size_t at = 0;
  for (const Run& run : runs) {
    const auto count = static_cast<std::size_t>(run.bytes);
    pieces.push_back({run.start, std::span(bytes).subspan(at, count), false});
    at += count;
  }
  work.target.process->read_memory(pieces);
  std::vector<SlotValue> values;
  Decoder decoder(work, set);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (pieces[i].got) {
      decoder.decode(runs[i], pieces[i].into, values);
    }
  }
  return values;
}

}  // namespace tracso
