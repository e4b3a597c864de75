#include "loader/link_map_follower.hpp"

#include "proc/maps.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace tracso::loader {
namespace {

bool is_same(const RawEntry& a, const RawEntry& b) {
  return a.address == b.address && a.bias == b.bias && a.name == b.name && a.dynamic == b.dynamic;
}

}  // namespace

// One ordinary read tells where glibc keeps its private fields in this process.
bool LinkMapFollower::calibrate() {
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
  return true;
}

std::vector<std::uint64_t> LinkMapFollower::all_r_debugs(std::uint64_t r_debug) const {
  std::vector<std::uint64_t> all = {r_debug};
  if (private_word_ != 0) {  // musl has one namespace
    const auto others = unchained_spaces(process_, elf_class_, r_debug);
    all.insert(all.end(), others.begin(), others.end());
  }
  return all;
}

std::optional<LinkMapChange> LinkMapFollower::look(std::uint64_t r_debug) {
  problem_.clear();
  SteadyMemory memory(process_, elf_class_);
  const std::uint64_t base[] = {r_debug};
  if (!loader_at_work(memory, base).empty() || (!calibrated_ && !calibrate())) {
    return std::nullopt;
  }
  const auto r_debugs = all_r_debugs(r_debug);
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
  change.came = take_new(memory, fresh);
  return change;
}

std::vector<NewObject> LinkMapFollower::take_new(SteadyMemory& memory,
                                                 std::span<const std::size_t> fresh) {
  if (fresh.empty()) {
    return {};
  }
  read_names(memory, fresh);
  std::vector<NewObject> objects;
  std::vector<std::size_t> places;
  for (const std::size_t place : fresh) {
    const Known& known = known_[place];
    if (!known.proxy) {
      objects.push_back({known.raw.address,
                         known.name,
                         known.raw.bias,
                         known.raw.dynamic,
                         static_cast<std::int64_t>(known.raw.space),
                         0,
                         LinkMapEntry::Start::unknown});
      places.push_back(place);
    }
  }
  if (private_word_ != 0) {
    read_private(memory, places, objects);
  } else {
    find_who_needs(objects);
  }
  return objects;
}

void LinkMapFollower::read_names(SteadyMemory& memory, std::span<const std::size_t> fresh) {
  std::vector<TextWish> wishes;
  for (const std::size_t place : fresh) {
    wishes.push_back({known_[place].raw.name, "", {}});
  }
  auto names = memory.texts_of(wishes);
  for (std::size_t i = 0; i < names.size(); ++i) {
    known_[fresh[i]].name = std::move(names[i]).value_or("");
  }
}

void LinkMapFollower::read_private(SteadyMemory& memory,
                                   std::span<const std::size_t> fresh,
                                   std::vector<NewObject>& objects) {
  std::unordered_map<std::uint64_t, std::uint64_t> dynamic_of;
  for (const Known& known : known_) {
    dynamic_of[known.raw.address] = known.raw.dynamic;
  }
  std::vector<Range> ranges;
  for (const NewObject& object : objects) {
    ranges.push_back(private_tail(object.record, private_word_, memory.word()));
  }
  const auto tails = memory.bytes_of(ranges);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    objects[i].space = static_cast<std::int64_t>(known_[fresh[i]].raw.lmid);
    if (const auto tail = parse_private_tail(tails[i], memory.word())) {
      const auto requester = dynamic_of.find(tail->requester);
      objects[i].requester = requester == dynamic_of.end() ? 0 : requester->second;
      objects[i].start = tail->start;
    }
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
