#include "cli/calls_request.hpp"

#include "base/text.hpp"
#include "cli/calls_refusals.hpp"
#include "cli/output_forms.hpp"
#include "cli/slips.hpp"
#include "cli/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace tracso {
namespace {

const std::map<std::string, CallGroup>& groups() {
  static const std::map<std::string, CallGroup> names{{"function", CallGroup::function},
                                                      {"caller", CallGroup::caller},
                                                      {"callee", CallGroup::callee},
                                                      {"libraries", CallGroup::libraries},
                                                      {"package", CallGroup::package},
                                                      {"thread", CallGroup::thread},
                                                      {"process", CallGroup::process}};
  return names;
}

Leave wrong_filter(const Error& error) {
  return usage(fmt::format("filter '{}': {}", printable(error.subject), error.reason),
               error.hint.empty() ? "'tracso calls -h' shows examples" : error.hint);
}

std::optional<Leave> fill_filter(const CallsWords& words, calls::Filter& filter) {
  for (const auto& expression : words.expressions) {
    if (const auto done = calls::add_expression(filter, expression); !done) {
      return wrong_filter(done.error());
    }
  }
  for (const auto& library : words.libraries) {
    if (const auto done = calls::add_library(filter, library); !done) {
      return wrong_filter(done.error());
    }
  }
  for (const auto& [into, pattern] :
       {std::pair(&filter.caller, &words.caller), std::pair(&filter.callee, &words.callee)}) {
    if (const auto done = calls::set_narrowing(*into, *pattern); !done) {
      return wrong_filter(done.error());
    }
  }
  return std::nullopt;
}

calls::LineOptions line_options(const CallsWords& words, const Terminal& terminal) {
  calls::LineOptions lines;
  constexpr std::size_t usual_width = 80;  // ltrace: five eighths of the screen
  const bool to_file = !words.output.empty() || terminal.width == 0;
  lines.align = words.align.value_or((to_file ? usual_width : terminal.width) * 5 / 8);
  lines.indent = words.indent;
  lines.limits.text_bytes = words.text_bytes;
  lines.limits.elements = words.array_elements;
  lines.took = words.took;
  lines.instruction = words.instruction;
  lines.demangle = words.demangle;
  lines.always_pid = words.follow;
  lines.time = words.relative    ? calls::LineTime::relative
               : words.time == 0 ? calls::LineTime::none
               : words.time == 1 ? calls::LineTime::seconds
               : words.time == 2 ? calls::LineTime::microseconds
                                 : calls::LineTime::epoch;
  return lines;
}

std::optional<Leave> fill_engine(const CallsWords& words, CallsRequest& request) {
  if (auto leave = refused_by_engine(words)) {
    return leave;
  }
  const bool from_outside = is_seen_from_outside(words);
  request.engine = words.engine == "ptrace" || from_outside ? CallsRequest::Engine::ptrace
                   : words.engine == "agent"                ? CallsRequest::Engine::agent
                                                            : CallsRequest::Engine::automatic;
  request.system_calls = words.system_calls;
  request.no_signals = words.no_signals;
  request.user = words.user;
  for (const auto& expression : words.entry_points) {
    request.entries = request.entries.value_or(calls::Filter{});
    if (const auto done = calls::add_expression(*request.entries, expression); !done) {
      return wrong_filter(done.error());
    }
  }
  // With -x and -S those of the program itself, as for ltrace: each call seen costs two stops.
  const auto& filter = request.filter;
  const bool unfiltered = filter.rules.empty() && filter.caller.empty() && filter.callee.empty();
  const bool asks_for_others = words.system_calls || !words.entry_points.empty();
  if (asks_for_others && unfiltered) {
    request.no_imports = words.no_default || !words.processes.empty();
    request.lines.caller = false;
    if (const auto done = calls::add_expression(request.filter, "@MAIN"); !done) {
      return wrong_filter(done.error());
    }
  }
  return std::nullopt;
}

bool is_picture(std::string_view extension) {
  constexpr std::array extensions{"dot", "gv", "svg", "png", "pdf"};
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

// Lines without a filter are the calls of the program itself, as ltrace's.
std::optional<Leave> fill_lines(const CallsWords& words,
                                const Terminal& terminal,
                                CallsRequest& request) {
  const bool caller = request.lines.caller;
  request.lines = line_options(words, terminal);
  request.lines.caller = caller;
  request.drop = words.drop;
  const auto& filter = request.filter;
  const bool unfiltered = filter.rules.empty() && filter.caller.empty() && filter.callee.empty();
  if (unfiltered && words.no_default) {
    return usage("-L without -e, -l, -x or -S shows no call", "-e '*' shows all");
  }
  if (unfiltered) {
    request.lines.caller = false;
    if (const auto done = calls::add_expression(request.filter, "@MAIN"); !done) {
      return usage(done.error().reason, "");
    }
  }
  return std::nullopt;
}

// A sum at the end, not a line for each call.
bool asks_for_table(const CallsWords& words) {
  const auto extension = form_extension(words.output);
  return words.summary || words.exact || words.count || words.limit || !words.group.empty() ||
         words.csv || extension == "json" || extension == "csv" ||
         (!words.json && is_picture(extension));
}

CallsRequest::Form form_of(const CallsWords& words) {
  using Form = CallsRequest::Form;
  const auto extension = form_extension(words.output);
  if (!asks_for_table(words)) {
    const bool records = words.json || extension == "jsonl" || extension == "ndjson";
    return records ? Form::records : Form::lines;
  }
  const auto form = words.json ? "json" : words.csv ? "csv" : extension;
  return form == "json"     ? Form::json
         : form == "csv"    ? Form::csv
         : is_picture(form) ? Form::dot
                            : Form::text;
}

// A picture is one of libraries.
std::optional<Leave> fill_picture(const CallsWords& words, CallsRequest& request) {
  if (request.form != CallsRequest::Form::dot) {
    return std::nullopt;
  }
  if (!words.group.empty() && request.group != CallGroup::libraries) {
    return usage("a picture shows libraries: --group has no meaning for it",
                 "-c -o FILE.txt writes that table");
  }
  const auto extension = form_extension(words.output);
  request.group = CallGroup::libraries;
  request.image = extension == "dot" || extension == "gv" ? "" : extension;
  return std::nullopt;
}

}  // namespace

std::variant<Request, Leave> calls_request(const CallsWords& words,
                                           std::vector<std::string> command) {
  if (auto leave = refused_for_processes(words, !command.empty())) {
    return *leave;
  }
  if (words.exact && words.count) {
    return usage("--exact and --count exclude each other", "choose one");
  }
  if (words.json && words.csv) {
    return usage("--json and --csv exclude each other", "choose one");
  }
  const bool is_table = asks_for_table(words);
  if (auto leave = wrong_form(words.csv                ? "--csv"
                              : words.json && is_table ? "--json"
                              : words.json             ? "calls --json"
                              : is_table               ? "calls -c"
                                                       : "calls",
                              words.output)) {
    return *leave;
  }
  CallsRequest request;
  request.command = std::move(command);
  for (const std::int32_t process : words.processes) {  // one is attached to once
    if (std::find(request.processes.begin(), request.processes.end(), process) ==
        request.processes.end()) {
      request.processes.push_back(process);
    }
  }
  if (words.seconds) {
    request.seconds = std::chrono::milliseconds(std::llround(*words.seconds * 1000));
  }
  if (auto leave = fill_filter(words, request.filter)) {
    return *leave;
  }
  if (auto leave = fill_engine(words, request)) {
    return *leave;
  }
  request.mode = words.count ? CallMode::count : words.exact ? CallMode::exact : CallMode::adaptive;
  request.group = words.group.empty() ? CallGroup::function : groups().at(words.group);
  request.configurations = words.configurations;
  request.follow = words.follow;
  request.inside = words.intra;
  request.form = form_of(words);
  if (auto leave = fill_picture(words, request)) {
    return *leave;
  }
  request.file = words.output.empty() ? std::nullopt : std::optional(words.output);
  request.limit = words.limit.value_or(0);
  const Terminal terminal = look_at_terminal(words.color == "never"    ? ColorChoice::never
                                             : words.color == "always" ? ColorChoice::always
                                                                       : ColorChoice::automatic);
  request.render.color = terminal.color;
  request.render.unicode = terminal.unicode;
  if (auto leave =
          request.is_table() ? refused_for_tables(words) : fill_lines(words, terminal, request)) {
    return *leave;
  }
  if (request.form == CallsRequest::Form::records) {
    if (auto leave = refused_for_records(words)) {
      return *leave;
    }
  }
  return request;
}

}  // namespace tracso
