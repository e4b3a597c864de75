// 5,000 processes are 25,000 small files: they are read into one buffer that is kept, and of maps
// nothing is parsed but the name that is looked for.

#include "os/process_list.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "os/privileges.hpp"
#include "proc/container.hpp"
#include "proc/maps.hpp"
#include "proc/status.hpp"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <map>
#include <memory>

namespace tracso::os {
namespace {

constexpr std::size_t largest_fact = std::size_t{8} << 20;

class ProcessFolder {
 public:
  explicit ProcessFolder(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

  // The text of a file; empty where it cannot be read. Valid until the next call.
  std::string_view read(const char* name, std::string& buffer) const {
    const UniqueFd file(::openat(fd_.get(), name, O_RDONLY | O_CLOEXEC));
    std::size_t size = 0;
    while (file.get() >= 0 && size < largest_fact) {
      if (buffer.size() < size + 64UL * 1024) {
        buffer.resize(size + 128UL * 1024);
      }
      const ssize_t count = ::read(file.get(), buffer.data() + size, buffer.size() - size);
      if (count <= 0) {
        break;
      }
      size += static_cast<std::size_t>(count);
    }
    return std::string_view(buffer).substr(0, size);
  }

  std::string link(const char* name) const {
    std::array<char, PATH_MAX> text{};
    const ssize_t size = ::readlinkat(fd_.get(), name, text.data(), text.size());
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }

 private:
  UniqueFd fd_;
};

class Lister {
 public:
  std::optional<proc::ProcessEntry> entry(std::int32_t pid, PythonNames names) {
    const ProcessFolder folder(fmt::format("/proc/{}", pid));
    const std::string status(folder.read("status", buffer_));
    if (!proc::has_memory(status)) {
      return std::nullopt;
    }
    auto entry = proc::parse_process_entry(pid, status, folder.read("cmdline", buffer_));
    entry.user = user(status);
    entry.container = proc::container_of(folder.read("cgroup", buffer_));
    entry.python_asked = names == PythonNames::now;
    if (entry.python_asked) {
      entry.python = proc::python_by_names(folder.link("exe"), folder.read("maps", buffer_));
    }
    return entry;
  }

 private:
  const std::string& user(const std::string& status) {
    const auto words = split_words(proc::status_value(status, "Uid").value_or("0"), " \t");
    const auto uid = static_cast<std::uint32_t>(parse_unsigned(words.front()).value_or(0));
    auto& name = users_[uid];
    if (name.empty()) {
      name = user_name(uid);
      name = name.substr(0, name.find(" (uid "));
    }
    return name;
  }

  std::string buffer_;
  std::map<std::uint32_t, std::string> users_;
};

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

Result<std::vector<std::int32_t>> all_pids() {
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir("/proc"));
  if (!directory) {
    return errno_error(errno, "list", "/proc");
  }
  std::vector<std::int32_t> pids;
  while (const dirent* entry = ::readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe)
    const auto pid = parse_unsigned(entry->d_name);
    if (pid && *pid > 0 && *pid <= INT32_MAX) {
      pids.push_back(static_cast<std::int32_t>(*pid));
    }
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

Result<std::vector<proc::ProcessEntry>> list_processes(PythonNames names) {
  const auto pids = all_pids();
  if (!pids) {
    return pids.error();
  }
  Lister lister;
  std::vector<proc::ProcessEntry> entries;
  entries.reserve(pids->size());
  for (const std::int32_t pid : *pids) {
    if (pid == ::getpid()) {
      continue;
    }
    if (auto entry = lister.entry(pid, names)) {
      entries.push_back(std::move(*entry));
    }
  }
  return entries;
}

std::string python_of_process(std::int32_t pid) {
  std::string buffer;
  const ProcessFolder folder(fmt::format("/proc/{}", pid));
  return proc::python_by_names(folder.link("exe"), folder.read("maps", buffer));
}

std::vector<std::string> mapped_library_names(std::int32_t pid) {
  std::string buffer;
  const ProcessFolder folder(fmt::format("/proc/{}", pid));
  std::vector<std::string> names;
  for (const std::string_view line : split(folder.read("maps", buffer), '\n')) {
    const std::size_t slash = line.rfind('/');
    if (slash != std::string_view::npos && line.find(".so", slash) != std::string_view::npos) {
      std::string name(line.substr(slash + 1));
      names.push_back(name.substr(0, name.find(" (deleted)")));
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace tracso::os
