#include "base/text.hpp"
#include "render/calls.hpp"
#include "render/text/style.hpp"

#include <fmt/format.h>

namespace tracso {
namespace {

std::uint64_t total_self(const CallsReport& report) {
  std::uint64_t sum = 0;
  for (const auto& row : report.rows) {
    sum += row.self_ns;
  }
  return sum;
}

std::string libraries(const RenderOptions& options, const CallRow& row) {
  const auto arrow = glyphs(options.unicode).arrow;
  std::string text;
  if (!row.caller.empty()) {
    text = printable(row.caller);
  }
  if (!row.callee.empty()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", arrow, printable(row.callee));
  }
  return text;
}

// "process 4711 sh -c ls": all that it has executed, one behind the other.
std::string process(const RenderOptions& options, const CallsReport& report, std::int32_t pid) {
  constexpr std::size_t longest = 60;
  std::string commands;
  for (const auto& program : report.programs) {
    if (program.pid == pid && !program.command.empty()) {
      commands += commands.empty() ? "" : fmt::format(" {} ", glyphs(options.unicode).arrow);
      commands += program.command;
    }
  }
  auto text = printable(commands);
  if (display_width(text) > longest) {
    while (display_width(text) > longest || !is_utf8(text)) {
      text.pop_back();
    }
    text += "...";
  }
  return fmt::format("process {}{}{}", pid, text.empty() ? "" : " ", text);
}

std::string subject(const RenderOptions& options, const CallsReport& report, const CallRow& row) {
  switch (report.group) {
    case CallGroup::function:
      return fmt::format("{:<24} {}", printable(row.symbol), libraries(options, row));
    case CallGroup::package:
      return row.package.empty() ? "(no Python package)" : printable(row.package);
    case CallGroup::thread:
      return fmt::format("thread {} of process {}", row.thread, row.pid);
    case CallGroup::process:
      return process(options, report, row.pid);
    default:
      return libraries(options, row);
  }
}

std::string_view subject_name(CallGroup group) {
  switch (group) {
    case CallGroup::function:
      return "function                 caller and callee";
    case CallGroup::package:
      return "package that calls";
    case CallGroup::thread:
      return "thread";
    case CallGroup::process:
      return "process";
    case CallGroup::caller:
      return "library that calls";
    case CallGroup::callee:
      return "library that is called";
    case CallGroup::libraries:
      return "caller and callee";
  }
  return "";
}

std::string errors_of(const CallsReport& report, const CallRow& row) {
  if (!row.errors_known || report.mode == CallMode::count) {
    return "";
  }
  return row.errors == 0 ? "" : std::to_string(row.errors);
}

std::string timed_row(const RenderOptions& options,
                      const CallsReport& report,
                      const CallRow& row,
                      std::uint64_t sum) {
  const double share =
      sum == 0 ? 0 : 100.0 * static_cast<double>(row.self_ns) / static_cast<double>(sum);
  const double each = static_cast<double>(row.self_ns) / 1000 / static_cast<double>(row.calls);
  return fmt::format("{:6.2f} {:11.6f} {:11.3f} {:9} {:>7} {}\n",
                     share,
                     static_cast<double>(row.self_ns) / 1e9,
                     each,
                     row.calls,
                     errors_of(report, row),
                     subject(options, report, row));
}

void add_untraced(const CallsReport& report, std::string& out) {
  const auto& untraced = report.untraced;
  std::vector<std::string> parts;
  const auto add = [&](std::uint64_t count, std::string_view one, std::string_view many) {
    if (count != 0) {
      parts.push_back(counted(count, one, many));
    }
  };
  const auto add_same = [&](std::uint64_t count, std::string_view what) { add(count, what, what); };
  add(untraced.address_taken,
      "function of which only the address is used",
      "functions of which only the address is used");
  add_same(untraced.dlsym, "looked up with dlsym");
  add(untraced.unresolved, "that leads to no library", "that lead to no library");
  add_same(untraced.no_room, "for which there was no room");
  add(untraced.late_objects,
      "library that the C library loaded for itself",
      "libraries that the C library loaded for itself");
  if (!parts.empty()) {
    out += "not traced: " + join(parts, ", ") + "\n";
  }
}

}  // namespace

std::string calls_text(const RenderOptions& options, const CallsReport& report, std::size_t limit) {
  const bool timed = report.mode != CallMode::count;
  std::string out;
  out += timed ? fmt::format("% time     seconds  usecs/call     calls  errors {}\n",
                             subject_name(report.group))
               : fmt::format("    calls {}\n", subject_name(report.group));
  out += timed ? "------ ----------- ----------- --------- ------- -----------------------------\n"
               : "--------- ------------------------------------\n";
  const auto sum = total_self(report);
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;
  std::size_t shown = 0;
  for (const auto& row : report.rows) {
    calls += row.calls;
    errors += row.errors;
    if (limit == 0 || shown < limit) {
      ++shown;
      out += timed ? timed_row(options, report, row, sum)
                   : fmt::format("{:9} {}\n", row.calls, subject(options, report, row));
    }
  }
  if (shown < report.rows.size()) {
    out += fmt::format("  ... {} (--limit 0 shows all)\n",
                       counted(report.rows.size() - shown, "more row"));
  }
  out += timed ? "------ ----------- ----------- --------- ------- -----------------------------\n"
               : "--------- ------------------------------------\n";
  out += timed ? fmt::format("100.00 {:11.6f} {:>11} {:9} {:>7} total\n",
                             static_cast<double>(sum) / 1e9,
                             "",
                             calls,
                             errors == 0 ? "" : std::to_string(errors))
               : fmt::format("{:9} total\n", calls);
  add_untraced(report, out);
  if (report.rows.empty()) {
    out +=
        "no call was seen: nothing that was asked for was called in that time (calls that were "
        "under "
        "way before are not shown; 'tracso dump PID' tells what threads wait for), or nobody "
        "imports "
        "such a function; without -e, -l, --caller and --callee all calls count\n";
  }
  for (const auto& notice : report.notices) {
    out += "note: " + printable(notice.text) +
           (notice.effect.empty() ? "" : "; " + printable(notice.effect)) +
           (notice.try_.empty() ? "" : " (" + printable(notice.try_) + ")") + "\n";
  }
  return out;
}

}  // namespace tracso
