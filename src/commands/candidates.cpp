#include "commands/candidates.hpp"

#include "base/text.hpp"
#include "commands/last_trace.hpp"
#include "os/process_list.hpp"

namespace tracso {

std::vector<Candidate> process_candidates() {
  constexpr std::size_t shown = 60;
  std::vector<Candidate> out;
  const auto entries = os::list_processes(os::PythonNames::later);
  if (!entries) {
    return out;
  }
  for (const auto& entry : *entries) {
    out.emplace_back(std::to_string(entry.pid), printable(entry.command.substr(0, shown)));
  }
  return out;
}

std::vector<Candidate> soname_candidates(std::optional<std::int32_t> pid) {
  std::vector<Candidate> out;
  if (pid) {
    for (const std::string& name : os::mapped_library_names(*pid)) {
      out.emplace_back(printable(name), "");
    }
    return out;
  }
  const auto trace = load_last_trace();
  if (!trace) {
    return out;
  }
  for (const Node& node : trace->graph.nodes()) {
    if (is_library(node)) {
      out.emplace_back(printable(display_name(node)), "");
    }
  }
  return out;
}

}  // namespace tracso
