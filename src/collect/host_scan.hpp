#pragma once
// --who: which processes of this host have a library. One pass: a memory map per process, each
// file read once however many processes have it.

#include "tracso/graph.hpp"
#include "tracso/trace.hpp"

#include "collect/library_version.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

/// One library in one process.
struct HostLibrary {
  std::int32_t pid = 0;
  std::string command;  ///< the process' name (comm)
  std::string path, soname, build_id;
  LibraryVersion version;
  ObjectFile::State state = ObjectFile::State::current;
  std::string container;     ///< "docker 3f2a1bc04d55"; empty: none that is known
  std::string distribution;  ///< "numpy 2.1.0": the wheel it came in; empty: none
  bool operator==(const HostLibrary&) const = default;
};

struct HostAnswer {
  std::vector<HostLibrary> libraries;    ///< by process, then address
  std::size_t processes = 0;             ///< that were looked at
  std::vector<std::int32_t> denied;      ///< whose memory map may not be read
  std::vector<std::int32_t> unreadable;  ///< whose memory map was not understood
  std::size_t unreadable_files = 0;      ///< mapped, and known by name only
};

struct HostQuestion {
  std::vector<std::int32_t> pids;
  /// The doors of a process, valid until the next call; nullopt: it has ended.
  std::function<std::optional<Target>(std::int32_t)> open;
  /// Whether a file is what was asked for.
  std::function<bool(std::string_view path, std::string_view soname)> wanted;
};

/// Processes that end meanwhile and kernel threads are passed over; whatever one process does, the
/// others are told.
HostAnswer scan_host(const HostQuestion& question);

}  // namespace tracso
