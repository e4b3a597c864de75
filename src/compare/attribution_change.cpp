#include "compare/attribution_change.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tracso {
namespace {

std::int64_t growth(const Change& change) {
  return static_cast<std::int64_t>(change.after) -
         static_cast<std::int64_t>(change.before.value_or(0));
}

// What grew most by bytes first, then by number.
template <class Row>
void sort_by_growth(std::vector<Row>& rows, Change Row::*number) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& one, const Row& other) {
    return std::pair(growth(one.bytes), growth(one.*number)) >
           std::pair(growth(other.bytes), growth(other.*number));
  });
}

std::vector<TypeChange> types_of(const TrackedObjects* first, const TrackedObjects& last) {
  std::map<std::string, TypeChange> by_name;
  const auto row = [&](const std::string& type) -> TypeChange& {
    TypeChange& change = by_name[type];
    change.type = type;
    if (first != nullptr && !change.objects.before) {
      change.objects.before = change.bytes.before = 0;
    }
    return change;
  };
  for (const TypeTotal& total : last.types) {
    TypeChange& change = row(total.type);
    change.objects.after = total.objects;
    change.bytes.after = total.bytes;
  }
  for (const TypeTotal& total : first != nullptr ? first->types : std::vector<TypeTotal>()) {
    TypeChange& change = row(total.type);
    change.objects.before = total.objects;
    change.bytes.before = total.bytes;
  }
  std::vector<TypeChange> rows;
  for (auto& [name, change] : by_name) {
    rows.push_back(std::move(change));
  }
  sort_by_growth(rows, &TypeChange::objects);
  return rows;
}

std::vector<LineChange> lines_of(const TracedLines* first, const TracedLines& last) {
  std::map<std::pair<std::string, std::uint32_t>, LineChange> by_place;
  const auto row = [&](const LineTotal& total) -> LineChange& {
    LineChange& change = by_place[{total.file, total.line}];
    change.file = total.file;
    change.line = total.line;
    if (first != nullptr && !change.blocks.before) {
      change.blocks.before = change.bytes.before = 0;
    }
    return change;
  };
  for (const LineTotal& total : last.lines) {
    LineChange& change = row(total);
    change.blocks.after = total.blocks;
    change.bytes.after = total.bytes;
  }
  for (const LineTotal& total : first != nullptr ? first->lines : std::vector<LineTotal>()) {
    LineChange& change = row(total);
    change.blocks.before = total.blocks;
    change.bytes.before = total.bytes;
  }
  std::vector<LineChange> rows;
  for (auto& [place, change] : by_place) {
    rows.push_back(std::move(change));
  }
  sort_by_growth(rows, &LineChange::blocks);
  return rows;
}

ResidentParts parts_of(const AttributionLook* first, const AttributionLook& last) {
  const auto resident = [](const AttributionLook& look, MemoryClass what) {
    return look.memory[what].resident;
  };
  const auto rest = [&](const AttributionLook& look) {
    return look.memory.total().resident - resident(look, MemoryClass::python) -
           resident(look, MemoryClass::heap) - resident(look, MemoryClass::other);
  };
  const auto change = [&](const auto& figure) {
    return Change{first != nullptr ? std::optional(figure(*first)) : std::nullopt, figure(last)};
  };
  const auto of_class = [&](MemoryClass what) {
    return change([&](const AttributionLook& look) { return resident(look, what); });
  };
  ResidentParts parts;
  parts.resident = change([](const AttributionLook& look) { return look.memory.total().resident; });
  parts.python = of_class(MemoryClass::python);
  parts.heap = of_class(MemoryClass::heap);
  parts.other_anonymous = of_class(MemoryClass::other);
  parts.rest = change(rest);
  if (last.python_blocks) {
    parts.python_blocks =
        Change{first != nullptr ? first->python_blocks : std::nullopt, *last.python_blocks};
  }
  return parts;
}

}  // namespace

Attribution compare_looks(const std::optional<AttributionLook>& first,
                          const AttributionLook& last) {
  Attribution out;
  out.first_ns = first ? std::optional(first->at_ns) : std::nullopt;
  out.last_ns = last.at_ns;
  out.first_moment = first ? first->moment : "";
  out.last_moment = last.moment;
  out.parts = parts_of(first ? &*first : nullptr, last);
  if (last.objects) {
    const TrackedObjects* before = first && first->objects ? &*first->objects : nullptr;
    const auto known = [&](std::uint64_t TrackedObjects::*figure) {
      return Change{before != nullptr ? std::optional(before->*figure) : std::nullopt,
                    (*last.objects).*figure};
    };
    out.python_version = last.objects->version;
    out.objects = known(&TrackedObjects::objects);
    out.object_bytes = known(&TrackedObjects::bytes);
    out.types = types_of(before, *last.objects);
    out.stopped =
        last.objects->stopped + (before != nullptr ? before->stopped : std::chrono::nanoseconds(0));
    if (last.objects->youngest_moved || (before != nullptr && before->youngest_moved)) {
      out.not_told.emplace_back(
          "the youngest objects came and went while they were counted: "
          "numbers are off by some hundreds");
    }
  }
  if (last.lines) {
    out.lines = lines_of(first && first->lines ? &*first->lines : nullptr, *last.lines);
    out.lines_known = true;
    if (last.lines->moved) {
      out.not_told.emplace_back(
          "blocks came and went while tracemalloc's table was read: a few "
          "are missing");
    }
  }
  return out;
}

}  // namespace tracso
