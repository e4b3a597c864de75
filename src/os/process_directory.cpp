#include "os/process_directory.hpp"

#include "base/text.hpp"
#include "proc/status.hpp"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tracso::os {
namespace {

bool lives(int directory, const std::string& stat_file) {
  const UniqueFd fd(::openat(directory, stat_file.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  const ssize_t count = fd ? ::read(fd.get(), text.data(), text.size()) : -1;
  if (count <= 0) {
    return false;
  }
  const auto stat = proc::parse_stat({text.data(), static_cast<std::size_t>(count)});
  return stat && stat->state != 'Z' && stat->state != 'X';
}

UniqueFd open_directory(std::int32_t number) {
  return UniqueFd(
      ::open(fmt::format("/proc/{}", number).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

std::optional<std::int32_t> living_thread(int directory) {
  const int fd = ::openat(directory, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  while (const dirent* entry = tasks ? ::readdir(tasks.get()) : nullptr) {  // NOLINT: ours alone
    const std::string_view name = static_cast<const char*>(entry->d_name);
    const auto number = parse_unsigned(name);
    if (number && *number <= INT32_MAX && lives(directory, fmt::format("task/{}/stat", name))) {
      return static_cast<std::int32_t>(*number);
    }
  }
  return std::nullopt;
}

}  // namespace

ProcessDirectory open_process_directory(std::int32_t pid) {
  ProcessDirectory opened{open_directory(pid), pid};
  if (!opened.directory || lives(opened.directory.get(), "stat")) {
    return opened;
  }
  const auto thread = living_thread(opened.directory.get());
  if (UniqueFd through = thread ? open_directory(*thread) : UniqueFd()) {
    return {std::move(through), *thread};
  }
  return opened;
}

}  // namespace tracso::os
