#include "commands/call_prototypes.hpp"

#include "base/text.hpp"
#include "calls/ltrace_config.hpp"
#include "commands/output.hpp"
#include "os/disk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace tracso {
namespace {

constexpr std::size_t most_told = 10;        // problems of one file
constexpr std::chrono::seconds patience{5};  // for a pipe

void tell(const std::string& file, const std::vector<calls::ConfigProblem>& problems) {
  for (std::size_t i = 0; i < std::min(problems.size(), most_told); ++i) {
    say(fmt::format(
        "{}:{}: {}; the line is skipped", printable(file), problems[i].line, problems[i].reason));
  }
  if (problems.size() > most_told) {
    say(fmt::format("{}: {} more lines are skipped", printable(file), problems.size() - most_told));
  }
}

}  // namespace

Result<CallsRequest> with_prototypes(const CallsRequest& request) {
  auto ready = request;
  auto own = std::make_shared<calls::Prototypes>();
  calls::LtraceConfig config(*own, request.lines.limits.elements);
  for (const auto& file : request.configurations) {
    const auto text = os::read_input(file, patience, "");
    if (!text) {
      auto error = text.error();
      error.kind = ErrorKind::usage;
      return error;
    }
    tell(file, config.add(*text));
  }
  if (own->size() > tracso_most_capture_rules / 2) {
    say(fmt::format("-F describes {} functions; what pointers of some lead to is not shown",
                    own->size()));
  }
  ready.prototypes = std::make_shared<calls::PrototypeFinder>(std::move(own));
  return ready;
}

}  // namespace tracso
