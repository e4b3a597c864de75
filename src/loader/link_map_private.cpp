// What glibc keeps behind the public part of a link map (include/link.h). The fields have stood in
// the same order from glibc 2.17 to 2.43, but an array of changing length lies before them:
//
//   l_addr l_name l_ld l_next l_prev  l_real l_ns l_libname  l_info[...]
//   l_phdr l_entry l_phnum+l_ldnum  l_searchlist(2) l_symbolic_searchlist(2)  l_loader
//   l_versions  l_nversions l_nbuckets l_gnu_bitmask_idxbits l_gnu_shift (4 bytes each)
//   l_gnu_bitmask l_gnu_buckets l_gnu_chain_zero  l_direct_opencount (4 bytes)  l_type (2 bits)
//
// The length is found in each process anew: the record of the program holds its AT_PHDR, AT_ENTRY
// and AT_PHNUM side by side. Then every record must make sense, or none is believed.

#include "base/byte_view.hpp"
#include "loader/link_map_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

namespace tracso::loader {
namespace {

constexpr std::size_t most_namespaces = 16;      // DL_NNS
constexpr std::uint32_t most_opens = 1U << 24U;  // of one object, at once
constexpr std::size_t most_names = 64;           // one object is requested by
constexpr std::size_t first_info = 8;            // words before l_info

/// Where l_loader lies: 7 words behind l_phdr, of which l_phnum and l_ldnum take one.
constexpr std::size_t loader_word = 7;

/// From l_loader to the end of the bit-field that starts with l_type.
std::size_t tail_bytes(std::size_t word) {
  return 5 * word + std::size_t{4} * 4 + 8;
}

using IndexOf = std::unordered_map<std::uint64_t, std::size_t>;

/// The word at which l_phdr stands in the program's record.
std::optional<std::size_t> find_mark(const SteadyMemory& memory,
                                     std::uint64_t record,
                                     std::span<const ProgramMark> marks) {
  // 85 to 92 words on x86 and ARM, some more on MIPS. The record itself ends not long after.
  std::vector<std::uint64_t> words;
  for (const std::size_t count : {160U, 128U, 96U}) {
    words = memory.peek(record, count);
    if (!words.empty()) {
      break;
    }
  }
  for (std::size_t i = first_info; i + 2 < words.size(); ++i) {
    for (const auto& mark : marks) {
      if (mark.phdr != 0 && words[i] == mark.phdr && words[i + 1] == mark.entry &&
          (words[i + 2] & 0xffffU) == mark.phnum) {
        return i;
      }
    }
  }
  return std::nullopt;
}

/// The fields of one record from l_loader on; the objection, or empty.
std::string take_tail(const std::string& bytes,
                      std::size_t word,
                      const IndexOf& index_of,
                      LinkMapEntry& entry) {
  const auto tail = parse_private_tail(bytes, word);
  if (!tail) {
    return "its record is cut short";
  }
  if (tail->requester != 0) {
    const auto found = index_of.find(tail->requester);
    if (found == index_of.end()) {
      return "the object that requested it is not in the list";
    }
    entry.requester = found->second;
  }
  entry.direct_opens = tail->direct_opens;
  if (entry.direct_opens > most_opens) {
    return "its count of dlopen calls is beyond belief";
  }
  entry.start = tail->start;
  return entry.start == LinkMapEntry::Start::unknown ? "it is of no known type" : "";
}

/// l_real and l_ns; the objection, or empty.
std::string take_head(const RawEntry& raw, const IndexOf& index_of, LinkMapEntry& entry) {
  if (index_of.count(raw.real) == 0) {
    return "its l_real is not in the list";
  }
  if (raw.lmid >= most_namespaces) {
    return "its namespace is out of range";
  }
  entry.proxy = raw.real != raw.address;
  entry.space = static_cast<std::size_t>(raw.lmid);
  return "";
}

std::string take_tails(SteadyMemory& memory,
                       const RawMaps& raw,
                       std::size_t phdr_word,
                       const IndexOf& index_of,
                       LinkMaps& maps) {
  std::vector<Range> ranges;
  for (const auto& entry : raw.entries) {
    ranges.push_back(private_tail(entry.address, phdr_word, memory.word()));
  }
  const auto tails = memory.bytes_of(ranges);
  for (std::size_t i = 0; i < tails.size(); ++i) {
    std::string objection = take_head(raw.entries[i], index_of, maps.entries[i]);
    if (objection.empty()) {
      objection = take_tail(tails[i], memory.word(), index_of, maps.entries[i]);
    }
    if (!objection.empty()) {
      return fmt::format("object {}: {}", i, objection);
    }
  }
  const bool first_is_program = maps.entries.front().start == LinkMapEntry::Start::program;
  return first_is_program ? "" : "the first object is not the program";
}

/// The l_libname list of one record, as far as it has been followed.
struct NameList {
  std::size_t entry = 0;
  std::uint64_t next = 0;
};

/// struct libname_list is two pointers and an int, and in the same block the text. The piece ends
/// where the first step of the text does.
Range node_range(std::uint64_t node, std::size_t word) {
  const std::uint64_t text = node + 3 * word;
  return {node, static_cast<std::size_t>(text - text % 16 + 16 - node)};
}

/// Follows all lists in step, one node of each per round. `names` and `owners` stand beside each
/// other.
std::string follow_lists(SteadyMemory& memory,
                         std::vector<NameList> lists,
                         std::vector<TextWish>& names,
                         std::vector<std::size_t>& owners) {
  const std::size_t word = memory.word();
  for (std::size_t round = 0;; ++round) {
    std::erase_if(lists, [](const NameList& list) { return list.next == 0; });
    if (lists.empty()) {
      return "";
    }
    std::vector<Range> ranges;
    for (const auto& list : lists) {
      ranges.push_back(node_range(list.next, word));
    }
    const auto nodes = memory.bytes_of(ranges);
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (nodes[i].empty() || round == most_names) {
        return fmt::format("object {}: its list of names is damaged", lists[i].entry);
      }
      const auto pointers = to_words(nodes[i], word);  // name, next
      const bool text_follows = pointers[0] == lists[i].next + 3 * word;
      names.push_back({pointers[0], text_follows ? nodes[i].substr(3 * word) : "", {}});
      owners.push_back(lists[i].entry);
      lists[i].next = pointers[1];
    }
  }
}

std::string take_names(SteadyMemory& memory, const RawMaps& raw, LinkMaps& maps) {
  std::vector<NameList> lists;
  for (std::size_t i = 0; i < raw.entries.size(); ++i) {
    lists.push_back({i, raw.entries[i].names});
  }
  std::vector<TextWish> wishes;
  std::vector<std::size_t> owners;
  if (auto problem = follow_lists(memory, std::move(lists), wishes, owners); !problem.empty()) {
    return problem;
  }
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    wishes[i].guess = maps.entries[owners[i]].name;  // an object that was dlopened by its path
  }
  auto names = memory.texts_of(wishes);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i]) {
      return fmt::format("object {}: one of its names is unreadable", owners[i]);
    }
    maps.entries[owners[i]].requested.push_back(std::move(*names[i]));
  }
  return "";
}

void forget_private_fields(const RawMaps& raw, LinkMaps& maps) {
  for (std::size_t i = 0; i < maps.entries.size(); ++i) {
    auto& entry = maps.entries[i];
    entry.requested.clear();
    entry.requester.reset();
    entry.start = LinkMapEntry::Start::unknown;
    entry.direct_opens = 0;
    entry.proxy = false;
    entry.space = raw.entries[i].space;
  }
}

}  // namespace

Range private_tail(std::uint64_t record, std::size_t private_word, std::size_t word) {
  return {record + (private_word + loader_word) * word, tail_bytes(word)};
}

std::optional<PrivateTail> parse_private_tail(std::string_view bytes, std::size_t word) {
  if (bytes.size() < tail_bytes(word)) {
    return std::nullopt;
  }
  const ByteView view(bytes);
  PrivateTail tail;
  tail.requester =
      word == 4 ? view.get<std::uint32_t>(0).value_or(0) : view.get<std::uint64_t>(0).value_or(0);
  const std::size_t opens_at = 5 * word + std::size_t{4} * 4;
  tail.direct_opens = view.get<std::uint32_t>(opens_at).value_or(0);
  using Start = LinkMapEntry::Start;
  constexpr std::array<Start, 4> types = {
      Start::program, Start::startup, Start::dlopened, Start::unknown};
  tail.start = types[view.get<std::uint32_t>(opens_at + 4).value_or(0) & 3U];
  return tail;
}

void fill_private_fields(SteadyMemory& memory,
                         const RawMaps& raw,
                         std::span<const ProgramMark> marks,
                         LinkMaps& maps) {
  const auto mark = find_mark(memory, raw.entries.front().address, marks);
  if (!mark) {
    maps.private_reason = "the program's record does not look like one of glibc";
    return;
  }
  IndexOf index_of;
  for (std::size_t i = 0; i < raw.entries.size(); ++i) {
    index_of.emplace(raw.entries[i].address, i);
  }
  maps.private_reason = take_tails(memory, raw, *mark, index_of, maps);
  if (maps.private_reason.empty()) {
    maps.private_reason = take_names(memory, raw, maps);
  }
  maps.private_fields = maps.private_reason.empty();
  maps.private_word = maps.private_fields ? *mark : 0;
  if (!maps.private_fields) {
    forget_private_fields(raw, maps);
  }
}

}  // namespace tracso::loader
