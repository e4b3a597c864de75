#include "commands/why_not_found.hpp"

#include "analysis/static_program.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {
namespace {

// "py:numpy" and "numpy" alike.
std::string_view bare_name(std::string_view query) {
  return query.starts_with("py:") ? query.substr(3) : query;
}

// "numpy" means "py:numpy.linalg" too: where names are cut at two pieces, there is no "py:numpy".
bool means_package(std::string_view query, const Package& package) {
  const std::string python = "py:" + std::string(bare_name(query));
  return package.source &&
         (package.name == query || package.name == python ||
          package.name.starts_with(python + ".") || package.name == "env:" + std::string(query));
}

std::string first_library(const Trace& trace, const Package& package) {
  for (const EdgeId edge : trace.graph.effects_of(*package.source)) {
    return display_name(trace.graph[trace.graph[edge].to]);
  }
  return "";
}

// What a library can belong to, and no library.
std::optional<Error> names_a_source(const WhyAnswer& answer,
                                    const Trace& trace,
                                    const Summary& summary) {
  constexpr std::size_t most = 3;
  std::vector<std::string> names;
  std::string first;
  for (const Package& package : summary.packages) {
    if (means_package(answer.query, package)) {
      names.push_back(
          fmt::format("{} ({})", package.name, counted(package.libraries, "library", "libraries")));
      first = first.empty() ? first_library(trace, package) : first;
    }
  }
  if (names.empty()) {
    return std::nullopt;
  }
  const bool one = names.size() == 1;
  const std::size_t more = names.size() - std::min(names.size(), most);
  names.resize(names.size() - more);
  return Error{ErrorKind::usage,
               "explain",
               answer.query,
               fmt::format("--why explains libraries, and {} what {} them: {}{}",
                           one ? "this is" : "these are",
                           one ? "brings" : "bring",
                           join(names, ", "),
                           more == 0 ? "" : fmt::format(" and {} more", more)),
               first.empty() ? "'tracso --tree' draws what each brought"
                             : fmt::format("tracso --why {}; 'tracso --tree' draws all", first)};
}

// What was asked for while it ran, and is not there because the loader refused it.
std::optional<Error> names_a_refused(const WhyAnswer& answer,
                                     const Trace& trace,
                                     const Summary& summary) {
  for (std::size_t i = 0; i < trace.failed_loads.size(); ++i) {
    const FailedLoad& failed = trace.failed_loads[i];
    if (failed.name.find(answer.query) == std::string::npos &&
        failed.asked.find(answer.query) == std::string::npos) {
      continue;
    }
    const bool explained = i < summary.refusals.size() && !summary.refusals[i].empty();
    return Error{
        ErrorKind::usage,
        "find",
        answer.query,
        fmt::format("the loader refused it: {}: {}{}",
                    failed.name,
                    failed.reason,
                    explained ? "; " + summary.refusals[i] : ""),
        "tracso --tree ends with 'Refused by the loader': who asked for it and where it was "
        "looked for"};
  }
  return std::nullopt;
}

// A process that the command has started had it, and not the command itself.
std::optional<Error> names_a_childs_library(const WhyAnswer& answer, const Trace& trace) {
  std::size_t more = 0;
  std::string first;
  for (const ChildInfo& child : trace.children) {
    const auto found =
        std::find_if(child.beyond.begin(), child.beyond.end(), [&](const std::string& path) {
          return !answer.query.empty() &&
                 (path == answer.query || base_name(path).find(answer.query) != std::string::npos);
        });
    if (found == child.beyond.end()) {
      continue;
    }
    more += first.empty() ? 0 : 1;
    first = first.empty()
                ? fmt::format("its child {} ({}) had {}", child.pid, child.command, *found)
                : first;
  }
  if (first.empty()) {
    return std::nullopt;
  }
  return Error{ErrorKind::usage,
               "find",
               answer.query,
               fmt::format("no library of {} itself has that name; {}{}",
                           trace.target,
                           first,
                           more == 0 ? ""
                                     : " and " + counted(more, "more child", "more children") +
                                           " had such a one"),
               fmt::format("tracso --children --why {} --run CMD", answer.query)};
}

// Of pure Python, or built into the interpreter.
std::optional<Error> names_a_module(const WhyAnswer& answer, const Trace& trace) {
  const std::string_view name = bare_name(answer.query);
  const auto found = std::find_if(trace.modules.begin(),
                                  trace.modules.end(),
                                  [&](const PythonModule& one) { return one.name == name; });
  if (found == trace.modules.end()) {
    return std::nullopt;
  }
  return Error{ErrorKind::usage,
               "explain",
               answer.query,
               "it is a Python module without a library of its own",
               answer.did_you_mean.empty()
                   ? "'tracso --csv' lists the libraries"
                   : "did you mean " + join(answer.did_you_mean, ", ") + "?"};
}

}  // namespace

Error why_not_found(const WhyAnswer& answer, const Trace& trace, const Summary& summary) {
  for (auto& error : std::array{names_a_source(answer, trace, summary),
                                names_a_refused(answer, trace, summary),
                                names_a_childs_library(answer, trace),
                                names_a_module(answer, trace)}) {
    if (error) {
      return error.value();
    }
  }
  if (is_statically_linked(trace)) {
    return {ErrorKind::usage,
            "find",
            answer.query,
            fmt::format("{} is statically linked: no library is in it", trace.target),
            ""};
  }
  return {ErrorKind::usage,
          "find",
          answer.query,
          fmt::format("no library of {} has that name", trace.target),
          answer.did_you_mean.empty() ? "'tracso --csv' lists them all"
                                      : "did you mean " + join(answer.did_you_mean, ", ") + "?"};
}

}  // namespace tracso
