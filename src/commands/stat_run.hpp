#pragma once
// Runs a command once and measures it at its last moment.

#include "tracso/stat.hpp"

#include "commands/stat_request.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace tracso {

struct StatRun {
  Stat stat;
  std::optional<int> interrupted_by;  ///< the command goes on without us
};

/// `on_interval` is called while it runs, if set (--stream). Errors: those of the start, as a shell
/// has them (not_found, denied).
Result<StatRun> run_for_stat(const StatRequest& request,
                             bool output_to_stderr,
                             const std::function<void(std::int32_t pid)>& on_interval);

/// stat -p: a running process, once or twice.
Result<Stat> look_for_stat(const StatRequest& request);

}  // namespace tracso
