#include "commands/record.hpp"

#include "tracso/snapshot.hpp"

#include "base/text.hpp"
#include "collect/malloc_arenas.hpp"
#include "collect/memory_classes.hpp"
#include "commands/output.hpp"
#include "commands/python.hpp"
#include "commands/sources.hpp"
#include "os/disk.hpp"
#include "os/recording.hpp"
#include "proc/smaps.hpp"
#include "python/distributions.hpp"
#include "python/importers.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace tracso {
namespace {

// Sources of programs and lists of what is installed are nobody's business either: what they tell
// is recorded, not what they are.
ModuleFiles read_files_beside(const PythonFacts& facts, const FileSystem& files) {
  std::vector<PythonModule> extensions;
  for (const auto& module : facts.modules) {
    if (module.file && base_name(*module.file).find(".so") != std::string_view::npos) {
      extensions.push_back(module);
    }
  }
  return {python::infer_importers(facts.modules, files),
          python::find_distributions(extensions, files)};
}

// The probe reads the process itself, not through the recorder: its result is recorded, the heap it
// reads is nobody's business.
std::optional<PythonFacts> probe_beside(const Target& live,
                                        ProbeInput input,
                                        const RecordRequest& request,
                                        os::Recording& recording,
                                        std::vector<Notice>& notices,
                                        std::optional<Error>& refused) {
  input.target = live;
  std::vector<Notice> own;
  recording.python = find_python_modules(input, request.probe, own, refused);
  if (recording.python) {
    recording.module_files = read_files_beside(*recording.python, *live.files);
  }
  for (const auto& notice : own) {
    recording.python_notices.push_back({notice.code, notice.text, notice.effect, notice.try_});
  }
  notices.insert(notices.end(), own.begin(), own.end());
  return recording.python;
}

// Of the heap nothing is kept, but how much of which mapping is Python's, and by `recorder` the 32
// bytes that tell an arena of malloc.
void note_heap(const Target& live, const ProcessSource& recorder, os::Recording& recording) {
  const auto smaps = recording.texts.find("smaps");
  const auto costs = smaps != recording.texts.end() && smaps->second
                         ? proc::parse_smaps(*smaps->second)
                         : Result<std::vector<proc::MappingCost>>(Error{});
  if (costs && recording.python) {
    recording.python_pools = classify_memory(*live.process, *costs).pools;
  }
  for (std::size_t i = 0; costs && i < costs->size(); ++i) {
    const Mapping* next = i + 1 < costs->size() ? &(*costs)[i + 1].mapping : nullptr;
    static_cast<void>(is_malloc_arena(recorder, (*costs)[i].mapping, next));
  }
}

// What would be refused at the end is refused before the process is looked at.
std::optional<Error> cannot_write(const std::string& destination) {
  if (destination == "-" && ::isatty(STDOUT_FILENO) == 1) {
    return Error{ErrorKind::usage,
                 "write",
                 "a recording",
                 "it is an archive, and stdout is a terminal",
                 "-o bug.tar.gz, or a pipe: tracso record PID -o - | tracso --from -"};
  }
  if (destination == "-" || destination.ends_with('/')) {
    return std::nullopt;
  }
  const auto writable = os::check_output_file(destination);
  return writable ? std::nullopt : std::optional(writable.error());
}

Result<Done> write(const os::Recording& recording, const std::string& destination) {
  auto done = os::write_recording(recording, destination);
  if (destination == "-") {
    const bool unread = !done && done.error().kind == ErrorKind::interrupted;
    return unread ? Result<Done>(Done{}) : done;  // as for every answer
  }
  if (done) {
    say(fmt::format("wrote {0}; read it with: tracso --from {0}", destination));
  }
  return done;
}

}  // namespace

int record(const RecordRequest& request) {
  if (const auto error = cannot_write(request.destination)) {
    return fail(*error);
  }
  const auto live = LiveTarget::open(request.pid);
  if (!live) {
    return fail(live.error());
  }
  os::Recording recording;
  recording.version = TRACSO_VERSION;
  recording.cpu = cpu_text();
  const auto doors = os::record_through(live->target(), recording);
  std::optional<Error> refused;
  SnapshotOptions options;
  options.elf = request.elf;
  options.timeout = request.timeout;
  options.costs = true;            // for who asks the recording about them
  options.memory_classes = false;  // through these doors heads of Python's pools would be kept
  options.python = [&](const ProbeInput& input, std::vector<Notice>& notices) {
    return probe_beside(live->target(), input, request, recording, notices, refused);
  };
  const auto trace =
      take_snapshot({doors.process.get(), doors.files.get(), doors.commands.get()}, options);
  if (!trace || refused) {
    return fail(refused ? *refused : with_denial(trace.error(), request.pid));
  }
  static_cast<void>(doors.process->read("status"));
  note_heap(live->target(), *doors.process, recording);
  if (const auto done = write(recording, request.destination); !done) {
    return fail(done.error());
  }
  return trace->partial ? exit_status(ErrorKind::not_found) : 0;
}

}  // namespace tracso
