#include "os/disk.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "os/ignore_broken_pipe.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <functional>

namespace tracso::os {
namespace {

// A folder that is not there is a slip of the command line, not a process that has gone.
Error cannot_write(int number, const std::string& path) {
  Error error = errno_error(number, "write", path);
  if (error.kind == ErrorKind::not_found) {
    error.kind = ErrorKind::usage;
    error.hint = "the folder must be there";
  }
  return error;
}

Result<Done> replace_file(const std::string& path, std::string_view content, mode_t mode) {
  std::string temporary = path + ".XXXXXX";
  UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) {
    return cannot_write(errno, path);
  }
  ::fchmod(fd.get(), mode);
  auto done = write_descriptor(fd.get(), content, path);
  if (done && ::rename(temporary.c_str(), path.c_str()) != 0) {
    done = cannot_write(errno, path);
  }
  if (!done) {
    ::unlink(temporary.c_str());
  }
  return done;
}

mode_t default_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666U & ~mask;
}

Error unreadable_kind(mode_t mode, const std::string& path) {
  return {ErrorKind::unsupported,
          "read",
          path,
          S_ISDIR(mode) ? "is a directory" : "is neither a file nor a pipe",
          ""};
}

// A FIFO without a writer gives its end at once to who reads it, and nothing to who polls it.
bool wait_until_readable(int fd, std::chrono::milliseconds timeout) {
  pollfd waiting{fd, POLLIN, 0};
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    constexpr std::int64_t most = INT_MAX;
    const int ready =
        ::poll(&waiting, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, most)));
    if (ready >= 0 || errno != EINTR) {
      return ready != 0;  // an error too: read() has the words for it
    }
  }
}

// `wait` before every read.
Result<std::string> read_to_end(int fd,
                                const std::string& name,
                                std::size_t most,
                                const std::function<Result<Done>()>& wait) {
  std::string content;
  std::array<char, 65536> buffer{};
  while (content.size() <= most) {
    if (const auto ready = wait(); !ready) {
      return ready.error();
    }
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno != EINTR) {
      return errno_error(errno, "read", name);
    }
    if (count == 0) {
      return content;
    }
    content.append(buffer.data(), static_cast<std::size_t>(count < 0 ? 0 : count));
  }
  constexpr std::size_t megabyte = std::size_t{1} << 20;
  const auto size = most == largest_file ? "1 GB" : fmt::format("{} MB", most / megabyte);
  return Error{ErrorKind::unsupported, "read", name, "it is larger than " + size, ""};
}

Result<Done> make_folders(const std::string& path) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      return errno_error(errno, "make the folder", part);
    }
    if (at == std::string::npos) {
      return Done{};
    }
  }
}

}  // namespace

Result<std::string> read_disk_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));

  struct stat status {};

  if (!fd || ::fstat(fd.get(), &status) != 0) {
    return errno_error(errno, "open", path);
  }
  if (!S_ISREG(status.st_mode)) {
    return unreadable_kind(status.st_mode, path);
  }
  return read_to_end(fd.get(), path, largest_file, [] { return Result<Done>(Done{}); });
}

Result<std::string> read_input(const std::string& path,
                               std::chrono::milliseconds timeout,
                               const std::string& hint,
                               std::size_t most) {
  const bool standard = path == "-";
  const UniqueFd fd(standard ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                             : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));

  struct stat status {};

  // Standard input that is closed: what stands in for it can only be named.
  if (fd && standard && (::fcntl(fd.get(), F_GETFL) & O_PATH) != 0) {
    return errno_error(EBADF, "read", "standard input");
  }
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    return errno_error(errno, "open", path);
  }
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode)) {
    return unreadable_kind(status.st_mode, path);
  }
  // Who pipes something in knows what it waits for, as with every filter.
  return read_to_end(fd.get(), path, most, [&]() -> Result<Done> {
    if (standard || wait_until_readable(fd.get(), timeout)) {
      return Done{};
    }
    return Error{ErrorKind::failed,
                 "read",
                 path,
                 fmt::format("nobody has written to it for {} ms", timeout.count()),
                 hint.empty() ? "what writes to a pipe has to be started before" : hint};
  });
}

Result<Done> write_private_file(const std::string& path, std::string_view content) {
  return replace_file(path, content, 0600);
}

Result<Done> check_output_file(const std::string& path) {
  struct stat status {};

  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      return Error{
          ErrorKind::usage, "write", path, "is a directory", "give the name of a file in it"};
    }
    return ::access(path.c_str(), W_OK) == 0 ? Result<Done>(Done{}) : cannot_write(errno, path);
  }
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? Result<Done>(Done{})
                                                    : cannot_write(errno, path);
}

Result<Done> write_output_file(const std::string& path, std::string_view content) {
  struct stat status {};

  const bool there = ::stat(path.c_str(), &status) == 0;
  if (there && S_ISDIR(status.st_mode)) {
    return Error{
        ErrorKind::usage, "write", path, "is a directory", "give the name of a file in it"};
  }

  struct stat link {};

  const bool plain =
      ::lstat(path.c_str(), &link) != 0 || (S_ISREG(link.st_mode) && link.st_nlink == 1);
  if (plain) {
    if (there && ::access(path.c_str(), W_OK) != 0) {
      return cannot_write(errno, path);
    }
    return replace_file(path, content, there ? status.st_mode & 07777U : default_mode());
  }
  const UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666));
  if (!fd && errno == ENXIO && there && S_ISFIFO(status.st_mode)) {
    return Error{
        ErrorKind::usage, "write", path, "nobody reads from that FIFO", "start its reader first"};
  }
  if (!fd) {
    return cannot_write(errno, path);
  }
  // Only to open it may not wait: a slow reader is waited for.
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  return write_descriptor(fd.get(), content, path);
}

Result<Done> write_descriptor(int fd, std::string_view content, std::string_view name) {
  const IgnoreBrokenPipe quiet;
  while (!content.empty()) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count < 0 && errno == EPIPE) {
      return Error{ErrorKind::interrupted, "write", std::string(name), "nobody reads any more", ""};
    }
    if (count < 0 && errno != EINTR) {
      return errno_error(errno, "write", name);
    }
    content.remove_prefix(static_cast<std::size_t>(count < 0 ? 0 : count));
  }
  return Done{};
}

Result<std::string> state_folder() {
  const char* state =
      std::getenv("XDG_STATE_HOME");       // NOLINT(concurrency-mt-unsafe): nobody sets it
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): as above
  std::string folder;
  if (state != nullptr && *state == '/') {
    folder = std::string(state) + "/tracso";
  } else if (home != nullptr && *home == '/') {
    folder = std::string(home) + "/.local/state/tracso";
  } else {
    return Error{ErrorKind::not_found,
                 "find",
                 "a place for the last trace",
                 "neither XDG_STATE_HOME nor HOME is set",
                 ""};
  }
  if (auto made = make_folders(folder); !made) {
    return made.error();
  }
  return folder;
}

std::string boot_id() {
  auto text = read_disk_file("/proc/sys/kernel/random/boot_id");
  return text ? std::string(trim(*text)) : std::string();
}

}  // namespace tracso::os
