#include "calls/agent_files.hpp"

#include "base/result.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <linux/openat2.h>
#include <utility>

namespace tracso::calls {
namespace {

constexpr std::uint64_t close_on_exec = 1;  // MFD_CLOEXEC

// A folder of the process, through no link: one could lead out of its root.
UniqueFd open_folder(int root, const char* path) {
  open_how how{};
  how.flags = O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, root, path, &how, sizeof how)));
}

bool may_run_code(int folder) {
  struct statvfs about {};

  return ::fstatvfs(folder, &about) == 0 && (about.f_flag & ST_NOEXEC) == 0;
}

}  // namespace

ForeignFile::~ForeignFile() {
  if (folder_ && !name_.empty()) {
    ::unlinkat(folder_.get(), name_.c_str(), 0);
  }
}

tracee::RemoteCall ForeignFile::memory_call(tracee::BorrowedThread& thread,
                                            const std::string& name,
                                            std::size_t place) {
  return thread.as_call(SYS_memfd_create, {thread.put_text(name, place), close_on_exec, 0, 0, 0});
}

Result<ForeignFile> ForeignFile::made_memory(tracee::BorrowedThread& thread,
                                             pid_t process,
                                             std::int64_t number) {
  const auto subject = fmt::format("a memfd in process {}", process);
  if (number < 0) {
    return errno_error(static_cast<int>(-number), "make", subject);
  }
  ForeignFile file;
  file.number_ = number;
  // Two slashes: no program asks its loader for a library by that name.
  file.path_ = fmt::format("/proc/self//fd/{}", number);
  file.ours_ =
      UniqueFd(::open(fmt::format("/proc/{}/fd/{}", process, number).c_str(), O_RDWR | O_CLOEXEC));
  if (!file.ours_) {
    const int problem = errno;
    file.close_there(thread);
    return errno_error(problem, "open", subject);
  }
  return file;
}

Result<ForeignFile> ForeignFile::make_file(tracee::BorrowedThread& thread,
                                           pid_t process,
                                           const std::string& name) {
  const UniqueFd root(
      ::open(fmt::format("/proc/{}/root", process).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));

  struct stat owner {};

  ::stat(fmt::format("/proc/{}", process).c_str(), &owner);
  bool full = false;
  for (const char* path : {"dev/shm", "tmp", "var/tmp", "run"}) {
    ForeignFile file;
    file.folder_ = open_folder(root.get(), path);
    if (!file.folder_ || !may_run_code(file.folder_.get())) {
      continue;
    }
    file.name_ = fmt::format("{}-{}-{}", ::getpid(), process, name);
    file.path_ = fmt::format("/{}/{}", path, file.name_);
    constexpr mode_t its_own = 0700;
    file.ours_ = UniqueFd(::openat(file.folder_.get(),
                                   file.name_.c_str(),
                                   O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                                   its_own));
    if (!file.ours_) {
      file.name_.clear();
      continue;
    }
    if (owner.st_uid != ::geteuid() &&
        ::fchown(file.ours_.get(), owner.st_uid, owner.st_gid) != 0) {
      continue;
    }
    constexpr auto here = static_cast<std::uint64_t>(AT_FDCWD);
    const auto number = thread.system_call(
        SYS_openat, {here, thread.put_text(file.path_), O_RDWR | O_CLOEXEC, 0, 0});
    if (number && *number >= 0) {
      file.number_ = *number;
      return file;
    }
    full = number && *number == -EMFILE;
  }
  if (full) {
    return Error{ErrorKind::unsupported,
                 "attach to process",
                 std::to_string(process),
                 "it has no free descriptor: as many are open as it may have",
                 fmt::format("prlimit --pid {} --nofile=LIMIT lets it have more", process)};
  }
  return Error{
      ErrorKind::unsupported,
      "attach to process",
      std::to_string(process),
      "it can make no memfd, and has no folder for temporary files from which code may run",
      "a /dev/shm or /tmp that is not mounted noexec"};
}

tracee::RemoteCall ForeignFile::close_call(const tracee::BorrowedThread& thread) const {
  return thread.as_call(SYS_close, {static_cast<std::uint64_t>(number_), 0, 0, 0, 0});
}

void ForeignFile::close_there(tracee::BorrowedThread& thread) const {
  if (number_ >= 0) {
    [[maybe_unused]] const auto closed =
        thread.system_call(SYS_close, {static_cast<std::uint64_t>(number_), 0, 0, 0, 0});
  }
}

}  // namespace tracso::calls
