#include "support/fake_python.hpp"

#include <cstring>
#include <functional>

namespace tracso::test {
namespace {

constexpr std::uint64_t start = 0x7f0000000000;
constexpr std::uint64_t heap_type = 1U << 9, managed_dict = 1U << 4, inline_values = 1U << 2,
                        is_text = 1U << 28, is_dict = 1U << 29;
constexpr std::uint64_t runtime_bytes = 4096, state_bytes = 16384, type_bytes = 1024;
constexpr unsigned log2_slots = 4;
constexpr std::uint64_t slots = 1U << log2_slots;

}  // namespace

template <class T>
void FakePython::put(std::uint64_t address, T value) {
  std::memcpy(bytes_.data() + (address - start), &value, sizeof value);
}

template <class T>
T FakePython::get(std::uint64_t address) const {
  T value{};
  std::memcpy(&value, bytes_.data() + (address - start), sizeof value);
  return value;
}

FakePython::FakePython(const python::Layout& layout) : layout_(layout) {
  runtime_ = take(runtime_bytes);
  const bool managed = layout.minor >= 11;
  text_type_ = type("str", is_text);
  integer_type_ = type("int", 0);
  dict_type_ = type("dict", is_dict);
  module_type_ = type("module", 0);
  put(module_type_ + layout.object.bytes + python::body::type_dictoffset,
      std::uint64_t{layout.object.bytes});
  spec_type_ =
      type("ModuleSpec",
           heap_type | (managed ? managed_dict : 0) | (layout.minor >= 13 ? inline_values : 0));
  put(spec_type_ + layout.object.bytes + python::body::type_dictoffset,
      std::uint64_t{managed ? 0U : layout.object.bytes});
  put(spec_type_ + layout.object.bytes + python::body::type_basicsize,
      std::uint64_t{layout.object.bytes});
}

// Objects are surrounded by room for what CPython keeps before them.
std::uint64_t FakePython::take(std::uint64_t bytes, std::uint64_t type) {
  const std::uint64_t address = start + bytes_.size() + 64;
  bytes_.resize(bytes_.size() + (bytes + 64 + 128) / 64 * 64, '\0');
  if (type != 0) {
    put(address + layout_.object.type, type);
  }
  return address;
}

std::uint64_t FakePython::type(const std::string& name, std::uint64_t flags) {
  const auto letters = take(name.size() + 1);
  std::memcpy(bytes_.data() + (letters - start), name.data(), name.size());
  const auto made = take(type_bytes);
  put(made + layout_.object.bytes + python::body::type_name, letters);
  put(made + layout_.object.bytes + python::body::type_flags, flags);
  return made;
}

std::uint64_t FakePython::text(const std::u32string& characters) {
  std::uint32_t largest = 0;
  for (const auto character : characters) {
    largest = std::max<std::uint32_t>(largest, character);
  }
  const std::uint32_t width = largest > 0xffff ? 4 : largest > 0xff ? 2 : 1;
  const bool ascii = largest < 0x80;
  const auto head = ascii ? layout_.object.ascii : layout_.object.compact;
  const auto made = take(head + characters.size() * width, text_type_);
  const auto body = made + layout_.object.bytes;
  put(body + python::body::text_length, std::uint64_t{characters.size()});
  put(body + python::body::text_hash, std::uint64_t{std::hash<std::u32string>{}(characters)});
  const std::uint32_t state = width | 1U << 3U | (ascii ? 1U << 4U : 0);
  const bool wide = layout_.free_threaded && layout_.minor >= 14;
  put(body + python::body::text_state, state << (wide ? 8U : 2U) | 1U);
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const auto character = static_cast<std::uint32_t>(characters[i]);
    std::memcpy(bytes_.data() + (made + head + i * width - start), &character, width);
  }
  return made;
}

std::uint64_t FakePython::text(const std::string& ascii) {
  return text(std::u32string(ascii.begin(), ascii.end()));
}

std::uint64_t FakePython::integer(std::uint32_t number) {
  const auto made = take(64, integer_type_);
  const auto body = made + layout_.object.bytes;
  put(body + python::body::integer_size, std::uint64_t{layout_.minor >= 12 ? 2U << 3U : 2U});
  put(body + python::body::integer_digits, number & 0x3fffffffU);
  put(body + python::body::integer_digits + 4, number >> 30U);
  return made;
}

// Keys are interned: one object per name.
std::uint64_t FakePython::key(const std::string& name) {
  for (const auto& [known, address] : keys_) {
    if (known == name) {
      return address;
    }
  }
  keys_.emplace_back(name, text(name));
  return keys_.back().second;
}

std::uint64_t FakePython::table(const Attributes& entries, Table kind) {
  const bool old = layout_.minor <= 10;
  const std::uint64_t width = old || kind == Table::any_key ? 24 : 16;
  const std::uint64_t indices = old ? python::old_table::indices : python::table::indices;
  const auto made = take(indices + slots + entries.size() * width);
  if (old) {
    put(made + python::old_table::slots, slots);
    put(made + python::old_table::count, std::uint64_t{entries.size()});
  } else {
    put(made + python::table::log2_slots, std::uint8_t{log2_slots});
    put(made + python::table::log2_index_bytes, std::uint8_t{log2_slots});
    put(made + python::table::kind, static_cast<std::uint8_t>(kind));
    put(made + python::table::count, std::uint64_t{entries.size()});
  }
  std::memset(bytes_.data() + (made + indices - start), 0xff, slots);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto name = key(entries[i].first);
    const auto hash = get<std::uint64_t>(name + layout_.object.bytes + python::body::text_hash);
    std::uint64_t perturb = hash, slot = hash & (slots - 1);
    while (get<std::int8_t>(made + indices + slot) != -1) {
      perturb >>= 5U;
      slot = (slot * 5 + perturb + 1) & (slots - 1);
    }
    put(made + indices + slot, static_cast<std::int8_t>(i));
    const auto entry = made + indices + slots + (i + 1) * width;
    put(entry - 16, name);
    put(entry - 8, kind == Table::split ? 0 : entries[i].second);
  }
  return made;
}

std::uint64_t FakePython::dict(const Attributes& entries, Table kind) {
  const auto keys = table(entries, kind);
  const auto made = take(96, dict_type_);
  const auto body = made + layout_.object.bytes;
  put(body + python::body::dict_used, std::uint64_t{entries.size()});
  put(body + python::body::dict_keys, keys);
  if (kind == Table::split) {
    const auto values = take(8 + 8 * entries.size());
    put(body + python::body::dict_values, values);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      put(values + (layout_.minor >= 13 ? python::value_array::first : 0) + 8 * i,
          entries[i].second);
    }
  }
  return made;
}

std::uint64_t FakePython::module(const Attributes& attributes, Table kind) {
  const auto own = dict(attributes, kind);
  const auto made = take(64, module_type_);
  put(made + layout_.object.bytes, own);
  return made;
}

std::uint64_t FakePython::spec(const std::string& origin) {
  const Attributes attributes{{"name", text("x")}, {"origin", text(origin)}};
  if (layout_.minor <= 10) {
    const auto own = dict(attributes, Table::split);
    const auto made = take(64, spec_type_);
    put(made + layout_.object.bytes, own);
    return made;
  }
  put(spec_type_ + layout_.object.cached_keys, table(attributes, Table::split));
  const bool is_inline = layout_.minor >= 13;
  const auto made = take(64, spec_type_);
  const auto values = is_inline ? made + layout_.object.bytes : take(64) + 8;
  const auto first = is_inline ? values + python::value_array::first : values;
  put(first, attributes[0].second);
  put(first + 8, attributes[1].second);
  if (is_inline) {
    put(values + python::value_array::valid, std::uint8_t{1});
  } else if (layout_.minor == 12) {
    put(made - 24, values - 1);
  } else {
    put(made - 32, values);
  }
  return made;
}

void FakePython::add_module(const std::string& name, std::uint64_t module) {
  modules_.emplace_back(name, module);
}

void FakePython::finish(FakeProcess& process, std::uint32_t version, std::uint32_t modules_moved) {
  const auto sys = module({{"hexversion", integer(version)}});
  Attributes all{{"sys", sys}};
  all.insert(all.end(), modules_.begin(), modules_.end());
  const auto modules = dict(all, Table::any_key);
  const auto state = take(state_bytes);
  put(runtime_ + layout_.interpreter.head, state);
  put(state + layout_.interpreter.modules + modules_moved, modules);
  put(state + layout_.interpreter.sysdict, get<std::uint64_t>(sys + layout_.object.bytes));
  bytes_.resize((bytes_.size() / 4096 + 1) * 4096, '\0');
  process.memory[start] = bytes_;
}

}  // namespace tracso::test
