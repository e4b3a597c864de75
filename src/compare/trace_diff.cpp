#include "compare/trace_diff.hpp"

#include "analysis/notable.hpp"
#include "base/text.hpp"
#include "findings/families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

namespace tracso {
namespace {

struct Library {
  const Node* node = nullptr;
  const ObjectFile* file = nullptr;
  bool matched = false;
};

std::vector<Library> libraries_of(const Trace& trace) {
  std::vector<Library> out;
  for (const Node& node : trace.graph.nodes()) {
    if (is_counted(node)) {
      out.push_back({&node, object(node), false});
    }
  }
  return out;
}

std::string family_key(const ObjectFile& file) {
  const auto family = findings::family_of(file);
  return family ? fmt::format(
                      "family {}{}{}", family->name, family->kind.empty() ? "" : " ", family->kind)
                : "";
}

// A way to recognize a library; an empty key recognizes nothing.
struct Way {
  std::string_view name;
  std::string (*key)(const Library&);
};

constexpr std::array ways{
    Way{"path", [](const Library& one) { return one.file->path.text; }},
    Way{"build id", [](const Library& one) { return one.file->elf.build_id; }},
    Way{"soname", [](const Library& one) { return one.file->elf.dynamic.soname.value_or(""); }},
    Way{"name", [](const Library& one) { return display_name(*one.node); }},
    Way{"family", [](const Library& one) { return family_key(*one.file); }},
    Way{"stem", [](const Library& one) { return findings::stem_of(*one.file); }}};

BytesChange change(const std::optional<std::uint64_t>& before,
                   const std::optional<std::uint64_t>& after) {
  return {before, after};
}

LibraryChange one_sided(const Library& one, bool is_new) {
  LibraryChange out;
  out.name = display_name(*one.node);
  (is_new ? out.new_path : out.old_path) = one.file->path.text;
  const auto side = [&](const std::optional<std::uint64_t>& bytes) {
    return is_new ? change(std::nullopt, bytes) : change(bytes, std::nullopt);
  };
  out.file = side(one.node->cost.file);
  out.resident = side(one.node->cost.resident);
  out.private_bytes = side(one.node->cost.private_bytes);
  return out;
}

LibraryChange pair_of(const Library& before, const Library& after, const Way& way) {
  LibraryChange out;
  out.name = display_name(*after.node);
  out.old_path = before.file->path.text;
  out.new_path = after.file->path.text;
  out.how = way.name == "family" ? family_key(*after.file)
            : way.name == "stem" ? "name without version"
                                 : std::string(way.name);
  out.file = change(before.node->cost.file, after.node->cost.file);
  out.resident = change(before.node->cost.resident, after.node->cost.resident);
  out.private_bytes = change(before.node->cost.private_bytes, after.node->cost.private_bytes);
  const auto note = [&](bool differs, const char* what) {
    if (differs) {
      out.what.emplace_back(what);
    }
  };
  note(out.old_path != out.new_path, "path");
  note(before.file->elf.build_id != after.file->elf.build_id, "build id");
  note(out.file.changed(), "size");
  note(before.file->state != after.file->state, "state");
  return out;
}

// Pairs what one way recognizes on both sides, in order: of two with one key each gets its own.
void match(std::vector<Library>& before,
           std::vector<Library>& after,
           const Way& way,
           TraceDiff& diff) {
  std::map<std::string, std::vector<Library*>> by_key;
  for (Library& one : before) {
    if (std::string key = one.matched ? "" : way.key(one); !key.empty()) {
      by_key[std::move(key)].push_back(&one);
    }
  }
  for (Library& one : after) {
    const auto found = one.matched ? by_key.end() : by_key.find(way.key(one));
    if (found == by_key.end() || found->second.empty()) {
      continue;
    }
    Library& partner = *found->second.front();
    found->second.erase(found->second.begin());
    partner.matched = one.matched = true;
    LibraryChange pair = pair_of(partner, one, way);
    if (pair.what.empty()) {
      ++diff.same;
    } else {
      diff.changed.push_back(std::move(pair));
    }
  }
}

void sort_by_size(std::vector<LibraryChange>& changes) {
  const auto size = [](const LibraryChange& one) {
    return std::max(one.file.before.value_or(0), one.file.after.value_or(0));
  };
  std::stable_sort(changes.begin(), changes.end(), [&](const auto& one, const auto& other) {
    return size(one) > size(other);
  });
}

void add_packages(const Summary& before, const Summary& after, TraceDiff& diff) {
  std::map<std::string, PackageChange> packages;
  for (const Package& one : before.packages) {
    PackageChange& package = packages[one.name];
    package.libraries_before = one.libraries;
    package.file.before = one.file;
  }
  for (const Package& one : after.packages) {
    PackageChange& package = packages[one.name];
    package.libraries_after = one.libraries;
    package.file.after = one.file;
  }
  for (auto& [name, package] : packages) {
    package.name = name;
    if (package.file.changed() || package.libraries_before != package.libraries_after) {
      diff.packages.push_back(package);
    }
  }
  const auto growth = [](const PackageChange& one) {
    const auto a = one.file.before.value_or(0);
    const auto b = one.file.after.value_or(0);
    return std::max(a, b) - std::min(a, b);
  };
  std::stable_sort(diff.packages.begin(),
                   diff.packages.end(),
                   [&](const auto& one, const auto& other) { return growth(one) > growth(other); });
}

std::string finding_key(const Trace& trace, const Finding& finding) {
  std::set<std::string> names;
  for (const NodeId node : finding.nodes) {
    const ObjectFile* file = object(trace.graph[node]);
    names.insert(file != nullptr ? findings::stem_of(*file) : display_name(trace.graph[node]));
  }
  std::string key = finding.code;
  for (const std::string& name : names) {
    key += "|" + name;
  }
  return key;
}

// Findings of `trace` that the other one has not.
std::vector<Finding> only_in(const Trace& trace, const Trace& other) {
  std::set<std::string> known;
  for (const Finding& finding : other.findings) {
    known.insert(finding_key(other, finding));
  }
  std::vector<Finding> out;
  for (const Finding& finding : trace.findings) {
    // Weights stand in documents only; what they say is compared by its bytes.
    if (!is_told_elsewhere(finding.code) && known.count(finding_key(trace, finding)) == 0) {
      out.push_back(finding);
    }
  }
  return out;
}

}  // namespace

TraceDiff compare_traces(const Trace& before,
                         const Summary& before_summary,
                         const Trace& after,
                         const Summary& after_summary) {
  TraceDiff diff;
  diff.old_target = before.target;
  diff.new_target = after.target;
  std::vector<Library> then = libraries_of(before);
  std::vector<Library> now = libraries_of(after);
  for (const Way& way : ways) {
    match(then, now, way, diff);
  }
  for (const Library& one : then) {
    if (!one.matched) {
      diff.removed.push_back(one_sided(one, false));
    }
  }
  for (const Library& one : now) {
    if (!one.matched) {
      diff.added.push_back(one_sided(one, true));
    }
  }
  sort_by_size(diff.added);
  sort_by_size(diff.removed);
  sort_by_size(diff.changed);
  add_packages(before_summary, after_summary, diff);
  const Totals& a = before_summary.totals;
  const Totals& b = after_summary.totals;
  diff.libraries_before = a.libraries;
  diff.libraries_after = b.libraries;
  diff.file = change(a.file, b.file);
  diff.resident = change(a.resident, b.resident);
  diff.private_bytes = change(a.private_bytes, b.private_bytes);
  diff.memory_before = before.memory;
  diff.memory_after = after.memory;
  diff.appeared = only_in(after, before);
  diff.gone = only_in(before, after);
  return diff;
}

}  // namespace tracso
