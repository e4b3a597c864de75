#pragma once
// A recording: what one run read through its doors, written down so that the same report can be
// made elsewhere. It is the form of a bug report and of our fixtures. A read that was not recorded
// is an Error, never a guess.

#include "tracso/module_files.hpp"
#include "tracso/python_pools.hpp"
#include "tracso/python_probe.hpp"
#include "tracso/target.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tracso::os {

/// Pieces of one file: what was read of it, by offset.
struct RecordedFile {
  FileStatus status;
  std::map<std::uint64_t, std::string> pieces;
};

/// Everything that was read, with the failures. Keys are the arguments of the doors.
struct Recording {
  std::int32_t pid = 0;
  std::string version;  ///< of the tracso that made it
  std::string cpu;      ///< SnapshotOptions::cpu of the machine it was made on
  std::map<std::string, Result<std::string>> texts, links;
  std::map<std::string, Result<std::vector<std::string>>> lists;
  std::map<std::uint64_t, std::string> memory;          ///< exact ranges, by address
  std::map<std::string, Result<FileStatus>> statuses;   ///< by path
  std::map<std::string, Result<std::string>> resolved;  ///< by path
  std::map<std::string, Result<std::vector<std::string>>> directories;
  std::map<std::string, Result<std::size_t>>
      opened;  ///< by path, or "map:START-END": index into files
  std::vector<RecordedFile> files;
  std::map<std::string, Result<CommandOutput>> commands;  ///< by the words of the command
  std::optional<PythonFacts> python;           ///< what the probe found; its memory is not recorded
  std::optional<ModuleFiles> module_files;     ///< what was read of files beside the modules
  std::optional<PoolsByMapping> python_pools;  ///< nullopt: no Python, or an older recording
  std::vector<std::vector<std::string>> python_notices;  ///< code, text, effect, what to try
};

/// Doors that pass everything on to the live ones and write it down. `recording` must outlive them.
/// The environment is cut to LD_*, PYTHON*, VIRTUAL_ENV and CONDA_PREFIX, the command line to its
/// first word: also for the reader, so that the report made now is the one that can be made later.
struct RecordingDoors {
  std::unique_ptr<ProcessSource> process;
  std::unique_ptr<FileSystem> files;
  std::unique_ptr<CommandRunner> commands;
};

RecordingDoors record_through(const Target& live, Recording& recording);

/// Doors that answer from a recording, which must outlive them.
RecordingDoors replay(const Recording& recording);

/// The parts of a recording as files: "recording.json", "maps", "smaps", "data.bin".
std::map<std::string, std::string> pack_recording(const Recording& recording);
/// malformed: not a recording, or cut short.
Result<Recording> unpack_recording(const std::map<std::string, std::string>& parts);

/// Writes a folder if the path ends in '/', else a .tar.gz; mode 0600. "-": the .tar.gz to standard
/// output; interrupted: nobody reads it any more.
Result<Done> write_recording(const Recording& recording, const std::string& destination);
/// Reads either. not_found, denied, malformed.
Result<Recording> read_recording(const std::string& path);

}  // namespace tracso::os
