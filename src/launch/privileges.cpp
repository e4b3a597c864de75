#include "launch/privileges.hpp"

#include "base/text.hpp"
#include "proc/status.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

namespace tracso::launch {

bool lacks_privileges(const ProcessSource& process) {
  struct stat program {};

  if (stat(fmt::format("/proc/{}/exe", process.pid()).c_str(), &program) != 0 ||
      (program.st_mode & S_ISUID) == 0) {
    return false;
  }
  const auto status = process.read("status");
  const auto ids = status ? proc::status_value(*status, "Uid") : std::nullopt;
  const auto fields = split_words(ids.value_or(""), " \t");
  return fields.size() > 1 && parse_unsigned(fields[1]) != program.st_uid;
}

}  // namespace tracso::launch
