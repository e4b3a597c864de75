#include "os/live_process.hpp"

#include "base/result.hpp"
#include "os/live_files.hpp"
#include "os/proc_mount.hpp"
#include "os/process_directory.hpp"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <vector>

namespace tracso::os {
namespace {

// More than any /proc text can sensibly be: 100,000 mappings take 10 MB of maps and 70 MB of smaps.
constexpr std::size_t largest_file_of_proc = std::size_t{512} << 20;

// The kernel gives a page of text at a time, whatever the room: it is made larger only when full.
Result<std::string> read_all(int fd, std::string_view subject) {
  std::string text(std::size_t{16} << 10, '\0');
  std::size_t used = 0;
  while (used < largest_file_of_proc) {
    if (used == text.size()) {
      text.resize(used * 2);
    }
    const ssize_t count = ::read(fd, text.data() + used, text.size() - used);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return errno_error(errno, "read", subject);
    }
    if (count == 0) {
      text.resize(used);
      return text;
    }
    used += static_cast<std::size_t>(count);
  }
  return Error{ErrorKind::failed, "read", std::string(subject), "it is larger than 512 MB", ""};
}

}  // namespace

Result<std::unique_ptr<LiveProcess>> LiveProcess::open(std::int32_t pid) {
  auto [directory, thread] = open_process_directory(pid);
  if (!directory) {
    Error error = errno_error(errno, "look at process", std::to_string(pid));
    if (error.kind == ErrorKind::not_found) {
      if (auto no_proc = without_proc(error.action, error.subject)) {
        return *std::move(no_proc);
      }
      error.reason = "no such process";
      error.hint = "'ps -ef' lists processes";
    }
    return error;
  }
  return std::unique_ptr<LiveProcess>(new LiveProcess(pid, thread, std::move(directory)));
}

Error LiveProcess::failure(int number, std::string_view action, std::string_view name) const {
  Error error = errno_error(number, action, fmt::format("/proc/{}/{}", pid_, name));
  if (number == ESRCH) {
    error.reason = "the process has ended";
  }
  return error;
}

Result<std::string> LiveProcess::read(std::string_view name) const {
  const UniqueFd fd(
      ::openat(directory_.get(), std::string(name).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    return failure(errno, "read", name);
  }
  auto text = read_all(fd.get(), fmt::format("/proc/{}/{}", pid_, name));
  if (!text && text.error().kind == ErrorKind::not_found) {
    return failure(ESRCH, "read", name);
  }
  return text;
}

Result<std::size_t> LiveProcess::read_at(std::string_view name,
                                         std::uint64_t offset,
                                         std::span<std::byte> into) const {
  const UniqueFd fd(
      ::openat(directory_.get(), std::string(name).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const ssize_t count =
      fd ? ::pread(fd.get(), into.data(), into.size(), static_cast<off_t>(offset)) : -1;
  if (count < 0) {
    return failure(errno, "read", name);
  }
  return static_cast<std::size_t>(count);
}

Result<std::string> LiveProcess::read_link(std::string_view name) const {
  std::array<char, PATH_MAX> text{};
  const ssize_t length =
      ::readlinkat(directory_.get(), std::string(name).c_str(), text.data(), text.size());
  if (length < 0) {
    return failure(errno, "follow", name);
  }
  return std::string(text.data(), static_cast<std::size_t>(length));
}

Result<std::vector<std::string>> LiveProcess::list(std::string_view name) const {
  const int fd =
      ::openat(directory_.get(), std::string(name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = fd < 0 ? nullptr : ::fdopendir(fd);
  if (stream == nullptr) {
    return failure(errno, "list", name);
  }
  std::vector<std::string> names;
  while (const dirent* entry =
             ::readdir(stream)) {  // NOLINT(concurrency-mt-unsafe): the stream is ours alone
    if (entry->d_name[0] != '.') {
      names.emplace_back(static_cast<const char*>(entry->d_name));
    }
  }
  ::closedir(stream);
  return names;
}

// process_vm_readv first: one call, no descriptor. Some container profiles forbid it and leave
// /proc/PID/mem.
bool LiveProcess::read_piece(MemoryRead& piece) const {
  iovec local{piece.into.data(), piece.into.size()};
  iovec remote{
      reinterpret_cast<void*>(piece.address),
      piece.into.size()};  // NOLINT(performance-no-int-to-ptr): the other process's address
  const ssize_t count = ::process_vm_readv(thread_, &local, 1, &remote, 1, 0);
  if (count >= 0 || (errno != EPERM && errno != ENOSYS)) {
    return count == static_cast<ssize_t>(piece.into.size());
  }
  if (!memory_) {
    memory_ = UniqueFd(::openat(directory_.get(), "mem", O_RDONLY | O_CLOEXEC));
  }
  if (!memory_) {
    errno = EPERM;
    return false;
  }
  return ::pread(memory_.get(),
                 piece.into.data(),
                 piece.into.size(),
                 static_cast<off_t>(piece.address)) == static_cast<ssize_t>(piece.into.size());
}

Result<Done> LiveProcess::read_memory(std::uint64_t address, std::span<std::byte> into) const {
  MemoryRead piece{address, into, false};
  errno = EFAULT;
  if (into.empty() || read_piece(piece)) {
    return Done{};
  }
  Error error = failure(errno, "read memory of", "mem");
  if (error.kind == ErrorKind::failed) {
    error.kind = ErrorKind::not_found;
    error.reason = fmt::format("nothing is mapped at {:#x}", address);
  }
  return error;
}

// The kernel stops at the first piece that is not there; the rest is tried again behind it.
void LiveProcess::read_memory(std::span<MemoryRead> pieces) const {
  constexpr std::size_t most = 512;  // below IOV_MAX
  std::vector<iovec> local(std::min(most, pieces.size()));
  std::vector<iovec> remote(local.size());
  std::size_t at = 0;
  while (at < pieces.size()) {
    const std::size_t count = std::min(most, pieces.size() - at);
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < count; ++i) {
      MemoryRead& piece = pieces[at + i];
      local[i] = {piece.into.data(), piece.into.size()};
      remote[i] = {reinterpret_cast<void*>(piece.address),
                   piece.into.size()};  // NOLINT(performance-no-int-to-ptr): as above
      wanted += piece.into.size();
    }
    const ssize_t got = ::process_vm_readv(thread_, local.data(), count, remote.data(), count, 0);
    std::size_t left = got < 0 ? 0 : static_cast<std::size_t>(got);
    std::size_t whole = 0;
    while (whole < count && (left >= pieces[at + whole].into.size())) {
      left -= pieces[at + whole].into.size();
      pieces[at + whole].got = true;
      ++whole;
      if (left == 0 && static_cast<std::size_t>(std::max<ssize_t>(got, 0)) != wanted) {
        break;
      }
    }
    at += whole;
    if (whole < count) {
      pieces[at].got = read_piece(pieces[at]);
      ++at;
    }
  }
}

Result<std::unique_ptr<File>> LiveProcess::open_mapped(const MappedRange& range) const {
  const std::string name = fmt::format("map_files/{:x}-{:x}", range.start, range.end);
  UniqueFd fd(::openat(directory_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    return failure(errno, "open", name);
  }
  return make_live_file(std::move(fd), name);
}

}  // namespace tracso::os
