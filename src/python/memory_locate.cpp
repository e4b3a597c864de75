#include "python/memory_locate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace tracso::python {
namespace {

// sys is among the first modules unless the program put it in anew.
constexpr std::size_t first_entries = 8, most_module_entries = 4096;
constexpr std::size_t most_states = 256;
constexpr std::uint32_t scanned_bytes = 16384;  // of an interpreter state
constexpr std::uint64_t lowest_heap_address = 65536;

// The module sys of a dict that could be sys.modules; 0: it is not.
std::uint64_t sys_of(Objects& objects, std::uint64_t modules, std::size_t looked_at) {
  // Whatever a scan meets may be a dict of any size; sys.modules of 2^18 modules is not one.
  const auto size = objects.table_entries(modules);
  if (!size || *size == 0 || *size > std::uint64_t{1} << 18) {
    return 0;
  }
  const auto entries = objects.entries(modules, Count::any);
  const std::size_t count = entries ? std::min(entries->size(), looked_at) : 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (objects.text((*entries)[i].key) == "sys") {
      const auto sys = (*entries)[i].value;
      return objects.type_name(objects.type_of(sys)) == "module" ? sys : 0;
    }
  }
  return 0;
}

// sys.hexversion where `modules` is sys.modules of a CPython of that layout; else 0.
std::uint32_t checked_version(Objects& objects, std::uint64_t modules, std::size_t looked_at) {
  const auto sys = modules == 0 ? 0 : sys_of(objects, modules, looked_at);
  const auto found = sys == 0 ? Found{} : objects.instance_attribute(sys, Name::hexversion);
  const auto number = found.object == 0 ? std::nullopt : objects.integer(found.object);
  if (!number || *number >> 24 != 3 ||
      (static_cast<std::uint64_t>(*number) >> 16U & 0xffU) != objects.layout().minor) {
    return 0;
  }
  return static_cast<std::uint32_t>(*number);
}

std::optional<Located> try_layout(MemoryReader& memory,
                                  const Runtime& runtime,
                                  const Layout& layout,
                                  std::string how) {
  Objects objects(memory, layout);
  for (const auto& state : interpreter_states(objects, runtime.address)) {
    if (const auto version = checked_version(objects, state.modules, most_module_entries)) {
      return Located{layout, std::move(how), version};
    }
  }
  return std::nullopt;
}

std::optional<Located> try_debug_offsets(MemoryReader& memory, const Runtime& runtime) {
  std::vector<std::uint64_t> words(debug_offsets_words);
  if (!memory.read(runtime.address, std::as_writable_bytes(std::span(words)))) {
    return std::nullopt;
  }
  const auto layout = layout_from_debug_offsets(words);
  return layout ? try_layout(memory, runtime, *layout, "debug offsets") : std::nullopt;
}

std::optional<Located> try_table(MemoryReader& memory, const Runtime& runtime, const Layout& row) {
  return try_layout(memory, runtime, row, fmt::format("table 3.{}", row.minor));
}

// The objects of a version are known but the interpreter state is not as the table says: modules
// is one of its words.
std::optional<Located> try_scan(MemoryReader& memory, const Runtime& runtime, const Layout& row) {
  const auto state = memory.pointer(runtime.address + row.interpreter.head);
  memory.plan(state, scanned_bytes);
  memory.fetch();
  Objects objects(memory, row);
  for (std::uint32_t at = 0; at < scanned_bytes && state != 0 && !memory.exhausted(); at += 8) {
    const auto word = memory.pointer(state + at);  // 0 behind the end of its memory
    if (word < lowest_heap_address || word % 8 != 0) {
      continue;
    }
    if (const auto version = checked_version(objects, word, first_entries)) {
      Layout layout = row;
      layout.interpreter.modules = at;
      return Located{layout, "scan", version};
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<InterpreterState> interpreter_states(Objects& objects, std::uint64_t runtime) {
  auto& memory = objects.memory();
  const auto& layout = objects.layout().interpreter;
  std::vector<InterpreterState> states;
  std::unordered_set<std::uint64_t> seen;
  for (auto at = memory.pointer(runtime + layout.head);
       at != 0 && states.size() < most_states && seen.insert(at).second;
       at = memory.pointer(at + layout.next)) {
    states.push_back({at,
                      memory.value<std::int64_t>(at + layout.id).value_or(0),
                      memory.pointer(at + layout.modules)});
  }
  return states;
}

std::optional<Located> locate(MemoryReader& memory, const Runtime& runtime, Effort effort) {
  if (auto found = try_debug_offsets(memory, runtime)) {
    return found;
  }
  // Rows of the expected version first; a stable partition keeps the others in their order.
  std::vector<Layout> rows(layouts().begin(), layouts().end());
  std::stable_partition(
      rows.begin(), rows.end(), [&](const Layout& row) { return row.minor == runtime.minor; });
  for (const auto& row : rows) {
    if (auto found = try_table(memory, runtime, row)) {
      return found;
    }
  }
  if (effort == Effort::tables) {
    return std::nullopt;
  }
  for (const auto& row : rows) {
    if (auto found = try_scan(memory, runtime, row)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace tracso::python
