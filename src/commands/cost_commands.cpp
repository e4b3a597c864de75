// Which command answers which request about costs.

#include "commands/diff_command.hpp"
#include "commands/fds_command.hpp"
#include "commands/stat_command.hpp"
#include "commands/watch_command.hpp"

namespace tracso {

int carry_out(const CostRequest& request) {
  if (const auto* what = std::get_if<StatRequest>(&request)) {
    return stat(*what);
  }
  if (const auto* what = std::get_if<FdsRequest>(&request)) {
    return fds(*what);
  }
  if (const auto* what = std::get_if<DiffRequest>(&request)) {
    return diff(*what);
  }
  return watch(std::get<WatchRequest>(request));
}

}  // namespace tracso
