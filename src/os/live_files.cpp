#include "os/live_files.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "proc/root_prefix.hpp"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <linux/openat2.h>

namespace tracso::os {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

FileStatus file_status(const struct stat& from) {
  FileStatus status;
  status.device = from.st_dev;
  status.inode = from.st_ino;
  status.bytes = static_cast<std::uint64_t>(from.st_size);
  status.mode = from.st_mode;
  status.owner = from.st_uid;
  status.links = from.st_nlink;
  status.modified_ns = nanoseconds(from.st_mtim);
  status.changed_ns = nanoseconds(from.st_ctim);
  return status;
}

class LiveFile final : public File {
 public:
  LiveFile(UniqueFd fd, std::string name, FileStatus status)
      : fd_(std::move(fd)), name_(std::move(name)), status_(status) {}

  Result<FileStatus> status() const override { return status_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    if (offset > static_cast<std::uint64_t>(LLONG_MAX)) {
      return std::size_t{0};
    }
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t count = ::pread(
          fd_.get(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count < 0) {
        return errno_error(errno, "read", name_);
      }
      if (count == 0) {
        break;
      }
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

 private:
  UniqueFd fd_;
  std::string name_;
  FileStatus status_;
};

std::string read_link_text(const std::string& path) {
  std::array<char, PATH_MAX> text{};
  const ssize_t length = ::readlink(path.c_str(), text.data(), text.size());
  return length < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(length));
}

std::string descriptor_link(int fd) {
  return read_link_text(fmt::format("/proc/self/fd/{}", fd));
}

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

bool shares_our_mounts(const std::string& proc) {
  const std::string mounts = read_link_text(proc + "/ns/mnt");
  return !mounts.empty() && mounts == read_link_text("/proc/self/ns/mnt");
}

// Same root directory and same mounts: then plain system calls see what the process sees.
bool shares_our_root(const std::string& proc, int root) {
  struct stat ours {};

  struct stat theirs {};

  const bool same_directory = ::stat("/", &ours) == 0 && ::fstat(root, &theirs) == 0 &&
                              ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
  return same_directory && shares_our_mounts(proc);
}

}  // namespace

Result<std::unique_ptr<File>> make_live_file(UniqueFd fd, std::string_view name) {
  struct stat from {};

  if (::fstat(fd.get(), &from) != 0) {
    return errno_error(errno, "look at", name);
  }
  if (!S_ISREG(from.st_mode)) {
    return Error{ErrorKind::unsupported,
                 "read",
                 std::string(name),
                 S_ISDIR(from.st_mode) ? "is a directory" : "not a regular file",
                 ""};
  }
  return std::unique_ptr<File>(
      std::make_unique<LiveFile>(std::move(fd), std::string(name), file_status(from)));
}

LiveFiles::LiveFiles(std::string working_directory)
    : root_name_(""), working_directory_(std::move(working_directory)) {}

LiveFiles::LiveFiles(UniqueFd root, std::string root_name, std::string working_directory)
    : root_(std::move(root)),
      root_name_(std::move(root_name)),
      working_directory_(std::move(working_directory)) {
  root_link_ = descriptor_link(root_.get());
}

std::string LiveFiles::absolute(const TargetPath& path) const {
  if (path.text.starts_with('/')) {
    return path.text;
  }
  return working_directory_ + (working_directory_.ends_with('/') ? "" : "/") + path.text;
}

Result<UniqueFd> LiveFiles::open_at(const TargetPath& path,
                                    int flags,
                                    std::string_view action) const {
  const std::string name = absolute(path);
  if (has_nul(name)) {
    return Error{
        ErrorKind::not_found, std::string(action), path.text, "the name holds a NUL byte", ""};
  }
  int fd = -1;
  if (!root_) {
    fd = ::open(name.c_str(), flags | O_CLOEXEC | O_NOCTTY);
  } else {
    open_how how{};
    // openat2(2) refuses O_NOCTTY beside O_PATH, where open(2) ignores it.
    const int no_terminal = (flags & O_PATH) != 0 ? 0 : O_NOCTTY;
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC | no_terminal);
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    fd = static_cast<int>(::syscall(SYS_openat2, root_.get(), name.c_str(), &how, sizeof how));
  }
  if (fd < 0) {
    return errno_error(errno, action, path.text);
  }
  return UniqueFd(fd);
}

Result<FileStatus> LiveFiles::status(const TargetPath& path) const {
  struct stat from {};

  if (!root_) {
    const std::string name = absolute(path);
    if (has_nul(name)) {
      return errno_error(ENOENT, "look at", path.text);
    }
    if (::stat(name.c_str(), &from) != 0) {
      return errno_error(errno, "look at", path.text);
    }
    return file_status(from);
  }
  auto fd = open_at(path, O_PATH, "look at");
  if (!fd) {
    return fd.error();
  }
  if (::fstat(fd->get(), &from) != 0) {
    return errno_error(errno, "look at", path.text);
  }
  return file_status(from);
}

Result<std::unique_ptr<File>> LiveFiles::open(const TargetPath& path) const {
  // O_NONBLOCK: a FIFO without a writer must not hold us up.
  auto fd = open_at(path, O_RDONLY | O_NONBLOCK, "open");
  if (!fd) {
    return fd.error();
  }
  return make_live_file(std::move(*fd), path.text);
}

Result<TargetPath> LiveFiles::resolve(const TargetPath& path) const {
  auto fd = open_at(path, O_PATH, "resolve");
  if (!fd) {
    return fd.error();
  }
  std::string real = descriptor_link(fd->get());
  if (root_ && root_link_ != "/" && real.starts_with(root_link_)) {
    real.erase(0, root_link_.size());
  }
  return TargetPath{real.empty() ? "/" : real};
}

Result<std::vector<std::string>> LiveFiles::list(const TargetPath& directory) const {
  auto fd = open_at(directory, O_RDONLY | O_DIRECTORY | O_NONBLOCK, "list");
  if (!fd) {
    return fd.error();
  }
  const int copy = ::fcntl(fd->get(), F_DUPFD_CLOEXEC, 0);
  DIR* stream = copy < 0 ? nullptr : ::fdopendir(copy);
  if (stream == nullptr) {
    if (copy >= 0) {
      ::close(copy);
    }
    return errno_error(errno, "list", directory.text);
  }
  std::vector<std::string> names;
  while (const dirent* entry =
             ::readdir(stream)) {  // NOLINT(concurrency-mt-unsafe): the stream is ours alone
    const std::string name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") {
      names.push_back(name);
    }
  }
  ::closedir(stream);
  return names;
}

std::string LiveFiles::host_path(const TargetPath& path) const {
  return root_name_ + absolute(path);
}

Result<std::unique_ptr<FileSystem>> open_root(const std::string& directory) {
  UniqueFd root(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) {
    return errno_error(errno, "open the system tree", directory);
  }
  return std::unique_ptr<FileSystem>(
      std::make_unique<LiveFiles>(std::move(root), directory == "/" ? "" : directory, "/"));
}

Result<std::unique_ptr<FileSystem>> open_process_root(std::int32_t pid,
                                                      const std::string& working_directory) {
  const std::string proc = fmt::format("/proc/{}", pid);
  UniqueFd root(::open((proc + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) {
    return errno_error(errno, "open the root directory of", std::to_string(pid));
  }
  if (shares_our_root(proc, root.get())) {
    return std::unique_ptr<FileSystem>(std::make_unique<LiveFiles>(working_directory));
  }
  return std::unique_ptr<FileSystem>(
      std::make_unique<LiveFiles>(std::move(root), proc + "/root", working_directory));
}

std::unique_ptr<FileSystem> open_process_files(const ProcessSource& process) {
  const std::string prefix = proc::root_prefix(process);
  const auto directory = process.read_link("cwd");
  if (proc::is_locked_up(process, prefix) &&
      shares_our_mounts(fmt::format("/proc/{}", process.pid()))) {
    return std::make_unique<LiveFiles>(directory ? *directory : "/");
  }
  const std::string working_directory =
      directory ? proc::without_prefix(*directory, proc::loading_prefix(process)) : "/";
  auto files = open_process_root(process.pid(), working_directory);
  return files ? std::move(*files) : std::make_unique<LiveFiles>(working_directory);
}

}  // namespace tracso::os
