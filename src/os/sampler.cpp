#include "os/sampler.hpp"

#include "base/result.hpp"
#include "os/proc_mount.hpp"
#include "os/process_directory.hpp"
#include "proc/no_memory.hpp"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <optional>

namespace tracso::os {
namespace {

UniqueFd open_below(int directory, const char* name, int flags) {
  return UniqueFd(::openat(directory, name, flags | O_RDONLY | O_CLOEXEC));
}

// Kernels before 6.2 give 0, whatever is open.
CountBy way_of_this_kernel() {
  struct stat status {};

  const bool counted = ::stat("/proc/self/fd", &status) == 0 && status.st_size > 0;
  return counted ? CountBy::size : CountBy::listing;
}

Error cannot_look(int number, std::int32_t pid) {
  Error error = errno_error(number, "look at process", std::to_string(pid));
  if (error.kind == ErrorKind::not_found) {
    if (auto no_proc = without_proc(error.action, error.subject)) {
      return *std::move(no_proc);
    }
    error.reason = "no such process";
    error.hint = "'ps -ef' lists processes";
  }
  return error;
}

std::optional<Error> without_memory(std::int32_t pid, int directory) {
  const UniqueFd fd = open_below(directory, "stat", 0);
  std::array<char, 1024> text{};
  const ssize_t count = fd ? ::read(fd.get(), text.data(), text.size()) : -1;
  const auto stat =
      count <= 0 ? std::nullopt : proc::parse_stat({text.data(), static_cast<std::size_t>(count)});
  return stat ? proc::no_memory("look at process", pid, *stat) : std::nullopt;
}

std::uint64_t count_entries(int directory) {
  alignas(std::uint64_t) std::array<char, 32 * 1024> buffer{};
  std::uint64_t count = 0;
  ::lseek(directory, 0, SEEK_SET);
  for (;;) {
    const long got = ::syscall(SYS_getdents64, directory, buffer.data(), buffer.size());
    if (got <= 0) {
      return count >= 2 ? count - 2 : 0;  // . and ..
    }
    for (long at = 0; at < got;) {
      constexpr std::size_t length_at = 16;  // struct linux_dirent64
      std::uint16_t length = 0;
      __builtin_memcpy(&length, buffer.data() + at + length_at, sizeof length);
      at += length;
      ++count;
    }
  }
}

}  // namespace

Result<Sampler> Sampler::open(std::int32_t pid) {
  return open(pid, way_of_this_kernel());
}

Result<Sampler> Sampler::open(std::int32_t pid, CountBy by) {
  Sampler sampler;
  sampler.pid_ = pid;
  sampler.by_ = by;
  sampler.page_bytes_ = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  sampler.process_ = open_process_directory(pid).directory;
  if (!sampler.process_) {
    return cannot_look(errno, pid);
  }
  const int process = sampler.process_.get();
  if (auto error = without_memory(pid, process)) {
    return *error;
  }
  sampler.statm_ = open_below(process, "statm", 0);
  sampler.tasks_ = sampler.statm_ ? open_below(process, "task", O_DIRECTORY) : UniqueFd();
  if (!sampler.tasks_) {
    return cannot_look(errno, pid);
  }
  if (const int number = ::clock_getcpuclockid(pid, &sampler.clock_); number != 0) {
    return cannot_look(number, pid);
  }
  // stat(2) on the folder is for everybody, its list is not.
  sampler.descriptors_ = by == CountBy::size
                             ? UniqueFd(::openat(process, "fd", O_PATH | O_DIRECTORY | O_CLOEXEC))
                             : open_below(process, "fd", O_DIRECTORY);
  if (!sampler.descriptors_) {
    return errno_error(errno, "count descriptors of process", std::to_string(pid));
  }
  if (const auto first = sampler.look(); !first) {
    return first.error();
  }
  return sampler;
}

Error Sampler::ended() const {
  return {ErrorKind::interrupted,
          "look at process",
          std::to_string(pid_),
          "it has ended",
          "a process that has ended keeps nothing to look at"};
}

std::uint64_t Sampler::count_descriptors() const {
  if (by_ == CountBy::listing) {
    return count_entries(descriptors_.get());
  }

  struct stat status {};

  return ::fstat(descriptors_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

// The clock goes by number; that statm can still be read afterwards proves that the number was the
// process' own.
Result<QuickLook> Sampler::look() const {
  QuickLook look;
  look.at = std::chrono::steady_clock::now();
  timespec time{};
  if (::clock_gettime(clock_, &time) != 0) {
    return ended();
  }
  look.cpu = std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  look.descriptors = count_descriptors();

  struct stat tasks {};

  if (::fstat(tasks_.get(), &tasks) != 0 || tasks.st_nlink < 3) {
    return ended();
  }
  look.threads = tasks.st_nlink - 2;
  std::array<char, 256> text{};
  const ssize_t count = ::pread(statm_.get(), text.data(), text.size(), 0);
  if (count <= 0) {
    return ended();
  }
  const char* end = text.data() + count;
  std::uint64_t shared = 0;
  const char* at = text.data();
  for (std::uint64_t* field : {&look.virtual_, &look.resident, &shared}) {
    at = std::from_chars(at, end, *field).ptr;
    at = at < end ? at + 1 : end;
  }
  if (look.virtual_ == 0) {
    return ended();  // a zombie (or a kernel thread) has no memory
  }
  look.virtual_ *= page_bytes_;
  look.anonymous = (look.resident - std::min(shared, look.resident)) * page_bytes_;
  look.resident *= page_bytes_;
  return look;
}

namespace {

// What each digit means: proc_pid_clear_refs(5).
Result<Done> clear_refs(std::int32_t pid, char what, const char* action) {
  const std::string path = fmt::format("/proc/{}/clear_refs", pid);
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), &what, 1) != 1) {
    return errno_error(errno, action, std::to_string(pid));
  }
  return Done{};
}

}  // namespace

Result<Done> reset_peak(std::int32_t pid) {
  return clear_refs(pid, '5', "reset the peak of process");
}

Result<Done> forget_touched_pages(std::int32_t pid) {
  return clear_refs(pid, '1', "begin to see what is used by process");
}

}  // namespace tracso::os
