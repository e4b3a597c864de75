#include "loader/link_map_follower.hpp"

#include "proc/maps.hpp"

#include <link.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace tracso::loader {
namespace {

constexpr std::size_t record_words = 8, state_word = 3;
// More at once are seldom; of these all lists are walked, which has an end in any case.
constexpr std::size_t most_new = 4096;
// A path is read at once where it does not go on in another page.
constexpr std::uint64_t page_bytes = 4096, path_bytes = 256;

bool is_same(const RawEntry& a, const RawEntry& b) {
  return a.address == b.address && a.bias == b.bias && a.name == b.name && a.dynamic == b.dynamic;
}

}  // namespace

// One ordinary read tells where glibc keeps its private fields in this process.
bool LinkMapFollower::calibrate(std::uint64_t r_debug) {
  const auto auxv_text = process_.read("auxv");
  const auto maps_text = process_.read("maps");
  if (!auxv_text || !maps_text) {
    return false;
  }
  const auto auxv = proc::parse_auxv(*auxv_text);
  const auto mappings = proc::parse_maps(*maps_text);
  if (!auxv || !mappings) {
    return false;
  }
  const auto maps = read_link_maps(process_, *mappings, *auxv, 1);
  if (!maps || !maps->consistent) {
    return false;
  }
  calibrated_ = true;
  private_word_ = maps->private_word;
  loader_ = maps->loader ? maps->entries[*maps->loader].address : 0;
  if (private_word_ != 0) {  // musl has one namespace
    spaces_ = spaces_variable(process_, elf_class_, r_debug);
  }
  return true;
}

void LinkMapFollower::note_state(std::uint64_t state) {
  const bool adds = state == r_debug::RT_ADD && since_ != Since::anything;
  since_ = adds ? Since::adding : Since::anything;
}

LinkMapFollower::Sight LinkMapFollower::glance(std::uint64_t r_debug,
                                               std::span<const Range> along) {
  problem_.clear();
  SteadyMemory memory(process_, elf_class_);
  std::vector<Range> ranges = {{r_debug, debug_words * memory.word()}};
  if (!known_.empty()) {
    ranges.push_back({known_.back().raw.address, record_words * memory.word()});
    if (spaces_) {
      ranges.push_back(*spaces_);
    }
  }
  const std::size_t own = ranges.size();
  ranges.insert(ranges.end(), along.begin(), along.end());
  auto pieces = memory.bytes_of(ranges);
  along_.assign(std::make_move_iterator(pieces.begin() + static_cast<std::ptrdiff_t>(own)),
                std::make_move_iterator(pieces.end()));
  pieces.resize(own);
  const auto words = [&](std::size_t piece) {
    return piece < pieces.size() ? to_words(pieces[piece], memory.word())
                                 : std::vector<std::uint64_t>();
  };
  seen_ = {r_debug, words(0), words(1), words(2), false, 0, {}, {}};
  if (seen_.debug.empty()) {
    return Sight::at_work;
  }
  const std::uint64_t state = seen_.debug[state_word] & int_part;
  const auto stamp = static_cast<std::uint32_t>(seen_.debug[state_word] >> 32U);
  if (stamped_ && std::exchange(stamp_, stamp) != stamp) {
    note_state(r_debug::RT_ADD);
  }
  if (state != r_debug::RT_CONSISTENT) {
    note_state(state);
    return Sight::at_work;
  }
  if (!calibrated_ && !calibrate(r_debug)) {
    return Sight::at_work;
  }
  seen_.grown = has_only_grown() && (count_end() || walk_end(memory, most_new));
  return seen_.grown ? Sight::grown : Sight::changed;
}

std::optional<LinkMapChange> LinkMapFollower::take() {
  SteadyMemory memory(process_, elf_class_);
  const bool grown = seen_.grown && (seen_.ahead == 0 || walk_end(memory, seen_.ahead));
  auto change = grown ? std::optional(take_end(memory)) : look_at_all(memory);
  counts_ = change && loader_count() == known_.size();
  since_ = change ? Since::nothing : Since::anything;
  return change;
}

std::optional<LinkMapChange> LinkMapFollower::look(std::uint64_t r_debug) {
  return glance(r_debug) == Sight::at_work ? std::nullopt : take();
}

// One list, and it was not touched but at its end.
bool LinkMapFollower::has_only_grown() const {
  if (since_ != Since::adding || known_.empty() || known_.back().raw.space != 0 ||
      (seen_.debug[0] & int_part) != 1 || seen_.last.empty()) {
    return false;
  }
  const RawEntry& last = known_.back().raw;
  return seen_.last[0] == last.bias && seen_.last[1] == last.name &&
         seen_.last[2] == last.dynamic && (private_word_ == 0 || (spaces_ && !has_spaces()));
}

// ld.so's variable begins with the first namespace, and that with its first record and how many
// there are: struct link_namespaces of sysdeps/generic/ldsodefs.h.
std::optional<std::size_t> LinkMapFollower::loader_count() const {
  const auto& variable = seen_.variable;
  const bool counts = variable.size() > 1 && variable[0] == seen_.debug[1];
  return counts ? std::optional<std::size_t>(variable[1] & int_part) : std::nullopt;
}

// Where that count has been right, the records need not be looked at before the thread runs on. But
// then it has to be known how many they are: glibc links the first object of its next change before
// it tells of that change.
bool LinkMapFollower::count_end() {
  const auto count = counts_ ? loader_count() : std::nullopt;
  if (!count || *count < known_.size() || *count - known_.size() > most_new) {
    return false;
  }
  seen_.ahead = *count - known_.size();
  return (seen_.ahead == 0) == (first_new() == 0);
}

// The records behind the last known one: all that there are, or so many.
bool LinkMapFollower::walk_end(SteadyMemory& memory, std::size_t most) {
  for (std::uint64_t at = first_new(); at != 0 && seen_.came.size() < most;) {
    std::vector<Range> ranges = {{at, record_words * memory.word()}};
    if (private_word_ != 0) {
      ranges.push_back(private_tail(at, private_word_, memory.word()));
    }
    auto pieces = memory.bytes_of(ranges);
    const auto word = to_words(pieces[0], memory.word());
    if (word.empty()) {
      return false;
    }
    const RawEntry entry{at, 0, word[0], word[1], word[2], word[5], word[6], word[7]};
    seen_.came.push_back({entry, "", private_word_ != 0 && entry.real != at});
    seen_.tails.push_back(private_word_ != 0 ? std::move(pieces[1]) : "");
    at = word[next_word];
  }
  return seen_.came.size() < most_new && (seen_.ahead == 0 || seen_.came.size() == seen_.ahead);
}

// Some that the first one's r_debug does not lead to, or what tells of them could not be read.
bool LinkMapFollower::has_spaces() const {
  const std::size_t word = elf_class_ == ElfClass::elf32 ? 4 : 8;
  return seen_.variable.empty() ||
         !spaces_in(seen_.variable, spaces_->address, seen_.debug, word).empty();
}

LinkMapChange LinkMapFollower::take_end(SteadyMemory& memory) {
  std::vector<std::size_t> fresh;
  for (Known& known : seen_.came) {
    fresh.push_back(known_.size());
    known_.push_back(std::move(known));
  }
  seen_.came.clear();
  seen_.grown = false;
  LinkMapChange change;
  change.came = take_new(memory, fresh, std::exchange(seen_.tails, {}));
  return change;
}

std::optional<LinkMapChange> LinkMapFollower::look_at_all(SteadyMemory& memory) {
  std::vector<std::uint64_t> r_debugs = {seen_.r_debug};
  if (spaces_) {
    const auto words = memory.peek(spaces_->address, spaces_->bytes / memory.word());
    const auto others = spaces_in(words, spaces_->address, seen_.debug, memory.word());
    r_debugs.insert(r_debugs.end(), others.begin(), others.end());
  }
  if (!loader_at_work(memory, r_debugs).empty()) {
    return std::nullopt;
  }
  std::vector<std::uint64_t> expected;
  for (const Known& known : known_) {
    expected.push_back(known.raw.address);
  }
  RawMaps raw = walk_link_maps(memory, r_debugs, expected);
  if (!raw.problem.empty()) {
    problem_ = raw.problem;
    return std::nullopt;
  }
  LinkMapChange change;
  std::unordered_map<std::uint64_t, std::size_t> before;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    before[known_[i].raw.address] = i;
  }
  std::vector<Known> now;
  std::vector<std::size_t> fresh;
  for (const RawEntry& entry : raw.entries) {
    const auto old = before.find(entry.address);
    if (old != before.end() && is_same(known_[old->second].raw, entry)) {
      now.push_back(std::move(known_[old->second]));
      before.erase(old);
    } else {
      fresh.push_back(now.size());
      now.push_back({entry, "", private_word_ != 0 && entry.real != entry.address});
    }
  }
  for (const auto& [address, place] : before) {
    if (!known_[place].proxy) {
      change.gone.push_back(address);
    }
  }
  known_ = std::move(now);
  change.came = take_new(memory, fresh, {});
  return change;
}

std::vector<NewObject> LinkMapFollower::take_new(SteadyMemory& memory,
                                                 std::span<const std::size_t> fresh,
                                                 std::vector<std::string> tails) {
  if (fresh.empty()) {
    return {};
  }
  read_names(memory, fresh);
  if (tails.empty() && private_word_ != 0) {
    std::vector<Range> ranges;
    for (const std::size_t place : fresh) {
      ranges.push_back(private_tail(known_[place].raw.address, private_word_, memory.word()));
    }
    tails = memory.bytes_of(ranges);
  }
  std::vector<NewObject> objects;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const Known& known = known_[fresh[i]];
    if (known.proxy) {
      continue;
    }
    objects.push_back({known.raw.address,
                       known.name,
                       known.raw.bias,
                       known.raw.dynamic,
                       static_cast<std::int64_t>(known.raw.space),
                       0,
                       LinkMapEntry::Start::unknown});
    if (private_word_ != 0) {
      take_private(fresh[i], tails[i], objects.back());
    }
  }
  if (private_word_ == 0) {
    find_who_needs(objects);
  }
  return objects;
}

void LinkMapFollower::read_names(SteadyMemory& memory, std::span<const std::size_t> fresh) {
  std::vector<Range> ranges;
  for (const std::size_t place : fresh) {
    const std::uint64_t name = known_[place].raw.name;
    const std::uint64_t to_page_end = page_bytes - name % page_bytes;
    ranges.push_back({name, static_cast<std::size_t>(std::min(path_bytes, to_page_end))});
  }
  const auto starts = memory.bytes_of(ranges);
  std::vector<TextWish> wishes;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    wishes.push_back({known_[fresh[i]].raw.name, starts[i], {}});
  }
  auto names = memory.texts_of(wishes);
  for (std::size_t i = 0; i < names.size(); ++i) {
    known_[fresh[i]].name = std::move(names[i]).value_or("");
  }
}

void LinkMapFollower::take_private(std::size_t place,
                                   std::string_view tail,
                                   NewObject& object) const {
  object.space = static_cast<std::int64_t>(known_[place].raw.lmid);
  if (const auto fields = parse_private_tail(tail, elf_class_ == ElfClass::elf32 ? 4 : 8)) {
    const auto requester = std::find_if(known_.begin(), known_.end(), [&](const Known& known) {
      return known.raw.address == fields->requester;
    });
    object.requester = requester == known_.end() ? 0 : requester->raw.dynamic;
    object.start = fields->start;
  }
}

// musl records no requester that could be found safely: the first object, in load order, that needs
// it is the one, for dependencies are loaded breadth first.
void LinkMapFollower::find_who_needs(std::vector<NewObject>& objects) const {
  LinkMaps maps;
  maps.elf_class = elf_class_;
  for (const Known& known : known_) {
    LinkMapEntry entry;
    entry.address = known.raw.address;
    entry.name = known.name;
    entry.bias = known.raw.bias;
    entry.dynamic = known.raw.dynamic;
    entry.position = maps.entries.size();
    if (known.raw.address == loader_) {
      maps.loader = maps.entries.size();
    }
    maps.entries.push_back(std::move(entry));
  }
  const auto sections = read_dynamic_sections(process_, maps);
  for (const NeededMatch& match : match_needed(maps, sections, "")) {
    if (!match.target || *match.target == match.requester) {
      continue;
    }
    const auto target = std::find_if(objects.begin(), objects.end(), [&](const NewObject& object) {
      return object.record == maps.entries[*match.target].address;
    });
    if (target != objects.end() && target->requester == 0) {
      target->requester = maps.entries[match.requester].dynamic;
    }
  }
}

}  // namespace tracso::loader
