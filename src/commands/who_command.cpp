#include "commands/who_command.hpp"

#include "base/text.hpp"
#include "collect/host_scan.hpp"
#include "commands/output.hpp"
#include "commands/sources.hpp"
#include "commands/status.hpp"
#include "findings/families.hpp"
#include "graph/trace_words.hpp"
#include "os/disk.hpp"
#include "os/live_commands.hpp"
#include "os/proc_mount.hpp"
#include "os/process_list.hpp"
#include "render/who.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

std::string listed_pids(const std::vector<std::int32_t>& pids) {
  constexpr std::size_t most = 8;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(most, pids.size()); ++i) {
    shown.push_back(std::to_string(pids[i]));
  }
  return join(shown, ", ") +
         (pids.size() > most ? fmt::format(" and {} more", pids.size() - most) : "");
}

std::string processes(std::size_t count) {
  return counted(count, "process", "processes");
}

std::vector<Notice> notices_of(const HostAnswer& answer) {
  std::vector<Notice> notices;
  if (!answer.denied.empty()) {
    notices.push_back({"processes-denied",
                       fmt::format("{} may not be looked at: {}",
                                   processes(answer.denied.size()),
                                   listed_pids(answer.denied)),
                       "they may have it too",
                       "run as root, or with CAP_SYS_PTRACE"});
  }
  if (!answer.unreadable.empty()) {
    notices.push_back({"maps-unreadable",
                       fmt::format("the memory maps of {} were not understood: {}",
                                   processes(answer.unreadable.size()),
                                   listed_pids(answer.unreadable)),
                       "they may have it too",
                       ""});
  }
  if (answer.unreadable_files > 0) {
    notices.push_back({"files-unreadable",
                       counted(answer.unreadable_files, "mapped file") + " could not be opened",
                       "their sonames and versions are not known",
                       "run as root: deleted files can be read then"});
  }
  return notices;
}

WhoRow row_of(const HostLibrary& library) {
  return {library.pid,
          library.command,
          library.soname.empty() ? std::string(base_name(library.path)) : library.soname,
          library.path,
          library.build_id,
          library.version.text,
          library.version.source,
          std::string(word(library.state)),
          library.container,
          library.distribution};
}

HostAnswer scan(const std::string& name) {
  std::optional<LiveTarget> live;
  HostQuestion question;
  const auto pids = os::all_pids();
  question.pids = pids ? *pids : std::vector<std::int32_t>();
  question.open = [&](std::int32_t pid) -> std::optional<Target> {
    auto opened = LiveTarget::open(pid);
    if (!opened) {
      return std::nullopt;
    }
    live = std::move(*opened);
    return live->target();
  };
  question.wanted = [&](std::string_view path, std::string_view soname) {
    return is_named(name, path, soname);
  };
  return scan_host(question);
}

}  // namespace

bool is_named(std::string_view query, std::string_view path, std::string_view soname) {
  const std::string_view name = base_name(path);
  if (!query.empty() && (query == path || query == name || query == soname)) {
    return true;
  }
  const std::string wanted = lower_case(query);
  const std::string stem = findings::stem_of(name);
  const auto family = findings::family_of_stem(stem);
  if (family && family->name == wanted) {
    return true;
  }
  // "libssl": every release; "libpython3.11": what begins so and goes on with a sign.
  if (findings::stem_of(query) == wanted) {
    return stem == wanted;
  }
  const auto begins = [&](std::string_view text) {
    return text.starts_with(query) && text.size() > query.size() &&
           std::string_view(".-").find(text[query.size()]) != std::string_view::npos;
  };
  return begins(name) || begins(soname);
}

int answer_who(const WhoRequest& request) {
  if (const auto error = os::without_proc("ask", "all processes")) {
    return fail(*error);
  }
  const auto& file = request.output.file;
  if (file && *file != "-") {
    if (const auto writable = os::check_output_file(*file); !writable) {
      return fail(writable.error());
    }
  }
  const HostAnswer answer = scan(request.name);
  WhoTable table;
  table.query = request.name;
  table.processes = answer.processes;
  table.notices = notices_of(answer);
  for (const HostLibrary& library : answer.libraries) {
    table.rows.push_back(row_of(library));
  }
  const bool json = request.output.form == "json";
  if (!json) {
    for (const Notice& notice : table.notices) {
      say(notice.text + "; " + notice.effect);
    }
  }
  const os::LiveCommands commands;
  const auto done = deliver(
      json ? who_json(table) : who_text(request.output.render, table), request.output, commands);
  if (!done) {
    return fail(done.error());
  }
  return table.rows.empty() ? status_not_found : 0;
}

}  // namespace tracso
