#include "loader/environment.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace tracso::loader {
namespace {

constexpr std::string_view preload_file = "/etc/ld.so.preload";
constexpr std::size_t preload_file_limit = std::size_t{1} << 20;
// dl-load's SECURE_NAME_LIMIT.
constexpr std::size_t secure_name_limit = 255;

// AT_SECURE: only short bare names, which then are searched in trusted places.
bool is_allowed(std::string_view name, bool secure) {
  return !name.empty() &&
         (!secure || (name.size() < secure_name_limit && name.find('/') == std::string_view::npos));
}

void add_names(std::vector<ExtraObject>& to,
               std::string_view text,
               std::string_view separators,
               std::string_view origin,
               bool secure) {
  for (const auto name : split_words(text, separators)) {
    if (is_allowed(name, secure)) {
      to.push_back({std::string(name), std::string(origin)});
    }
  }
}

std::optional<std::string_view> last_value(std::span<const Variable> variables,
                                           std::string_view name) {
  std::optional<std::string_view> value;
  for (const auto& [key, text] : variables) {
    if (key == name) {
      value = text;
    }
  }
  return value;
}

// glibc up to 2.38 ends each value in place, in the memory that /proc/PID/environ shows: what stood
// behind a colon stands there as a variable of its own, "glibc.cpu.hwcaps".
std::string tunables_of(std::span<const Variable> variables) {
  std::string text;
  bool goes_on = false;
  for (const auto& [key, value] : variables) {
    if (key == "GLIBC_TUNABLES") {
      text = value;
      goes_on = true;
    } else if (goes_on && key.starts_with("glibc.")) {
      text += ":" + key + "=" + value;
    } else {
      goes_on = false;
    }
  }
  return text;
}

}  // namespace

Result<std::string> read_whole_file(const FileSystem& files,
                                    const TargetPath& path,
                                    std::size_t limit) {
  auto file = files.open(path);
  if (!file) {
    return file.error();
  }
  const auto status = (*file)->status();
  std::string text;
  // One byte more than the file has: the read that finds the end comes with the last bytes.
  const std::size_t first =
      status ? static_cast<std::size_t>(std::min<std::uint64_t>(status->bytes + 1, limit))
             : std::size_t{65536};
  std::size_t used = 0;
  for (std::size_t room = first; used < limit; room = std::min(limit - used, used + 1)) {
    text.resize(used + room);
    auto got = (*file)->read_at(used, std::as_writable_bytes(std::span(text.data() + used, room)));
    if (!got) {
      return got.error();
    }
    used += std::min(*got, room);
    if (*got < room) {
      break;
    }
  }
  text.resize(used);
  return text;
}

std::vector<std::string> parse_preload_file(std::string_view text) {
  std::vector<std::string> names;
  for (const auto line : split(text, '\n')) {
    for (const auto name : split_words(line.substr(0, line.find('#')), ": \t")) {
      names.emplace_back(name);
    }
  }
  return names;
}

LoadEnvironment make_load_environment(const FileSystem& files,
                                      std::span<const Variable> variables,
                                      std::string working_directory,
                                      bool secure) {
  LoadEnvironment environment;
  environment.secure = secure;
  environment.working_directory = std::move(working_directory);
  if (const auto path = last_value(variables, "LD_LIBRARY_PATH")) {
    environment.library_path = std::string(*path);
  }
  if (!secure) {
    environment.tunables = parse_cpu_tunables(tunables_of(variables),
                                              last_value(variables, "LD_HWCAP_MASK").value_or(""));
  }
  add_names(environment.preload,
            last_value(variables, "LD_PRELOAD").value_or(""),
            " :",
            "LD_PRELOAD",
            secure);
  add_names(
      environment.audit, last_value(variables, "LD_AUDIT").value_or(""), ":", "LD_AUDIT", secure);
  const auto listed =
      read_whole_file(files, TargetPath{std::string(preload_file)}, preload_file_limit);
  if (listed) {
    for (auto& name : parse_preload_file(*listed)) {
      environment.preload.push_back({std::move(name), std::string(preload_file)});
    }
  } else if (listed.error().kind != ErrorKind::not_found) {
    environment.preload_problem = listed.error().reason;
  }
  return environment;
}

void add_loader_command(const proc::LoaderCommand& command, LoadEnvironment& environment) {
  if (command.library_path) {
    environment.library_path = command.library_path;
    environment.library_path_setting = "--library-path";
  }
  std::vector<ExtraObject> preload;
  add_names(preload, command.preload, " :", "--preload", environment.secure);
  // Behind LD_PRELOAD, before the file.
  const auto listed = std::find_if(
      environment.preload.begin(), environment.preload.end(), [](const ExtraObject& extra) {
        return extra.origin.starts_with('/');
      });
  environment.preload.insert(listed, preload.begin(), preload.end());
  for (const auto& list : command.audit) {
    add_names(environment.audit, list, ":", "--audit", environment.secure);
  }
  environment.inhibit_cache = command.inhibit_cache;
  environment.inhibit_rpath = command.inhibit_rpath;
  environment.hwcaps_prepend = command.hwcaps_prepend;
  environment.hwcaps_mask = command.hwcaps_mask;
}

}  // namespace tracso::loader
