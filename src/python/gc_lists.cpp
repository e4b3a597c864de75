// Each list is a ring through its head, in both directions. Nothing holds the process still, so
// every step is checked: the object that is said to come next must say that this one came before.
// A collection moves objects from list to list and uses the back links for something else; one that
// runs or has run meanwhile is told by the collector's own counters.

#include "python/gc_lists.hpp"

#include "python/layouts.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace tracso::python {
namespace {

// struct _gc_runtime_state has not moved from 3.8 to 3.13, but that later releases of 3.13 do not
// align the generations to eight bytes: they say themselves where theirs are.
constexpr std::array<std::uint32_t, 2> generations_may_be_at = {24, 20};
constexpr std::uint32_t generation_bytes = 24, statistic_bytes = 24;

// Behind the generations: the list of gc.freeze(), counters of collections, whether one runs.
struct Places {
  std::uint32_t frozen = 0, statistics = 0, collecting = 0;
};

constexpr Places until_3_13 = {104, 128, 200}, in_3_14 = {96, 120, 192};
constexpr std::size_t state_bytes = 208;
using State = std::array<std::byte, state_bytes>;

const Places& places_of(const Layout& layout) {
  return layout.minor >= 14 ? in_3_14 : until_3_13;
}

constexpr std::uint32_t gc_head_bytes = 16;  // PyGC_Head, before each object
constexpr std::uint64_t flag_bits = 3;       // of both links
constexpr std::uint64_t most_objects = 50'000'000;
constexpr int tries_for_youngest = 4;

// _PyRuntimeState.gc of 3.8, PyInterpreterState.gc since; 3.13 says itself where.
constexpr std::uint32_t in_runtime_3_8 = 344;
constexpr std::array<std::uint32_t, 4> in_interpreter = {616, 616, 648, 112};  // 3.9 to 3.12
// _Py_DebugOffsets.interpreter_state.gc
constexpr std::uint32_t gc_told_by_3_13 = 80, gc_told_by_3_14 = 88;

// tp_flags, and what lies behind PyObject in a type and in the objects whose size they do not say.
constexpr std::uint64_t is_list = 1U << 25U, is_dict = 1U << 29U, has_managed_dict = 1U << 4U;
constexpr std::uint32_t list_allocated = 16, set_small_table = 48;
constexpr std::string_view set_name{"frozenset", 10};  // with its end; "set" is the end of it
constexpr std::uint64_t managed_bytes = 16;  // a dict and weak references before the object
constexpr std::uint64_t largest_item_count = std::uint64_t{1} << 40U;

struct Links {
  std::uint64_t next = 0, previous = 0;
};

struct TypeFacts {
  std::uint64_t basic = 0, item = 0, flags = 0;
  bool is_set = false;  // set or frozenset, for which there is no flag
};

class Walk {
 public:
  Walk(BlockReader& memory, const Layout& layout, TypeSums& sums)
      : memory_(memory), layout_(layout), sums_(sums) {}

  // false: it changed while it was followed.
  bool follow(std::uint64_t head);

 private:
  const TypeFacts* facts(std::uint64_t type);
  std::uint64_t bytes_of(std::uint64_t object, const TypeFacts& type);
  std::uint64_t table_bytes(std::uint64_t dict);

  std::uint64_t word(std::uint64_t address) {
    return memory_.value<std::uint64_t>(address).value_or(0);
  }

  BlockReader& memory_;
  const Layout& layout_;
  TypeSums& sums_;
  std::unordered_map<std::uint64_t, TypeFacts> types_;
  std::uint64_t objects_ = 0;
};

bool Walk::follow(std::uint64_t head) {
  std::uint64_t at = head;
  auto links = memory_.value<Links>(at);
  while (links && (links->next & ~flag_bits) != head) {
    const std::uint64_t next = links->next & ~flag_bits;
    links = memory_.value<Links>(next);
    if (!links || (links->previous & ~flag_bits) != at || ++objects_ > most_objects) {
      return false;
    }
    at = next;
    const std::uint64_t object = at + gc_head_bytes;
    const std::uint64_t type = word(object + layout_.object.type);
    const TypeFacts* known = facts(type);
    if (known == nullptr) {
      return false;
    }
    TypeSum& sum = sums_[type];
    ++sum.objects;
    sum.bytes += bytes_of(object, *known);
  }
  return links.has_value() && (word(head + sizeof(std::uint64_t)) & ~flag_bits) == at;
}

const TypeFacts* Walk::facts(std::uint64_t type) {
  const auto seen = types_.find(type);
  if (seen != types_.end()) {
    return &seen->second;
  }
  const auto sizes = memory_.value<std::array<std::uint64_t, 2>>(type + layout_.object.bytes +
                                                                 body::type_basicsize);
  const auto flags = memory_.value<std::uint64_t>(type + layout_.object.bytes + body::type_flags);
  constexpr std::uint64_t largest = std::uint64_t{1} << 24U;
  if (type % 8 != 0 || !sizes || !flags || (*sizes)[0] < layout_.object.bytes ||
      (*sizes)[0] > largest || (*sizes)[1] > largest) {
    return nullptr;
  }
  const auto name = memory_.value<std::array<char, set_name.size()>>(
      word(type + layout_.object.bytes + body::type_name));
  const bool is_set = name && (std::equal(name->begin(), name->begin() + 4, set_name.begin() + 6) ||
                               std::equal(name->begin(), name->end(), set_name.begin()));
  return &types_.emplace(type, TypeFacts{(*sizes)[0], (*sizes)[1], *flags, is_set}).first->second;
}

// What a dict has outside of itself: its table, unless others share that (the empty one, and those
// of instances), then until 3.12 the values beside it.
std::uint64_t Walk::table_bytes(std::uint64_t dict) {
  const std::uint64_t keys = word(dict + layout_.object.bytes + body::dict_keys);
  const bool has_values = word(dict + layout_.object.bytes + body::dict_values) != 0;
  std::uint64_t slots = 0, head = 0, entry = 0;
  if (layout_.minor <= 10) {
    slots = word(keys + old_table::slots);
    head = old_table::indices + slots * (slots <= 0xff ? 1 : slots <= 0xffff ? 2 : 4);
    entry = 24;
  } else {
    const auto sizes = memory_.value<std::array<std::uint8_t, 3>>(keys + table::log2_slots);
    if (!sizes || (*sizes)[0] > 40 || (*sizes)[1] > 44) {
      return 0;
    }
    slots = std::uint64_t{1} << (*sizes)[0];
    head = table::indices + (std::uint64_t{1} << (*sizes)[1]);
    entry = (*sizes)[2] == 0 ? 24 : 16;
  }
  const std::uint64_t usable = slots > largest_item_count ? 0 : slots * 2 / 3;
  const std::uint64_t own = word(keys) == 1 ? head + usable * entry : 0;  // its reference count
  return own + (has_values && layout_.minor <= 12 ? usable * 8 : 0);
}

std::uint64_t Walk::bytes_of(std::uint64_t object, const TypeFacts& type) {
  const std::uint64_t body = object + layout_.object.bytes;
  std::uint64_t bytes = gc_head_bytes + type.basic;
  if (type.item != 0) {
    const auto count = static_cast<std::int64_t>(word(body));
    const auto items = static_cast<std::uint64_t>(count < 0 ? -count : count);
    bytes += items > largest_item_count ? 0 : items * type.item;
  }
  if ((type.flags & has_managed_dict) != 0 && layout_.minor >= 11) {
    bytes += managed_bytes;
  }
  if ((type.flags & is_list) != 0) {
    const std::uint64_t items = word(body + list_allocated);
    bytes += items > largest_item_count ? 0 : items * 8;
  }
  if (type.is_set && word(body + set_table) != body + set_small_table) {
    const std::uint64_t slots = word(body + set_mask) + 1;
    bytes += slots > largest_item_count ? 0 : slots * 16;
  }
  return bytes + ((type.flags & is_dict) != 0 ? table_bytes(object) : 0);
}

// How many collections there were, and whether one runs.
struct Collections {
  std::array<std::uint64_t, 3> ended{};
  bool running = false;
  bool operator==(const Collections&) const = default;
};

Collections collections(const State& state, const Places& places) {
  Collections now;
  std::uint32_t running = 0;
  for (std::size_t i = 0; i < now.ended.size(); ++i) {
    std::memcpy(&now.ended[i], state.data() + places.statistics + i * statistic_bytes, 8);
  }
  std::memcpy(&running, state.data() + places.collecting, sizeof running);
  now.running = running != 0;
  return now;
}

// A ring: who comes next says that the head came before.
bool is_ring(BlockReader& memory, std::uint64_t head) {
  const auto links = memory.fresh<Links>(head);
  const auto next = links ? memory.fresh<Links>(links->next & ~flag_bits) : std::nullopt;
  return next && (next->previous & ~flag_bits) == head;
}

// The old generations rest between two collections; the youngest moves with every object.
std::optional<std::uint64_t> first_generation(BlockReader& memory, std::uint64_t gc_state) {
  for (const std::uint32_t at : generations_may_be_at) {
    const std::uint64_t first = gc_state + at;
    if (is_ring(memory, first + generation_bytes) &&
        is_ring(memory, first + 2 * generation_bytes)) {
      return first;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> gc_state_address(BlockReader& memory,
                                              const Layout& layout,
                                              std::uint64_t runtime,
                                              std::uint64_t interpreter) {
  if (layout.free_threaded || layout.minor < 8 || layout.minor > newest_minor) {
    return std::nullopt;
  }
  if (layout.minor == 8) {
    return runtime + in_runtime_3_8;
  }
  if (layout.minor <= 12) {
    return interpreter + in_interpreter[layout.minor - 9];
  }
  const auto told = memory.value<std::uint64_t>(
      runtime + (layout.minor == 13 ? gc_told_by_3_13 : gc_told_by_3_14));
  return told && *told != 0 && *told < largest_offset ? std::optional(interpreter + *told)
                                                      : std::nullopt;
}

WalkState walk_gc_lists(BlockReader& memory,
                        const Layout& layout,
                        std::uint64_t gc_state,
                        TypeSums& into) {
  const Places& places = places_of(layout);
  const auto before = memory.fresh<State>(gc_state);
  const auto first = first_generation(memory, gc_state);
  if (!before || !first || collections(*before, places).running) {
    return WalkState::moved;
  }
  // The youngest first, read at once and if need be again: it changes with every object.
  bool young_whole = false;
  TypeSums young;
  for (int tries = 0; tries < tries_for_youngest && !young_whole; ++tries) {
    memory.forget();
    young.clear();
    young_whole = Walk(memory, layout, young).follow(*first);
  }
  Walk rest(memory, layout, into);
  for (const std::uint64_t list :
       {*first + generation_bytes, *first + 2 * generation_bytes, gc_state + places.frozen}) {
    if (!rest.follow(list)) {
      return WalkState::moved;
    }
  }
  const auto after = memory.fresh<State>(gc_state);
  if (!after || collections(*after, places) != collections(*before, places)) {
    return WalkState::moved;
  }
  for (const auto& [type, sum] : young) {
    into[type].objects += sum.objects;
    into[type].bytes += sum.bytes;
  }
  return young_whole ? WalkState::whole : WalkState::youngest_moved;
}

}  // namespace tracso::python
