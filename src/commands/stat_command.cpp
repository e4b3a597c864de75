#include "commands/stat_command.hpp"

#include "base/text.hpp"
#include "commands/baseline_file.hpp"
#include "commands/output.hpp"
#include "commands/stat_run.hpp"
#include "commands/stream.hpp"
#include "os/disk.hpp"
#include "os/live_commands.hpp"
#include "render/stat_json.hpp"
#include "render/stat_text.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace tracso {
namespace {

bool to_stdout(const AnswerOutput& output) {
  return !output.file || *output.file == "-";
}

int status_of_command(const CommandInfo& command) {
  return command.signal ? 128 + *command.signal : command.exit_status.value_or(0);
}

// What can be known to be in vain before the command has run for it.
std::optional<Error> cannot_answer(const StatRequest& request) {
  for (const auto& file : {request.output.file, request.junit, request.save_baseline}) {
    if (file && *file != "-") {
      if (const auto done = os::check_output_file(*file); !done) {
        return done.error();
      }
    }
  }
  return std::nullopt;
}

// Where several runs end differently, the first one that failed tells.
struct Outcome {
  Stat last;
  std::vector<StatFigures> figures;
  std::vector<LeakCounts> leaks;
  int status = 0;
  std::optional<int> interrupted_by;
};

// What any of the runs loaded counts; of one of which nothing is known anything may be.
void add_libraries(const Stat& run, Stat& into) {
  std::set<std::string> all(into.library_names.begin(), into.library_names.end());
  all.insert(run.library_names.begin(), run.library_names.end());
  into.library_names.assign(all.begin(), all.end());
  into.libraries_known = into.libraries_known && run.libraries_known;
}

Result<Outcome> run_all(const StatRequest& request, Stream* stream) {
  Outcome outcome;
  const bool to_stderr = request.output.json && to_stdout(request.output);
  for (std::size_t i = 0; i < request.warmups + request.runs; ++i) {
    const auto on_interval = stream == nullptr
                                 ? std::function<void(std::int32_t)>()
                                 : [stream](std::int32_t pid) { stream->sample(pid); };
    auto run = run_for_stat(request, to_stderr, on_interval);
    if (!run) {
      return run.error();
    }
    const int status = status_of_command(*run->stat.command);
    outcome.status = outcome.status != 0 ? outcome.status : status;
    if (request.verbose) {
      const StatFigures figures = figures_of(run->stat);
      say(fmt::format("run {} of {}{}: {} dirty, {} peak, status {}",
                      i + 1,
                      request.warmups + request.runs,
                      i < request.warmups ? " (warm-up)" : "",
                      size_or_dash(figures.dirty),
                      size_or_dash(figures.peak),
                      status));
    }
    if (i > request.warmups) {
      add_libraries(outcome.last, run->stat);
    }
    if (i >= request.warmups) {
      outcome.figures.push_back(figures_of(run->stat));
      outcome.leaks.push_back(leaks_of(run->stat));
    }
    outcome.last = std::move(run->stat);
    outcome.interrupted_by = run->interrupted_by;
    if (run->interrupted_by) {
      break;
    }
  }
  return outcome;
}

Result<Outcome> look(const StatRequest& request) {
  auto stat = look_for_stat(request);
  if (!stat) {
    return stat.error();
  }
  Outcome outcome;
  outcome.figures.push_back(figures_of(*stat));
  outcome.leaks.push_back(leaks_of(*stat));
  outcome.last = std::move(*stat);
  return outcome;
}

Result<Done> write_answer(const StatRequest& request, const Stat& stat) {
  OutputOptions options;
  options.file = request.output.file;
  const os::LiveCommands commands;
  const std::string text =
      request.output.json ? stat_json(stat) : stat_text(request.output.render, stat);
  if (auto done = deliver(text, options, commands); !done) {
    return done;
  }
  return request.junit ? os::write_output_file(*request.junit, budgets_junit(stat)) : Done{};
}

void say_failed(const std::vector<Budget>& budgets) {
  for (const Budget& budget : budgets) {
    if (!budget.ok) {
      say(fmt::format("failed: {} {}: {}{}",
                      budget.name,
                      budget.limit,
                      budget.text,
                      budget.remark.empty() ? "" : "; " + budget.remark));
    }
  }
}

}  // namespace

int stat(const StatRequest& request) {
  if (const auto error = cannot_answer(request)) {
    return fail(*error);
  }
  std::optional<Baseline> baseline;
  if (request.baseline) {
    auto read = read_baseline(*request.baseline);
    if (!read) {
      fail(read.error());
      return 2;
    }
    baseline = std::move(*read);
  }
  std::unique_ptr<Stream> stream;
  if (request.stream) {
    auto opened = Stream::open(*request.stream);
    if (!opened) {
      return fail(opened.error());
    }
    stream = std::move(*opened);
  }
  auto outcome = request.argv.empty() ? look(request) : run_all(request, stream.get());
  if (stream) {
    say_dropped(stream->finish());
  }
  if (!outcome) {
    const int status = fail(outcome.error());
    return request.argv.empty() ? status : status_of_start(outcome.error());
  }
  Stat& last = outcome->last;
  const StatFigures middle = median_of(outcome->figures);
  last.runs = outcome->figures;
  last.budgets = check_limits(request.limits, middle, outcome->leaks, last);
  if (baseline) {
    const auto more =
        check_baseline(*baseline, request.tolerances, {middle, {}}, last.library_names);
    last.budgets.insert(last.budgets.end(), more.begin(), more.end());
    add_baseline_notices(*baseline, last.notices);
  }
  if (const auto done = write_answer(request, last); !done) {
    return fail(done.error());
  }
  if (request.save_baseline) {
    const std::string target = last.command ? join(last.command->argv, " ") : last.target;
    if (const auto done =
            write_baseline(*request.save_baseline, target, middle, last.library_names);
        !done) {
      return fail(done.error());
    }
  }
  const bool failed = std::any_of(
      last.budgets.begin(), last.budgets.end(), [](const Budget& budget) { return !budget.ok; });
  say_failed(last.budgets);
  if (outcome->status != 0 && !request.stray.empty()) {
    say(
        fmt::format("{} stands behind the command and was given to it: options of tracso stat "
                    "go before it",
                    request.stray));
  }
  if (outcome->interrupted_by) {
    return 128 + *outcome->interrupted_by;
  }
  return outcome->status != 0 ? outcome->status : failed ? 1 : 0;
}

}  // namespace tracso
