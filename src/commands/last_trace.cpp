#include "commands/last_trace.hpp"

#include "base/text.hpp"
#include "graph/trace_json.hpp"
#include "os/disk.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace tracso {
namespace {

bool saving_is_off() {
  const char* off =
      std::getenv("TRACSO_NO_STATE");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return off != nullptr && std::string_view(off) == "1";
}

// One file per boot: what a process of another boot had loaded answers no question of today.
Result<std::string> file_name() {
  auto folder = os::state_folder();
  if (!folder) {
    return folder.error();
  }
  return *folder + "/last-trace-" + os::boot_id().substr(0, 8) + ".json";
}

}  // namespace

Result<Done> save_last_trace(const Trace& trace) {
  if (saving_is_off()) {
    return Done{};
  }
  const auto name = file_name();
  if (!name) {
    return name.error();
  }
  return os::write_private_file(*name, write_trace_json(trace));
}

Result<Trace> load_last_trace() {
  Error none{ErrorKind::usage,
             "answer",
             "",
             "there is no last trace to read on this boot",
             "name a target: tracso PID, tracso FILE or tracso --run CMD"};
  const auto name = file_name();
  if (!name) {
    none.reason += fmt::format(", for none can be kept: cannot {} {}: {}",
                               name.error().action,
                               name.error().subject,
                               name.error().reason);
    return none;
  }
  const auto text = os::read_disk_file(*name);
  if (!text) {
    return text.error().kind == ErrorKind::not_found ? none : text.error();
  }
  return read_trace_json(*text, *name);
}

}  // namespace tracso
