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

Result<Trace> side(const std::string& word) {
  TraceRequest request;
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
  Trace trace = std::move(obtained->trace);
  if (trace.findings.empty()) {
    trace.findings = find_problems(trace, obtained->facts);
  }
  return trace;
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
               ? fmt::format("{}: {} more {}", gate.text, size_text(grown(bytes)), word)
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
                 ? fmt::format("{}: {} libraries added", gate.text, diff.added.size())
                 : "";
  }
  return "";
}

}  // namespace

int diff(const DiffRequest& request) {
  if (const auto status = diff_descriptors(request)) {
    return *status;
  }
  auto before = side(request.before);
  if (!before) {
    return fail(before.error());
  }
  auto after = side(request.after);
  if (!after) {
    return fail(after.error());
  }
  const Trace then = group_modules(*before, 2);
  const Trace now = group_modules(*after, 2);
  const TraceDiff answer =
      compare_traces(then, summarize(then, ByteKind::file), now, summarize(now, ByteKind::file));
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
