#pragma once
// Two traces compared: what `tracso diff` says.

#include "tracso/answers.hpp"
#include "tracso/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracso {

/// Bytes before and after; nullopt: not measured, or not there.
struct BytesChange {
  std::optional<std::uint64_t> before, after;
  bool operator==(const BytesChange&) const = default;

  bool changed() const { return before != after; }
};

/// A library of one trace, or the same library of both.
struct LibraryChange {
  std::string name;                ///< as the newer one calls it
  std::string old_path, new_path;  ///< empty: not there
  std::string how;  ///< what they are the same by: "path", "build id", "soname", "family openssl
                    ///< crypto", "name"
  std::vector<std::string>
      what;  ///< "path", "build id", "state", "size"; empty: only bytes in memory
  BytesChange file, resident, private_bytes;
};

struct PackageChange {
  std::string name;
  std::size_t libraries_before = 0, libraries_after = 0;
  BytesChange file;
};

struct TraceDiff {
  std::string old_target, new_target;
  std::vector<LibraryChange> added, removed;  ///< heaviest first
  std::vector<LibraryChange> changed;         ///< other files for the same purpose; heaviest first
  std::size_t same = 0;                       ///< libraries that are the same file
  std::vector<PackageChange> packages;        ///< those that differ, by how much
  std::size_t libraries_before = 0, libraries_after = 0;
  BytesChange file, resident, private_bytes;  ///< of all libraries
  /// Of the whole processes; nullopt: not measured.
  std::optional<MemoryByClass> memory_before, memory_after;
  std::vector<Finding> appeared, gone;  ///< findings
  std::vector<Notice> notices;
};

}  // namespace tracso
