// dict (Objects/dictobject.c): the whole table, or one value by CPython's own open addressing.
// By hash a module costs about four lines of memory instead of the twenty its dict may have.

#include "python/memory_objects.hpp"

#include <bit>
#include <string_view>

namespace tracso::python {
namespace {

constexpr std::uint64_t is_dict_flag = std::uint64_t{1} << 29;
constexpr std::uint64_t dict_head_bytes = 64, keys_head_bytes = 40;
constexpr std::uint64_t short_text_bytes = 72;  // head of a str and the characters of a short one

constexpr std::uint64_t most_entries = std::uint64_t{1} << 20;
constexpr std::uint64_t most_slots = std::uint64_t{1} << 26;
constexpr int most_probes = 256;
constexpr std::int64_t empty_slot = -1;

constexpr std::array<std::string_view, name_count> texts_of_names = {"",
                                                                     "__file__",
                                                                     "__spec__",
                                                                     "origin",
                                                                     "hexversion",
                                                                     "modules",
                                                                     "__name__",
                                                                     "name",
                                                                     "asyncio.tasks",
                                                                     "_all_tasks",
                                                                     "_scheduled_tasks",
                                                                     "_eager_tasks",
                                                                     "data",
                                                                     "_thread_id",
                                                                     "greenlet",
                                                                     "__module__",
                                                                     "threading",
                                                                     "_active",
                                                                     "_name"};

}  // namespace

Name Objects::name_of(std::uint64_t key) {
  const auto seen = names_.find(key);
  if (seen != names_.end()) {
    return seen->second;
  }
  Name name = Name::other;
  // The length first: most keys are other names and need no reading of their characters.
  const auto length = memory_.value<std::uint64_t>(key + layout_.object.bytes).value_or(0);
  for (std::size_t i = 1; i < name_count; ++i) {
    if (texts_of_names[i].size() == length && text(key) == texts_of_names[i]) {
      name = static_cast<Name>(i);
    }
  }
  names_[key] = name;
  return name;
}

std::optional<Objects::Dict> Objects::dict_at(std::uint64_t address) {
  const auto type = type_of(address);
  if (type == 0 || (flags(type) & is_dict_flag) == 0) {
    return std::nullopt;
  }
  const auto used = memory_.value<std::uint64_t>(address + layout_.object.bytes + body::dict_used);
  const auto keys = memory_.pointer(address + layout_.object.bytes + body::dict_keys);
  const auto values =
      memory_.value<std::uint64_t>(address + layout_.object.bytes + body::dict_values);
  if (!used || keys == 0 || !values) {
    return std::nullopt;
  }
  const std::uint64_t head = *values != 0 && layout_.minor >= 13 ? value_array::first : 0;
  return Dict{*used, keys, *values + head};
}

std::optional<DictKeys> Objects::old_keys_at(std::uint64_t address) {
  const auto slots = memory_.pointer(address + old_table::slots);
  const auto count = memory_.value<std::uint64_t>(address + old_table::count);
  if (!std::has_single_bit(slots) || slots > most_slots || !count || *count > slots) {
    return std::nullopt;
  }
  DictKeys keys;
  keys.indices = address + old_table::indices;
  keys.slots = slots;
  keys.count = *count;
  keys.index_bytes = slots <= 0xff ? 1 : slots <= 0xffff ? 2 : 4;
  keys.entry_bytes = 24;
  keys.entries = keys.indices + slots * keys.index_bytes;
  return keys;
}

// Since 3.11 a table of kind 0 has any keys and their hashes; 1 and 2 have only str.
std::optional<DictKeys> Objects::keys_at(std::uint64_t address) {
  if (address % 8 != 0) {
    return std::nullopt;
  }
  if (layout_.minor <= 10) {
    return old_keys_at(address);
  }
  const auto head = memory_.value<std::array<std::uint8_t, 3>>(address + table::log2_slots);
  const auto count = memory_.value<std::uint64_t>(address + table::count);
  if (!head || !count) {
    return std::nullopt;
  }
  const auto [log2_slots, log2_index_bytes, kind] = *head;
  if (log2_slots > 26 || log2_index_bytes < log2_slots || log2_index_bytes - log2_slots > 3 ||
      kind > 2 || *count > std::uint64_t{1} << log2_slots) {
    return std::nullopt;
  }
  DictKeys keys;
  keys.indices = address + table::indices;
  keys.slots = std::uint64_t{1} << log2_slots;
  keys.count = *count;
  keys.index_bytes = 1U << static_cast<unsigned>(log2_index_bytes - log2_slots);
  keys.entry_bytes = kind == 0 ? 24 : 16;
  keys.entries = keys.indices + (std::uint64_t{1} << log2_index_bytes);
  return keys;
}

std::optional<std::uint64_t> Objects::table_entries(std::uint64_t dict) {
  const auto head = dict_at(dict);
  const auto keys = head ? keys_at(head->keys) : std::nullopt;
  return keys ? std::optional(keys->count) : std::nullopt;
}

std::optional<std::vector<DictEntry>> Objects::entries(std::uint64_t dict, Count count) {
  const auto head = dict_at(dict);
  return head ? entries_of(*head, count) : std::nullopt;
}

std::optional<std::vector<DictEntry>> Objects::entries_of(const Dict& dict, Count count) {
  const auto keys = keys_at(dict.keys);
  if (!keys || keys->count > most_entries) {
    return std::nullopt;
  }
  const std::size_t words = keys->entry_bytes / 8;
  std::vector<std::uint64_t> table(static_cast<std::size_t>(keys->count) * words);
  std::vector<std::uint64_t> values(dict.values == 0 ? 0 : static_cast<std::size_t>(keys->count));
  if (!table.empty() && !memory_.read(keys->entries, std::as_writable_bytes(std::span(table)))) {
    return std::nullopt;
  }
  if (!values.empty() && !memory_.read(dict.values, std::as_writable_bytes(std::span(values)))) {
    return std::nullopt;
  }
  std::vector<DictEntry> found;
  found.reserve(static_cast<std::size_t>(keys->count));
  for (std::size_t i = 0; i < keys->count; ++i) {
    const auto key = table[i * words + words - 2];
    const auto value = values.empty() ? table[i * words + words - 1] : values[i];
    if (key != 0 && value != 0) {
      found.push_back({key, value});
    }
  }
  // While a thread lets the table grow, the new one is in place before it is filled.
  return count == Count::any || found.size() == dict.used ? std::optional(std::move(found))
                                                          : std::nullopt;
}

// One by one the keys of a dict would cost a system call each.
void Objects::fetch_names(const std::vector<DictEntry>& entries) {
  for (const auto& entry : entries) {
    if (names_.count(entry.key) == 0) {
      memory_.plan(entry.key, short_text_bytes);
    }
  }
  memory_.fetch();
}

bool Objects::learn(const std::vector<DictEntry>& entries, std::span<const Name> wanted) {
  fetch_names(entries);
  for (const auto& entry : entries) {
    const auto name = name_of(entry.key);
    auto& known_key = known_[static_cast<std::size_t>(name)];
    if (name != Name::other && known_key.address == 0) {
      known_key.hash = memory_.pointer(entry.key + layout_.object.bytes + body::text_hash);
      known_key.address = entry.key;
    }
  }
  for (const auto name : wanted) {
    if (known(name).address == 0) {
      return false;
    }
  }
  return true;
}

std::optional<std::int64_t> Objects::index_at(const DictKeys& keys, std::uint64_t slot) {
  const auto address = keys.indices + slot * keys.index_bytes;
  switch (keys.index_bytes) {
    case 1:
      return memory_.value<std::int8_t>(address);
    case 2:
      return memory_.value<std::int16_t>(address);
    case 4:
      return memory_.value<std::int32_t>(address);
    default:
      return memory_.value<std::int64_t>(address);
  }
}

std::uint64_t Objects::key_at(const DictKeys& keys, std::uint64_t index) {
  return memory_.pointer(keys.entries + (index + 1) * keys.entry_bytes - 16);
}

std::uint64_t Objects::value_at(const Dict& dict, const DictKeys& keys, std::uint64_t index) {
  return dict.values != 0 ? memory_.pointer(dict.values + index * 8)
                          : memory_.pointer(keys.entries + (index + 1) * keys.entry_bytes - 8);
}

// Nearly always the interned key itself; else a str of the same hash and text.
bool Objects::same_key(std::uint64_t key, Name name) {
  if (key == known(name).address) {
    return true;
  }
  return key != 0 &&
         memory_.pointer(key + layout_.object.bytes + body::text_hash) == known(name).hash &&
         name_of(key) == name;
}

Found Objects::find_by_hash(const Dict& dict, Name name) {
  const auto keys = keys_at(dict.keys);
  if (!keys) {
    return {Lookup::unreadable, 0};
  }
  const std::uint64_t mask = keys->slots - 1;
  std::uint64_t perturb = known(name).hash;
  std::uint64_t slot = perturb & mask;
  for (int probe = 0; probe < most_probes; ++probe) {
    const auto index = index_at(*keys, slot);
    if (!index || *index >= static_cast<std::int64_t>(keys->count)) {
      return {Lookup::unreadable, 0};
    }
    if (*index == empty_slot) {
      return {Lookup::absent, 0};
    }
    if (*index >= 0 && same_key(key_at(*keys, static_cast<std::uint64_t>(*index)), name)) {
      const auto value = value_at(dict, *keys, static_cast<std::uint64_t>(*index));
      return value != 0 ? Found{Lookup::found, value} : Found{};
    }
    perturb >>= 5U;
    slot = (slot * 5 + perturb + 1) & mask;
  }
  return {Lookup::unreadable, 0};
}

Found Objects::find_by_reading(const Dict& dict, Name name) {
  const auto all = entries_of(dict, Count::exact);
  if (!all) {
    return {Lookup::unreadable, 0};
  }
  fetch_names(*all);
  for (const auto& entry : *all) {
    if (name_of(entry.key) == name) {
      return {Lookup::found, entry.value};
    }
  }
  return {};
}

Found Objects::find(std::uint64_t dict, Name name) {
  const auto head = dict_at(dict);
  if (!head) {
    return {Lookup::unreadable, 0};
  }
  if (known(name).address != 0) {
    // A name that is not there is looked for again the long way: its slot is empty too while a
    // thread lets the table grow.
    const auto found = find_by_hash(*head, name);
    if (found.state != Lookup::absent) {
      return found;
    }
  }
  return find_by_reading(*head, name);
}

void Objects::plan_dict(std::uint64_t dict) {
  memory_.plan(dict, dict_head_bytes);
}

void Objects::plan_keys(std::uint64_t dict) {
  memory_.plan(memory_.pointer(dict + layout_.object.bytes + body::dict_keys), keys_head_bytes);
  memory_.plan(memory_.pointer(dict + layout_.object.bytes + body::dict_values), dict_head_bytes);
}

void Objects::plan_slot(std::uint64_t dict, Name name) {
  const auto keys = keys_at(memory_.pointer(dict + layout_.object.bytes + body::dict_keys));
  if (keys) {
    const auto slot = known(name).hash & (keys->slots - 1);
    memory_.plan(keys->indices + slot * keys->index_bytes, keys->index_bytes);
  }
}

void Objects::plan_entry(std::uint64_t dict, Name name) {
  const auto keys = keys_at(memory_.pointer(dict + layout_.object.bytes + body::dict_keys));
  const auto index =
      keys ? index_at(*keys, known(name).hash & (keys->slots - 1)) : std::optional<std::int64_t>();
  if (index && *index >= 0 && *index < static_cast<std::int64_t>(keys->count)) {
    const auto entry = static_cast<std::uint64_t>(*index) * keys->entry_bytes;
    memory_.plan(keys->entries + entry, keys->entry_bytes);
  }
}

}  // namespace tracso::python
