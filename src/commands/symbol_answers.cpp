#include "commands/symbol_answers.hpp"

#include "tracso/analysis.hpp"

#include "commands/output.hpp"
#include "commands/status.hpp"
#include "os/live_commands.hpp"
#include "render/bindings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

// An object by its names as --why takes them, else a function.
std::optional<BindingsChoice> choose(const Trace& trace,
                                     const Summary& summary,
                                     const ProblemFacts& facts,
                                     const std::string& query) {
  BindingsChoice choice;
  if (query.empty()) {
    return choice;
  }
  const bool function =
      std::any_of(facts.bindings.begin(), facts.bindings.end(), [&](const Binding& binding) {
        return binding.symbol == query;
      });
  if (function) {
    choice.symbol = query;
    return choice;
  }
  for (const WhyMatch& match : explain_why(trace, summary, query, 1).matches) {
    choice.objects.push_back(match.node);
  }
  return choice.objects.empty() ? std::nullopt : std::optional(choice);
}

std::string unused_answer(const Trace& trace,
                          const Summary& summary,
                          const ProblemFacts& facts,
                          const OutputOptions& output) {
  return output.form == "json" ? unused_json(trace, summary, facts)
                               : unused_text(output.render, trace, summary, facts);
}

}  // namespace

int answer_symbols(const Trace& trace,
                   const Summary& summary,
                   const ProblemFacts& facts,
                   const TraceRequest& request) {
  const OutputOptions& output = request.output;
  if (!facts.symbols) {
    return fail({ErrorKind::usage,
                 request.unused ? "say what is called in" : "say where calls go in",
                 trace.target,
                 "that stands in the memory of a running process, and in the symbol tables of its "
                 "files: neither a file, a document nor a recording has both",
                 request.unused ? "tracso --unused PID" : "tracso --bindings PID"});
  }
  std::string text;
  if (request.bindings) {
    const auto choice = choose(trace, summary, facts, *request.bindings);
    if (!choice) {
      fail({ErrorKind::usage,
            "find",
            *request.bindings,
            fmt::format("no object of {} has that name, and none imports such a function",
                        trace.target),
            "tracso --bindings PID lists all"});
      return status_not_found;
    }
    text = output.form == "json" ? bindings_json(trace, summary, facts, *choice)
                                 : bindings_text(output.render, trace, summary, facts, *choice);
  } else {
    text = unused_answer(trace, summary, facts, output);
  }
  const os::LiveCommands commands;
  const auto done = deliver(text, output, commands);
  return !done ? fail(done.error()) : trace.partial ? status_ended : 0;
}

}  // namespace tracso
