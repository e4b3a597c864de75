#include "commands/child_command.hpp"

#include "tracso/loader_variables.hpp"
#include "tracso/snapshot.hpp"

#include "base/text.hpp"
#include "commands/output.hpp"
#include "commands/sources.hpp"
#include "os/live_commands.hpp"
#include "os/secure_start.hpp"
#include "proc/no_memory.hpp"
#include "proc/script.hpp"
#include "render/as_child.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

namespace tracso {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

constexpr int status_unresolved = 1;

// NUL-separated NAME=VALUE, the last of two equal names counts.
std::map<std::string, std::string> environment_of(const std::string& text) {
  std::map<std::string, std::string> all;
  for (const std::string_view entry : split(text, '\0')) {
    if (const auto sign = entry.find('='); sign != std::string_view::npos) {
      all[std::string(entry.substr(0, sign))] = std::string(entry.substr(sign + 1));
    }
  }
  return all;
}

Variables variables_of_loader(const std::map<std::string, std::string>& environment) {
  Variables found;
  for (const char* name : loader_variables) {
    const auto value = environment.find(name);
    if (value != environment.end() && !value->second.empty()) {
      found.emplace_back(name, value->second);
    }
  }
  return found;
}

struct LoadedFile {
  std::string path;  // empty: not found
  std::string by, rule;
};

std::string path_of(const Node& node) {
  const ObjectFile* file = object(node);
  return file == nullptr ? "" : file->path.text;
}

std::map<std::string, LoadedFile> loads_of(const Trace& trace) {
  std::map<std::string, LoadedFile> loads;
  for (const Edge& edge : trace.graph.edges()) {
    const bool preload = edge.kind == EdgeKind::preload || edge.kind == EdgeKind::audit;
    if (edge.needed.empty() || (edge.kind != EdgeKind::needed && !preload)) {
      continue;
    }
    loads.emplace(edge.needed,
                  LoadedFile{path_of(trace.graph[edge.to]),
                             display_name(trace.graph[edge.from]),
                             preload                  ? "LD_PRELOAD"
                             : edge.rule == Rule::env ? "LD_LIBRARY_PATH"
                                                      : ""});
  }
  return loads;
}

std::optional<std::string> path_or_nothing(const std::string& path) {
  return path.empty() ? std::nullopt : std::optional(path);
}

std::vector<ChildDifference> differences(const Trace& there, const Trace& clean) {
  const auto with = loads_of(there), without = loads_of(clean);
  std::vector<ChildDifference> found;
  for (const auto& [name, load] : with) {
    const auto other = without.find(name);
    const std::string path = other == without.end() ? "" : other->second.path;
    if (path != load.path) {
      found.push_back(
          {name, load.by, path_or_nothing(load.path), path_or_nothing(path), load.rule});
    }
  }
  return found;
}

std::vector<std::string> failures(const Trace& trace) {
  std::vector<std::string> found;
  for (const Edge& edge : trace.graph.edges()) {
    const ObjectFile* file = object(trace.graph[edge.to]);
    const bool missing =
        file != nullptr && file->state == ObjectFile::State::missing && !edge.optional;
    if (!edge.fatal.empty()) {
      found.push_back(fmt::format("{}: {}", path_of(trace.graph[edge.to]), edge.fatal));
    } else if (missing && edge.kind != EdgeKind::preload) {
      found.push_back(fmt::format(
          "{} needs {}, which is not found", display_name(trace.graph[edge.from]), edge.needed));
    }
  }
  return found;
}

class Children {
 public:
  Children(const ChildRequest& request, const Target& target) : request_(request), target_(target) {
    const auto text = target.process->read("environ");
    if (text) {
      environment_ = environment_of(*text);
    } else {
      table.notices.push_back({"environment-unreadable",
                               "the environment of the process is not readable",
                               "the answers are those of an empty one",
                               "run as its user or as root"});
    }
    const auto directory = target.process->read_link("cwd");
    directory_ = directory ? *directory : "/";
    table.target = fmt::format("pid:{}", request.pid);
    table.variables = variables_of_loader(environment_);
    for (const std::string& program : request.programs) {
      table.programs.push_back(explain(program));
    }
  }

  ChildTable table;

 private:
  // As execvp would find it under the PATH of the process.
  std::optional<std::string> find(const std::string& program) const {
    if (program.find('/') != std::string::npos) {
      return absolute(program);
    }
    const auto known = environment_.find("PATH");
    const std::string path = known == environment_.end() ? "/usr/bin:/bin" : known->second;
    for (const std::string_view directory : split(path, ':')) {
      const std::string candidate =
          fmt::format("{}/{}", directory.empty() ? directory_ : directory, program);
      const auto status = target_.files->status({candidate});
      if (status && (status->mode & 0111U) != 0 && (status->mode & 0170000U) == 0100000U) {
        return candidate;
      }
    }
    return std::nullopt;
  }

  // What in the end runs a script: "#!/bin/sh" is the shell, "#!/usr/bin/env python3" the Python
  // that env would find. The file itself where it is no script. Error: only its reason counts.
  Result<std::string> interpreter_of(const std::string& file) const {
    std::string program = file;
    for (int i = 0; i < proc::most_scripts; ++i) {
      const auto words = proc::script_words(*target_.files, {program});
      if (!words) {
        return is_text(program) ? "/bin/sh" : program;  // execvp(3), where the kernel will not
      }
      const auto [name, in_path] = proc::interpreter_of(*words);
      if (name.empty()) {
        return Error{ErrorKind::malformed, "", "", "its first line names no interpreter", ""};
      }
      const auto found = in_path ? find(name) : std::optional(absolute(name));
      if (!found || !target_.files->status({*found})) {
        return Error{ErrorKind::not_found,
                     "",
                     "",
                     fmt::format("a script for {}, which is not found{}",
                                 name,
                                 in_path ? " in the PATH of the process" : ""),
                     ""};
      }
      if (const std::string why = not_executable(*found); !why.empty()) {
        return Error{
            ErrorKind::denied, "", "", fmt::format("a script for {}: {}", *found, why), ""};
      }
      program = *found;
    }
    return Error{ErrorKind::malformed, "", "", "a script whose interpreters are all scripts", ""};
  }

  // execve(2) takes regular files with a bit of execution only, also for root and for whom a script
  // names. Of one that is not there somebody else tells.
  std::string not_executable(const std::string& path) const {
    constexpr std::uint32_t kind = 0170000, regular = 0100000, any_execute = 0111;
    const auto status = target_.files->status({path});
    return !status                             ? ""
           : (status->mode & kind) != regular  ? "it is no regular file: it cannot be started"
           : (status->mode & any_execute) == 0 ? "it is not executable: nobody has the right to "
                                                 "start it (chmod +x)"
                                               : "";
  }

  // A script without "#!", for the shells and execvp: they take a text for one of /bin/sh.
  bool is_text(const std::string& path) const {
    const auto file = target_.files->open({path});
    std::array<char, 128> head{};
    const auto got = file ? (*file)->read_at(0, std::as_writable_bytes(std::span(head)))
                          : Result<std::size_t>(file.error());
    const std::string_view start(head.data(), got ? *got : 0);
    return !start.empty() && start.find('\0') == std::string_view::npos &&
           !start.starts_with(
               "\x7f"
               "ELF");
  }

  std::string absolute(const std::string& path) const {
    return path.starts_with('/') ? path : directory_ + "/" + path;
  }

  Result<Trace> look(const std::string& path, Variables variables) const {
    FileQuestion question;
    question.file.text = path;
    question.label = base_name(path);
    question.environment = std::move(variables);
    question.working_directory = directory_;
    question.secure_because = os::secure_start(*target_.files, question.file);
    SnapshotOptions options;
    options.elf = request_.elf;
    options.timeout = request_.timeout;
    return explain_file({nullptr, target_.files, target_.commands}, question, options);
  }

  ChildProgram explain(const std::string& asked) const {
    ChildProgram program;
    program.asked = program.path = asked;
    const auto path = find(asked);
    if (!path) {
      program.problem = "not found in the PATH of the process";
      return program;
    }
    program.path = *path;
    program.problem = not_executable(*path);
    if (!program.problem.empty()) {
      return program;
    }
    auto started = interpreter_of(*path);
    if (!started) {
      program.problem = std::move(started.error().reason);
      return program;
    }
    program.interpreter = *started == *path ? "" : *started;
    const auto there = look(*started, table.variables), clean = look(*started, {});
    if (!there || !clean) {
      const Error& error = there ? clean.error() : there.error();
      program.problem = fmt::format("cannot {} {}: {}", error.action, error.subject, error.reason);
      return program;
    }
    const auto nodes = there->graph.nodes();
    program.libraries = static_cast<std::size_t>(std::count_if(
        nodes.begin(), nodes.end(), [](const Node& node) { return is_counted(node); }));
    program.differences = differences(*there, *clean);
    program.failures = failures(*there);
    return program;
  }

  const ChildRequest& request_;
  const Target& target_;
  std::map<std::string, std::string> environment_;
  std::string directory_;
};

int status_of(const ChildTable& table) {
  const bool bad =
      std::any_of(table.programs.begin(), table.programs.end(), [](const ChildProgram& program) {
        return !program.problem.empty() || !program.failures.empty();
      });
  return bad ? status_unresolved : 0;
}

}  // namespace

int answer_as_child(const ChildRequest& request) {
  const auto live = LiveTarget::open(request.pid);
  if (!live) {
    return fail(live.error());
  }
  const Target target = live->target();
  if (const auto error = proc::no_memory("look at process", *target.process)) {
    return fail(*error);
  }
  // Who may not read the process gets the refusal of the report, not an empty answer.
  if (const auto maps = target.process->read("maps"); !maps) {
    return fail(with_denial(maps.error(), request.pid));
  }
  const Children children(request, target);
  const bool json = request.output.form == "json";
  if (!json) {
    for (const Notice& notice : children.table.notices) {
      say(notice.text + "; " + notice.effect);
    }
  }
  const os::LiveCommands commands;
  const auto done = deliver(
      json ? as_child_json(children.table) : as_child_text(request.output.render, children.table),
      request.output,
      commands);
  return done ? status_of(children.table) : fail(done.error());
}

}  // namespace tracso
