#include "collect/processors.hpp"

#include "base/text.hpp"
#include "loader/environment.hpp"
#include "proc/status.hpp"

#include <algorithm>
#include <string>

namespace tracso {
namespace {

constexpr std::size_t most_text = 4096;
constexpr int most_levels = 32;

std::string small_file(const FileSystem& files, const std::string& path) {
  const auto text = loader::read_whole_file(files, {path}, most_text);
  return text ? std::string(trim(*text)) : "";
}

using Read = std::optional<std::size_t> (*)(const FileSystem&, const std::string& folder);

std::optional<std::size_t> quota_v2(const FileSystem& files, const std::string& folder) {
  return processors_of_quota(small_file(files, "/sys/fs/cgroup" + folder + "/cpu.max"));
}

std::optional<std::size_t> quota_v1(const FileSystem& files, const std::string& folder) {
  const std::string start = "/sys/fs/cgroup/cpu" + folder + "/cpu.cfs_";
  return processors_of_quota(small_file(files, start + "quota_us") + " " +
                             small_file(files, start + "period_us"));
}

// A quota of a group above holds for all below. Inside a container the group's own folder is the
// root of what is seen, and the path in /proc/PID/cgroup may lead nowhere: the root is asked last.
std::optional<std::size_t> least_quota(const FileSystem& files,
                                       std::string_view group,
                                       const Read& read) {
  std::optional<std::size_t> least;
  std::string folder(group == "/" ? "" : group);
  for (int level = 0; level < most_levels; ++level) {
    if (const auto quota = read(files, folder)) {
      least = std::min(least.value_or(*quota), *quota);
    }
    if (folder.empty()) {
      break;
    }
    const auto slash = folder.rfind('/');
    folder.resize(slash == std::string::npos ? 0 : slash);
  }
  return least;
}

// Lines of cgroup: "0::/user.slice", of version 1 "4:cpu,cpuacct:/docker/1f3".
std::optional<std::size_t> quota_of_groups(const ProcessSource& process, const FileSystem& files) {
  const auto text = process.read("cgroup");
  std::optional<std::size_t> least;
  for (const std::string_view line : split(text ? std::string_view(*text) : "", '\n')) {
    const auto parts = split(line, ':');
    if (parts.size() < 3 || !parts[2].starts_with('/')) {
      continue;
    }
    const auto names = split(parts[1], ',');
    const bool v1 = std::find(names.begin(), names.end(), "cpu") != names.end();
    if (parts[1].empty() || v1) {
      const auto quota = least_quota(files, parts[2], v1 ? &quota_v1 : &quota_v2);
      least = quota ? std::min(least.value_or(*quota), *quota) : least;
    }
  }
  return least;
}

}  // namespace

std::optional<std::size_t> count_of_list(std::string_view list) {
  std::size_t count = 0;
  for (const std::string_view range : split(trim(list), ',')) {
    const auto dash = range.find('-');
    const auto first = parse_unsigned(range.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_unsigned(range.substr(dash + 1));
    constexpr std::uint64_t most = 1'000'000;
    if (!first || !last || *last < *first || *last > most) {
      return std::nullopt;
    }
    count += static_cast<std::size_t>(*last - *first) + 1;
  }
  return count == 0 ? std::nullopt : std::optional(count);
}

std::optional<std::size_t> processors_of_quota(std::string_view quota_and_period) {
  const auto words = split_words(quota_and_period, " \n");
  const auto quota = words.size() == 2 ? parse_unsigned(words[0]) : std::nullopt;
  const auto period = words.size() == 2 ? parse_unsigned(words[1]) : std::nullopt;
  constexpr std::uint64_t most = std::uint64_t{1} << 40U;
  if (!quota || !period || *quota == 0 || *period == 0 || *quota > most || *period > most) {
    return std::nullopt;
  }
  return static_cast<std::size_t>((*quota + *period - 1) / *period);
}

std::optional<std::size_t> usable_processors(const ProcessSource& process,
                                             const FileSystem& files) {
  const auto status = process.read("status");
  const auto list = status ? proc::status_value(*status, "Cpus_allowed_list") : std::nullopt;
  const auto allowed = list ? count_of_list(*list) : std::nullopt;
  if (!allowed) {
    return std::nullopt;
  }
  const auto quota = quota_of_groups(process, files);
  return quota ? std::min(*allowed, *quota) : allowed;
}

}  // namespace tracso
