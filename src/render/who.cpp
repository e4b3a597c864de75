#include "render/who.hpp"

#include "base/text.hpp"
#include "render/json_parts.hpp"
#include "render/text/columns.hpp"
#include "render/text/wrap.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tracso {
namespace {

std::size_t processes_of(const WhoTable& table) {
  std::set<std::int32_t> pids;
  for (const WhoRow& row : table.rows) {
    pids.insert(row.pid);
  }
  return pids.size();
}

std::string version_of(const WhoRow& row) {
  return row.version.empty() ? "-" : fmt::format("{} ({})", row.version, row.version_source);
}

std::string extra_of(const WhoRow& row) {
  std::string text;
  if (!row.distribution.empty()) {
    text += fmt::format("  [of {}]", printable(row.distribution));
  }
  if (!row.container.empty()) {
    text += fmt::format("  [in {}]", printable(row.container));
  }
  return text;
}

}  // namespace

std::string who_text(const RenderOptions& options, const WhoTable& table) {
  std::size_t command = 7, version = 7;
  for (const WhoRow& row : table.rows) {
    command = std::max(command, display_width(printable(row.command)));
    version = std::max(version, display_width(printable(version_of(row))));
  }
  std::string out = paint(options.color,
                          Style::bold,
                          fmt::format("{}: {} of {} that could be read",
                                      printable(table.query),
                                      counted(processes_of(table), "process", "processes"),
                                      table.processes)) +
                    "\n";
  if (!table.rows.empty()) {
    out += "\n" +
           paint(options.color,
                 Style::dim,
                 fmt::format("{}  {}  {}  {}  file",
                             pad_left("PID", 8),
                             pad_right("process", command),
                             pad_right("version", version),
                             pad_right("state", 9))) +
           "\n";
  }
  for (const WhoRow& row : table.rows) {
    // On a terminal a file that does not fit begins a line of its own.
    const std::size_t before = 8 + 2 + command + 2 + version + 2 + 9 + 2;
    out += fmt::format(
        "{:>8}  {}  {}  {}  {}\n",
        row.pid,
        pad_right(printable(row.command), command),
        pad_right(printable(version_of(row)), version),
        paint(options.color && row.state != "current", Style::yellow, pad_right(row.state, 9)),
        wrapped(printable(row.path) + extra_of(row), {options.width, before, 10}));
  }
  return out;
}

std::string who_json(const WhoTable& table) {
  Json all = document("who");
  put_text(all, "query", table.query);
  Json rows = Json::array();
  for (const WhoRow& row : table.rows) {
    Json one;
    one["pid"] = row.pid;
    put_text(one, "command", row.command);
    put_text(one, "node", row.name);
    put_text(one, "path", row.path);
    put_text(one, "build_id", row.build_id);
    put_text(one, "version", row.version);
    put_text(one, "version_source", row.version_source);
    put_text(one, "state", row.state);
    put_text(one, "container", row.container);
    put_text(one, "distribution", row.distribution);
    rows.push_back(std::move(one));
  }
  all["processes"] = std::move(rows);
  all["processes_read"] = table.processes;
  all["notices"] = notices_json(table.notices);
  return printed(all);
}

}  // namespace tracso
