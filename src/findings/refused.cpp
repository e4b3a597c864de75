// What the loader refused while --run looked on.

#include "analysis/refusals.hpp"
#include "base/text.hpp"
#include "findings/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace tracso::findings {
namespace {

using Severity = Finding::Severity;

// A program that asks for a library and lives without it does so every day: only its name was asked
// for, and no file answers. What was there and was turned down, or lacks what it needs, is a fault.
bool is_a_try(const FailedLoad& failed) {
  return !failed.asked.empty() && failed.needed_by.empty() &&
         (failed.reason.find("cannot open shared object file: No such file") != std::string::npos ||
          failed.reason == "No such file or directory");  // musl; for a dependency it says more
}

Severity severity_of(const FailedLoad& failed, bool at_refused_start) {
  return at_refused_start ? Severity::error : is_a_try(failed) ? Severity::note : Severity::warning;
}

// "app.py:3", "numpy/__init__.py:12"; of C code the module's name.
std::string place_of(const ImportStep& step) {
  if (step.file.empty()) {
    return step.module;
  }
  const std::string_view name = base_name(step.file);
  const std::string_view folder = base_name(std::string_view(step.file).substr(
      0, step.file.size() - name.size() - (name.size() < step.file.size())));
  return name == "__init__.py" && !folder.empty() ? fmt::format("{}/{}:{}", folder, name, step.line)
                                                  : fmt::format("{}:{}", name, step.line);
}

std::string imports_of(const FailedLoad& failed) {
  std::vector<std::string> steps;
  steps.reserve(failed.imports.size());
  for (const ImportStep& step : failed.imports) {
    steps.push_back(place_of(step));
  }
  return join(steps, ", ");
}

void add_places(const FailedLoad& failed, Finding& finding) {
  constexpr std::size_t most = 12;
  for (std::size_t i = 0; i < std::min(most, failed.search.size()); ++i) {
    const SearchStep& step = failed.search[i];
    const std::string& place = step.path.empty() ? step.directory : step.path;
    if (!place.empty()) {
      finding.evidence.push_back("looked in " + place);
    }
  }
}

}  // namespace

std::vector<Finding> refused_loads(const Evidence& evidence) {
  std::vector<Finding> findings;
  const auto& failed_loads = evidence.trace().failed_loads;
  const std::vector<std::string> meanings = refusals(evidence.trace());  // one per failed load
  const bool start_refused = refused_start(evidence.trace()) != nullptr;
  for (std::size_t i = 0; i < failed_loads.size(); ++i) {
    const FailedLoad& failed = failed_loads[i];
    const bool at_refused_start = start_refused && failed.asked.empty();
    const auto& name = failed.asked.empty() ? failed.name : failed.asked;
    Finding finding = finding_about(
        evidence,
        "load-refused",
        severity_of(failed, at_refused_start),
        at_refused_start ? fmt::format("the program could not start: {}", failed.reason)
                         : fmt::format("the loader refused {}", base_name(name)),
        {});
    finding.evidence = {failed.name.empty() ? failed.reason
                                            : fmt::format("{}: {}", failed.name, failed.reason)};
    if (!meanings[i].empty()) {
      finding.evidence.push_back(meanings[i]);
    }
    if (!failed.needed_by.empty()) {
      finding.evidence.push_back("needed by " + failed.needed_by);
    }
    if (const std::string imports = imports_of(failed); !imports.empty()) {
      finding.evidence.push_back("asked for at " + imports);
    }
    if (failed.cause) {
      finding.owners = evidence.owners(*failed.cause);
    }
    add_places(failed, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace tracso::findings
