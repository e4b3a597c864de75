#include "python/memory_modules.hpp"

#include "python/memory_locate.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tracso::python {
namespace {

// How much of an object is fetched ahead: enough for all but the longest.
constexpr std::uint64_t module_text_bytes = 192, before_object = 32, object_bytes = 96;
constexpr std::uint64_t shared_keys_bytes = 320, values_bytes = 96;
// Hashes are learnt from the smallest dict among so many.
constexpr std::size_t teachers = 64;
constexpr std::array attributes_wanted = {Name::file, Name::spec};
constexpr std::array wanted_of_spec = {Name::origin};

// One entry of sys.modules on its way to a row.
struct Item {
  DictEntry entry;
  std::uint64_t dict = 0;  // the module's own
  Found file, spec, origin;
};

class Pass {
 public:
  explicit Pass(Objects& objects) : objects_(objects), memory_(objects.memory()) {}

  // False: the dict itself cannot be read.
  bool read(std::uint64_t modules);
  // Nothing changed since: the entries of every dict are what they were.
  bool unchanged();

  std::vector<ModuleRow> rows;

 private:
  void fetch_objects();
  void fetch_dicts();
  void learn_hashes();
  void fetch_entries();
  void find_attributes();
  void fetch_specs();
  void find_origins();
  void make_rows();
  Found attribute(const Item& item, Name name);
  Found class_attribute(std::uint64_t type, Name name);

  Objects& objects_;
  MemoryReader& memory_;
  std::vector<Item> items_;
  std::vector<std::pair<std::uint64_t, std::vector<DictEntry>>> dicts_read_;
  std::unordered_map<std::uint64_t, std::array<Found, 2>> class_attributes_;  // by type
};

// The order of the steps is the order in which addresses become known; each ends with one fetch.
bool Pass::read(std::uint64_t modules) {
  auto entries = objects_.entries(modules);
  if (!entries) {
    return false;
  }
  items_.clear();
  for (const auto& entry : *entries) {
    items_.push_back({entry, 0, {}, {}, {}});
  }
  dicts_read_.emplace_back(modules, std::move(*entries));
  fetch_objects();
  fetch_dicts();
  learn_hashes();
  fetch_entries();
  find_attributes();
  fetch_specs();
  find_origins();
  make_rows();
  return true;
}

void Pass::fetch_objects() {
  for (const auto& item : items_) {
    memory_.plan(item.entry.key, module_text_bytes);
    memory_.plan(item.entry.value - before_object, object_bytes);
  }
  memory_.fetch();
}

void Pass::fetch_dicts() {
  for (auto& item : items_) {
    item.dict = objects_.storage(item.entry.value).dict;
    objects_.plan_dict(item.dict);
  }
  memory_.fetch();
  for (const auto& item : items_) {
    objects_.plan_keys(item.dict);
  }
  memory_.fetch();
}

void Pass::learn_hashes() {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> smallest;  // entries of the table, dict
  for (std::size_t i = 0; i < items_.size() && i < teachers; ++i) {
    if (const auto count = objects_.table_entries(items_[i].dict)) {
      smallest.emplace_back(*count, items_[i].dict);
    }
  }
  std::sort(smallest.begin(), smallest.end());
  for (const auto& [count, dict] : smallest) {
    const auto entries = objects_.entries(dict);
    if (entries && objects_.learn(*entries, attributes_wanted)) {
      return;
    }
  }
}

void Pass::fetch_entries() {
  for (const auto name : attributes_wanted) {
    for (const auto& item : items_) {
      objects_.plan_slot(item.dict, name);
    }
  }
  memory_.fetch();
  for (const auto name : attributes_wanted) {
    for (const auto& item : items_) {
      objects_.plan_entry(item.dict, name);
    }
  }
  memory_.fetch();
}

Found Pass::class_attribute(std::uint64_t type, Name name) {
  const std::size_t which = name == Name::file ? 0 : 1;
  const auto seen = class_attributes_.find(type);
  if (seen != class_attributes_.end()) {
    return seen->second[which];
  }
  std::array<Found, 2> attributes;
  for (const auto base : objects_.method_resolution_order(type)) {
    const auto dict = objects_.type_dict(base);
    for (std::size_t i = 0; dict != 0 && i < attributes_wanted.size(); ++i) {
      if (attributes[i].state != Lookup::found) {
        attributes[i] = objects_.find(dict, attributes_wanted[i]);
      }
    }
  }
  class_attributes_[type] = attributes;
  return attributes[which];
}

Found Pass::attribute(const Item& item, Name name) {
  const auto own = objects_.instance_attribute(item.entry.value, name);
  return own.state != Lookup::absent ? own
                                     : class_attribute(objects_.type_of(item.entry.value), name);
}

void Pass::find_attributes() {
  for (auto& item : items_) {
    item.file = attribute(item, Name::file);
    item.spec = attribute(item, Name::spec);
    memory_.plan(item.file.object, module_text_bytes);
    memory_.plan(item.spec.object - before_object, before_object + module_text_bytes);
  }
  memory_.fetch();
}

void Pass::fetch_specs() {
  std::vector<std::uint64_t> dicts;
  for (const auto& item : items_) {
    const auto place =
        item.spec.object == 0 ? InstanceStorage{} : objects_.storage(item.spec.object);
    objects_.plan_dict(place.dict);
    memory_.plan(place.values, values_bytes);
    if (place.dict != 0) {
      dicts.push_back(place.dict);
    }
  }
  memory_.fetch();
  for (const auto dict : dicts) {
    objects_.plan_keys(dict);
  }
  memory_.fetch();
  for (std::size_t i = 0; i < dicts.size() && i < teachers; ++i) {
    const auto entries = objects_.entries(dicts[i]);
    if (entries && objects_.learn(*entries, wanted_of_spec)) {
      break;
    }
  }
  for (const auto dict : dicts) {
    objects_.plan_slot(dict, Name::origin);
  }
  memory_.fetch();
  for (const auto dict : dicts) {
    objects_.plan_entry(dict, Name::origin);
  }
  memory_.fetch();
}

void Pass::find_origins() {
  for (auto& item : items_) {
    if (item.spec.object != 0) {
      item.origin = objects_.instance_attribute(item.spec.object, Name::origin);
      memory_.plan(item.origin.object, module_text_bytes);
    }
  }
  memory_.fetch();
}

void Pass::make_rows() {
  for (const auto& item : items_) {
    ModuleRow row;
    row.object = item.entry.value;
    const auto name = objects_.text(item.entry.key);
    if (!name && objects_.type_of(item.entry.key) != 0 && !objects_.is_text(item.entry.key)) {
      continue;  // a tuple, a number: nobody can import that
    }
    row.module.name = name.value_or("");
    if (objects_.is_text(item.file.object)) {
      row.module.file = objects_.text(item.file.object);
      row.readable = row.module.file.has_value();
    }
    row.module.origin = objects_.text(item.origin.object).value_or("");
    row.readable = row.readable && name && objects_.type_of(item.entry.value) != 0;
    for (const auto& found : {item.file, item.spec, item.origin}) {
      const bool gone = found.object != 0 && objects_.type_of(found.object) == 0;
      row.readable = row.readable && !gone && found.state != Lookup::unreadable;
    }
    rows.push_back(std::move(row));
  }
}

bool Pass::unchanged() {
  memory_.forget();
  return std::all_of(dicts_read_.begin(), dicts_read_.end(), [&](const auto& dict) {
    return objects_.entries(dict.first) == dict.second;
  });
}

// The dict that import statements see, if the program put another one in place.
std::uint64_t replaced_modules(Objects& objects, const InterpreterState& state) {
  const auto sysdict =
      objects.memory().pointer(state.address + objects.layout().interpreter.sysdict);
  const auto found = sysdict == 0 ? Found{} : objects.find(sysdict, Name::modules);
  return found.object == state.modules ? 0 : found.object;
}

// Sub-interpreters have most modules of the main one over again.
void drop_repeated(std::vector<ModuleRow>& rows) {
  std::set<std::tuple<std::string, std::optional<std::string>, std::string>> seen;
  std::vector<ModuleRow> kept;
  for (auto& row : rows) {
    if (seen.emplace(row.module.name, row.module.file, row.module.origin).second) {
      kept.push_back(std::move(row));
    }
  }
  rows = std::move(kept);
}

}  // namespace

bool ModulePass::is_whole() const {
  return complete &&
         std::all_of(rows.begin(), rows.end(), [](const ModuleRow& row) { return row.readable; });
}

ModulePass read_modules(Objects& objects, std::uint64_t runtime) {
  objects.forget();
  auto states = interpreter_states(objects, runtime);
  std::sort(states.begin(), states.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  ModulePass result;
  Pass pass(objects);
  for (const auto& state : states) {
    if (state.modules == 0) {
      continue;  // just being made or ended
    }
    result.complete = pass.read(state.modules) && result.complete;
    if (const auto replaced = replaced_modules(objects, state)) {
      pass.read(replaced);  // may be anything: not a dict, not readable
    }
  }
  result.complete = result.complete && !states.empty() && pass.unchanged();
  result.rows = std::move(pass.rows);
  drop_repeated(result.rows);
  return result;
}

}  // namespace tracso::python
