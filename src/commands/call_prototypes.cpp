#include "commands/call_prototypes.hpp"

#include "base/text.hpp"
#include "calls/ltrace_config.hpp"
#include "commands/output.hpp"
#include "os/disk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace tracso {
namespace {

constexpr std::size_t most_told = 10;                      // problems of one file
constexpr std::chrono::seconds patience{5};                // for a pipe
constexpr std::size_t most_bytes = std::size_t{4} << 20U;  // ltrace's own has some ten thousand
constexpr std::string_view what_it_is =
    "-F takes a file of lines such as 'int walk(list*, string, int);' (ltrace.conf(5), "
    "docs/calls.md)";

void tell(const std::string& file, const std::vector<calls::ConfigProblem>& problems) {
  for (std::size_t i = 0; i < std::min(problems.size(), most_told); ++i) {
    say(fmt::format(
        "{}:{}: {}; the line is skipped", printable(file), problems[i].line, problems[i].reason));
  }
  if (problems.size() > most_told) {
    say(fmt::format("{}: {} skipped",
                    printable(file),
                    counted(problems.size() - most_told, "more line is", "more lines are")));
  }
}

}  // namespace

Result<CallsRequest> with_prototypes(const CallsRequest& request) {
  auto ready = request;
  auto own = std::make_shared<calls::Prototypes>();
  calls::LtraceConfig config(*own, request.lines.limits.elements);
  for (const auto& file : request.configurations) {
    const auto text = os::read_input(file, patience, "", most_bytes);
    if (!text) {
      auto error = text.error();
      error.kind = ErrorKind::usage;
      if (error.hint.empty()) {
        error.hint = what_it_is;
      }
      return error;
    }
    const auto problems = config.add(*text);
    tell(file, problems);
    if (problems.size() == calls::LtraceConfig::most_problems) {
      return Error{ErrorKind::usage,
                   "read",
                   file,
                   fmt::format("{} of its lines are not understood", problems.size()),
                   std::string(what_it_is)};
    }
  }
  if (own->size() > tracso_most_capture_rules / 2) {
    say(fmt::format("-F describes {} functions; what pointers of some lead to is not shown",
                    own->size()));
  }
  ready.prototypes = std::make_shared<calls::PrototypeFinder>(std::move(own));
  return ready;
}

}  // namespace tracso
