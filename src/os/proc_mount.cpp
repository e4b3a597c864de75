#include "os/proc_mount.hpp"

#include <unistd.h>

#include <utility>

namespace tracso::os {

bool is_proc_mounted() {
  return ::access("/proc/self", F_OK) == 0;
}

std::optional<Error> without_proc(std::string action, std::string subject) {
  if (is_proc_mounted()) {
    return std::nullopt;
  }
  return Error{ErrorKind::not_found,
               std::move(action),
               std::move(subject),
               "/proc is not mounted here",
               "try: mount -t proc proc /proc"};
}

}  // namespace tracso::os
