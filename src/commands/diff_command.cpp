#include "commands/diff_command.hpp"

#include "tracso/analysis.hpp"
#include "tracso/findings.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "commands/diff_descriptors.hpp"
#include "commands/output.hpp"
#include "commands/sources.hpp"
#include "compare/trace_diff.hpp"
#include "os/live_commands.hpp"
#include "render/diff_forms.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

bool is_pid(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// One side, and what its findings rest on.
struct Side {
  Trace trace;
  ProblemFacts facts;
  bool fresh = false;  // its findings were found just now, and can be found again
};

bool lacks_symbols(const Trace& trace) {
  return std::any_of(trace.notices.begin(), trace.notices.end(), [](const Notice& notice) {
    return notice.code == "symbols-not-recorded";
  });
}

Result<Side> side(const std::string& word, bool verbose) {
  TraceRequest request;
  request.verbose = verbose;
  request.costs = true;
  request.output.form = "json";  // all that a document holds
  if (is_pid(word)) {
    request.source = PidSource{static_cast<std::int32_t>(parse_unsigned(word).value_or(0))};
  } else {
    request.source = SavedSource{word};
  }
  std::optional<int> status;
  auto obtained = obtain_trace(request, status);
  if (!obtained) {
    return obtained.error();
  }
  Side side{std::move(obtained->trace), std::move(obtained->facts), false};
  if (side.trace.findings.empty()) {
    side.trace.findings = find_problems(side.trace, side.facts);
    side.fresh = true;
  }
  if (verbose) {
    say(fmt::format("{}: {}, {}",
                    printable(word),
                    is_pid(word)                ? "a process"
                    : lacks_symbols(side.trace) ? "a recording, without symbol tables"
                                                : "a document or recording",
                    counted(side.trace.findings.size(), "finding")));
  }
  return side;
}

// A recording has no symbol tables: what the other side found by them is not new.
void forget_symbols(Side& side) {
  if (side.fresh) {
    side.facts.bindings.clear();
    side.facts.uses.clear();
    side.facts.runtimes.clear();
    side.facts.symbols = false;
    side.trace.findings = find_problems(side.trace, side.facts);
    return;
  }
  std::erase_if(side.trace.findings, [](const Finding& finding) {
    return finding.code == "interposed" || finding.code == "needed-unused";
  });
}

// true: the findings that rest on symbols were left out.
bool compare_what_both_saw(Side& before, Side& after) {
  const bool then = lacks_symbols(before.trace), now = lacks_symbols(after.trace);
  if (then == now) {
    return false;
  }
  forget_symbols(then ? after : before);
  return true;
}

std::uint64_t grown(const BytesChange& bytes) {
  const std::uint64_t before = bytes.before.value_or(0);
  return bytes.after.value_or(0) - std::min(before, bytes.after.value_or(0));
}

// Of the whole processes where both were measured, else of their libraries.
BytesChange of_process(const TraceDiff& diff,
                       std::uint64_t MemoryUse::*bytes,
                       const BytesChange& libraries) {
  return diff.memory_before && diff.memory_after
             ? BytesChange{diff.memory_before->total().*bytes, diff.memory_after->total().*bytes}
             : libraries;
}

// Empty: it holds. A size is the growth, a number the libraries added.
std::string failure(const Gate& gate, const TraceDiff& diff) {
  const auto over = [&](const BytesChange& bytes, std::string_view word) {
    if (!bytes.before || !bytes.after) {
      return fmt::format("{}: {} bytes are not known on both sides", gate.text, word);
    }
    return grown(bytes) > gate.limit
               ? fmt::format(
                     "{}: {} more {}", gate.text, told_apart(gate.limit, grown(bytes)).second, word)
               : "";
  };
  switch (gate.what) {
    case Gate::What::severity:
    case Gate::What::code:
      return first_meant(gate, diff.appeared);
    case Gate::What::file:
      return over(diff.file, "on disk");
    case Gate::What::resident:
      return over(of_process(diff, &MemoryUse::resident, diff.resident), "resident");
    case Gate::What::private_bytes:
      return over(of_process(diff, &MemoryUse::private_bytes, diff.private_bytes), "private");
    case Gate::What::libraries:
      return diff.added.size() > gate.limit
                 ? fmt::format("{}: {} added",
                               gate.text,
                               counted(diff.added.size(), "library", "libraries"))
                 : "";
  }
  return "";
}

}  // namespace

int diff(const DiffRequest& request) {
  if (const auto status = diff_descriptors(request)) {
    return *status;
  }
  auto before = side(request.before, request.verbose);
  if (!before) {
    return fail(before.error());
  }
  auto after = side(request.after, request.verbose);
  if (!after) {
    return fail(after.error());
  }
  const bool without_symbols = compare_what_both_saw(*before, *after);
  const Trace then = group_modules(before->trace, 2);
  const Trace now = group_modules(after->trace, 2);
  TraceDiff answer =
      compare_traces(then, summarize(then, ByteKind::file), now, summarize(now, ByteKind::file));
  if (without_symbols) {
    answer.notices.push_back(
        {"symbols-not-compared",
         "a recording has no symbol tables",
         "findings that rest on symbols (interposed functions, runtimes inside "
         "libraries, libraries that nobody calls) are not compared",
         "compare with tracso --json PID -o FILE of the earlier process"});
  }
  OutputOptions options;
  options.file = request.output.file;
  const os::LiveCommands commands;
  const std::string text =
      request.output.json ? diff_json(answer) : diff_text(request.output.render, answer);
  if (const auto done = deliver(text, options, commands); !done) {
    return fail(done.error());
  }
  bool failed = false;
  for (const Gate& gate : request.gates) {
    if (const std::string line = failure(gate, answer); !line.empty()) {
      say("failed: " + line);
      failed = true;
    }
  }
  return failed ? 1 : 0;
}

}  // namespace tracso
