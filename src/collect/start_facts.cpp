// The kernel keeps the variables as they were at exec, unless the program writes over them, and it
// keeps the present working directory, not the one at the start. The records help out: an object
// opened as "sub/libx.so" whose file is /a/b/sub/libx.so was opened from /a/b.

#include "collect/start_facts.hpp"

#include "base/text.hpp"
#include "loader/search_places.hpp"
#include "loader/tokens.hpp"
#include "proc/loader_command.hpp"
#include "proc/root_prefix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace tracso {
namespace {

using loader::absolute_path;

bool is_file_at(const Workspace& work, std::size_t object, const std::string& path) {
  const auto status = work.target.files->status({path});
  return status && status->inode == work.mapped.objects[object].inode;
}

bool is_there(const FileSystem& files, const std::string& path) {
  const auto status = files.status({path});
  return status || status.error().kind != ErrorKind::not_found;
}

std::string variable(const Workspace& work, std::string_view name) {
  if (work.facts.environment) {
    for (const auto& [key, value] : *work.facts.environment) {
      if (key == name) {
        return value;
      }
    }
  }
  return "";
}

// A directory from which the name leads to the file: the shell's at the start, or the present one.
// Else by the end of the file's path, which is wrong only where a link of that very name stands
// elsewhere.
std::optional<std::string> directory_at_load(const Workspace& work,
                                             std::size_t object,
                                             std::string_view l_name) {
  while (l_name.starts_with("./")) {
    l_name.remove_prefix(2);
  }
  for (const std::string& directory : {variable(work, "PWD"), work.facts.working_directory}) {
    if (directory.starts_with('/') && is_file_at(work, object, absolute_path(l_name, directory))) {
      return directory;
    }
  }
  const std::string& path = work.mapped.objects[object].path.text;
  const std::string end = "/" + std::string(l_name);
  if (!path.starts_with('/') || !path.ends_with(end)) {
    return std::nullopt;
  }
  return path.size() == end.size() ? "/" : path.substr(0, path.size() - end.size());
}

void find_directories(const Workspace& work, StartFacts& start) {
  if (!work.link_maps) {
    return;
  }
  const auto& entries = work.link_maps->entries;
  start.directory_of_entry.resize(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!work.object_of_entry[i] || !is_relative_name(entries[i].name)) {
      continue;
    }
    start.directory_of_entry[i] =
        directory_at_load(work, *work.object_of_entry[i], entries[i].name);
  }
}

const Mapping* mapping_at(const Workspace& work, std::uint64_t address) {
  for (const auto& mapping : work.facts.mappings) {
    if (mapping.start <= address && address < mapping.end) {
      return &mapping;
    }
  }
  return nullptr;
}

// What the kernel entered: the program, or a loader that was started by name.
std::optional<std::size_t> entered_object(const Workspace& work) {
  const Mapping* mapping = work.facts.auxv ? mapping_at(work, work.facts.auxv->entry) : nullptr;
  return mapping == nullptr
             ? std::nullopt
             : work.mapped
                   .of_mapping[static_cast<std::size_t>(mapping - work.facts.mappings.data())];
}

bool is_started_by_name(const Workspace& work) {
  return work.loader && (entered_object(work) == work.loader ||
                         work.mapped.objects[*work.loader].path.text == work.facts.exe);
}

// The name that was given to execve stands above the environment, where no title reaches.
std::string executed_name(const Workspace& work) {
  constexpr std::uint64_t longest = 4096;  // PATH_MAX
  const std::uint64_t address = work.facts.auxv ? work.facts.auxv->execfn : 0;
  const Mapping* mapping = address == 0 ? nullptr : mapping_at(work, address);
  if (mapping == nullptr) {
    return "";
  }
  std::string text(std::min(longest, mapping->end - address), '\0');
  if (!work.target.process->read_memory(address, std::as_writable_bytes(std::span(text)))) {
    return "";
  }
  const std::size_t end = text.find('\0');
  return end == std::string::npos ? "" : text.substr(0, end);
}

void find_start_directory(const Workspace& work, StartFacts& start) {
  if (work.link_maps) {
    const auto& entries = work.link_maps->entries;
    for (std::size_t i = 0; i < entries.size() && !start.directory; ++i) {
      if (entries[i].start == loader::LinkMapEntry::Start::startup) {
        start.directory = start.directory_of_entry[i];
      }
    }
  }
  const auto entered = entered_object(work);
  if (!start.directory && entered) {
    const std::string name = executed_name(work);
    start.directory =
        is_relative_name(name) ? directory_at_load(work, *entered, name) : std::nullopt;
  }
}

void note_not_believed(Workspace& work, const std::string& why) {
  work.trace.notices.push_back(
      {"loader-options-unknown",
       "the loader was started by name, but its options cannot be read: " + why,
       "how libraries were found is told as if it had none, and nothing is said of a restart",
       ""});
}

// The text of the command line is the process' own: it is believed if it names the program that is
// loaded.
bool names_program(const Workspace& work, const StartFacts& start, const std::string& program) {
  const std::size_t executable = *work.executable;
  return program.find('/') == std::string::npos ||
         base_name(program) == base_name(work.mapped.objects[executable].path.text) ||
         is_file_at(work,
                    executable,
                    absolute_path(program, start.directory.value_or(work.facts.working_directory)));
}

// A loader that is started by name takes $ORIGIN from the name of the program, links not followed.
std::string origin_by_name(const Workspace& work,
                           const StartFacts& start,
                           const std::string& program) {
  const std::string path =
      absolute_path(program, start.directory.value_or(work.facts.working_directory));
  return program.find('/') != std::string::npos && is_file_at(work, *work.executable, path)
             ? loader::origin_of(path, "/")
             : "";
}

void read_loader_options(Workspace& work, StartFacts& start) {
  if (!work.executable || !is_started_by_name(work)) {
    return;
  }
  // The file of musl's loader is called libc.so.
  const std::string& interpreter = work.mapped.objects[*work.executable].elf.interp;
  const bool is_musl = base_name(interpreter).starts_with("ld-musl") ||
                       base_name(work.facts.exe).starts_with("ld-musl");
  const auto command = proc::parse_loader_command(
      work.facts.command, is_musl ? proc::LoaderSyntax::musl : proc::LoaderSyntax::glibc);
  const bool is_believed = command.unknown.empty() && !command.program.empty() &&
                           names_program(work, start, command.program);
  if (!is_believed) {
    start.environment_known = false;
    note_not_believed(work,
                      !command.unknown.empty()
                          ? fmt::format("'{}' is no option that tracso knows", command.unknown)
                          : "the command line names another program");
    return;
  }
  loader::add_loader_command(command, start.environment);
  start.program_origin = origin_by_name(work, start, command.program);
  work.log("started by name: " + counted(command.words, "word is", "words are") + " the loader's");
}

}  // namespace

bool is_relative_name(const std::string& l_name) {
  return !l_name.empty() && !l_name.starts_with('/');
}

StartFacts find_start_facts(Workspace& work) {
  StartFacts start;
  find_directories(work, start);
  find_start_directory(work, start);
  const std::vector<loader::Variable> none;
  const bool secure = work.facts.auxv && work.facts.auxv->secure;
  start.environment_known = work.facts.environment.has_value();
  start.environment =
      loader::make_load_environment(*work.target.files,
                                    work.facts.environment ? *work.facts.environment : none,
                                    start.directory.value_or(work.facts.working_directory),
                                    secure);
  const bool own_root = !proc::loading_prefix(*work.target.process).empty();
  start.has_origin = !own_root || is_there(*work.target.files, "/proc/self/stat");
  read_loader_options(work, start);
  return start;
}

}  // namespace tracso
