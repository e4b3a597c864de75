#pragma once
// A file system in memory with small libraries, and what the resolver makes of it.

#include "elf/native_reader.hpp"
#include "loader/resolver.hpp"
#include "support/build_elf.hpp"
#include "support/fake_target.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::test {

inline constexpr const char* loader_path = "/lib64/ld-linux-x86-64.so.2";

/// Built to be resolved: a loader with the system directories /lib/ and /usr/lib/, version 2.40
/// (no hwcaps of the old kind), and no cache.
struct SmallSystem {
  FakeFiles files;
  loader::LoadEnvironment environment;

  SmallSystem() {
    library(loader_path, {soname("ld-linux-x86-64.so.2")});
    const char texts[] = "\0/lib/\0/usr/lib/\0stable release version 2.40.";
    files.files[loader_path].append(texts, sizeof texts);
  }

  void library(const std::string& path, std::vector<DynamicEntry> dynamic) {
    ElfSpec spec;
    spec.dynamic = std::move(dynamic);
    files.files[path] = build_elf(spec);
  }

  void program(const std::string& path, std::vector<DynamicEntry> dynamic) {
    ElfSpec spec;
    spec.interp = loader_path;
    spec.dynamic = std::move(dynamic);
    files.files[path] = build_elf(spec);
  }

  loader::Resolution resolve(const std::string& path) const {
    auto resolution =
        loader::resolve(files, *elf::make_native_reader(), environment, TargetPath{path});
    return resolution ? std::move(*resolution) : loader::Resolution{};
  }
};

/// The l_names of the libraries, in load order.
inline std::vector<std::string> libraries(const loader::Resolution& resolution) {
  std::vector<std::string> names;
  for (const auto& object : resolution.objects) {
    if (object.role == loader::ResolvedObject::Role::library) {
      names.push_back(object.l_name);
    }
  }
  return names;
}

/// The edge by which the object with that l_name (empty: the program) asks for `needed`.
inline const loader::ResolvedEdge* edge(const loader::Resolution& resolution,
                                        std::string_view requester,
                                        std::string_view needed) {
  for (const auto& edge : resolution.edges) {
    if (resolution.objects[edge.from].l_name == requester && edge.needed == needed) {
      return &edge;
    }
  }
  return nullptr;
}

/// "runpath found /a/liba.so" for every step of a search.
inline std::vector<std::string> steps(const loader::ResolvedEdge& edge) {
  static const char* const outcomes[] = {
      "found", "absent", "wrong_class", "denied", "skipped", "fatal", "lost"};
  std::vector<std::string> out;
  for (const auto& step : edge.search) {
    out.push_back(step.setting + ": " + step.directory + ": " +
                  outcomes[static_cast<std::size_t>(step.outcome)] +
                  (step.path.empty() ? "" : " " + step.path) +
                  (step.note.empty() ? "" : " (" + step.note + ")"));
  }
  return out;
}

}  // namespace tracso::test
