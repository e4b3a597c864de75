#include "cli/stat_options.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "cli/values.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

constexpr const char* limits = "Budgets (exit 1 if one fails)";
constexpr const char* look = "How to look";
constexpr std::uint64_t most_runs = 1000;

void add_limits(CLI::App& app, StatWords& words) {
  for (const FigureName& figure : figure_names()) {
    const std::string name(figure.name);
    app.add_option("--max-" + name,
                   words.most[name],
                   figure.is_bytes ? "at most that many bytes (K M G T)" : "at most that many")
        ->type_name(figure.is_bytes ? "SIZE" : "N")
        ->group(limits);
  }
  app.add_option_function<std::string>(
         "--no-leaks",
         [&words](const std::string& text) { words.no_leaks = text; },
         "nothing left over at the end: fds, threads, children (all)")
      ->expected(0, 1)
      ->default_str("")
      ->type_name("[=WHAT]")
      ->group(limits);
  app.add_option("--deny", words.denied, "no library whose name or path matches (repeatable)")
      ->type_name("GLOB")
      ->allow_extra_args(false)
      ->group(limits);
  add_baseline_options(app, words.baseline, limits);
  app.add_option("--junit", words.junit, "write the budgets as a JUnit test suite")
      ->type_name("FILE")
      ->group(limits);
}

void add_how_to_look(CLI::App& app, StatWords& words) {
  app.add_option("-p,--pid", words.pid, "look at a running process instead of running CMD")
      ->type_name("PID")
      ->group(look);
  app.add_option("--runs", words.runs, "run CMD that often (1; 3 with a baseline)")
      ->transform(number_between(1, most_runs))
      ->type_name("N")
      ->group(look);
  app.add_option("--warmup", words.warmups, "runs before that count for nothing (0)")
      ->transform(number_between(0, most_runs))
      ->type_name("N")
      ->group(look);
  app.add_option("--baseline-after",
                 words.after,
                 "compare descriptors with those open that long after the start")
      ->check(seconds_between(shortest_time, longest_time))
      ->type_name("SECONDS")
      ->group(look);
  app.add_option("--for", words.watch_for, "with -p: two looks that far apart, and the difference")
      ->check(seconds_between(shortest_time, longest_time))
      ->type_name("SECONDS")
      ->group(look);
  app.add_flag(
         "--children",
         words.children,
         "all descendants: limits on rss, dirty, fds, threads of all, --max-peak of the largest")
      ->group(look);
  app.add_option_function<std::string>(
         "--attribution",
         [&words](const std::string& text) { words.attribution = text; },
         "what fills the memory and grew: Python's pools, heap, the rest, tracemalloc's lines; "
         "=objects: Python objects by type")
      ->expected(0, 1)
      ->default_str("")
      ->type_name("[=objects]")
      ->group(look);
  app.add_option("--sample",
                 words.sample,
                 "look at resident memory that often: peaks, when, and the peak of each interval")
      ->type_name("MS")
      ->group(look);
  app.add_flag("--reset-peak", words.reset_peak, "with -p: let its peak begin anew")->group(look);
  app.add_flag("--used",
               words.used,
               "with -p and --for: which memory is used in that time; clears the kernel's marks of "
               "touched pages")
      ->group(look);
  app.add_flag("--no-ptrace",
               words.no_ptrace,
               "do not trace CMD: figures of the last look before its end")
      ->group(look);
  app.add_option(
         "--stream", words.stream, "samples as JSON Lines: FILE, -, tcp://host:port, unix:/path")
      ->type_name("DEST")
      ->group(look);
  app.add_flag("-v,--verbose", words.verbose, "say what is decided, on stderr")->group(look);
}

std::optional<Leave> read_limits(const StatWords& words, Limits& into) {
  for (const FigureName& figure : figure_names()) {
    const std::string& text = words.most.at(std::string(figure.name));
    if (text.empty()) {
      continue;
    }
    const auto value = figure.is_bytes ? parse_size(text) : parse_unsigned(text);
    if (!value) {
      return usage_error(fmt::format("--max-{} '{}' is no {}",
                                     figure.name,
                                     printable(text),
                                     figure.is_bytes ? "size" : "number"),
                         figure.is_bytes ? "500M, 1.5G, 4096" : "a number such as 20");
    }
    into.most.push_back({std::string(figure.name), *value, text});
  }
  if (words.no_leaks) {
    const bool all = words.no_leaks->empty();
    into.no_leaks = {all, all, all};
    for (const std::string_view what :
         all ? std::vector<std::string_view>() : split(*words.no_leaks, ',')) {
      bool* flag = what == "fds"        ? &into.no_leaks.fds
                   : what == "threads"  ? &into.no_leaks.threads
                   : what == "children" ? &into.no_leaks.children
                                        : nullptr;
      if (flag == nullptr) {
        return usage_error(fmt::format("--no-leaks={} is none of the kinds", printable(what)),
                           "--no-leaks, or --no-leaks=fds,threads,children");
      }
      *flag = true;
    }
  }
  into.denied = words.denied;
  return std::nullopt;
}

void read_times(const StatWords& words, StatRequest& into) {
  into.runs = words.runs.value_or(words.baseline.any() ? 3 : 1);
  into.warmups = words.warmups;
  into.baseline_after = seconds_word(words.after);
  into.watch_for = seconds_word(words.watch_for);
}

std::optional<Leave> read_attribution(const StatWords& words,
                                      std::optional<AttributionDepth>& into) {
  if (!words.attribution) {
    return std::nullopt;
  }
  if (!words.attribution->empty() && *words.attribution != "objects") {
    return usage_error(fmt::format("--attribution={} is no kind", printable(*words.attribution)),
                       "--attribution, or --attribution=objects");
  }
  into = words.attribution->empty() ? AttributionDepth::parts : AttributionDepth::objects;
  return std::nullopt;
}

// "5", "0.5": milliseconds.
std::optional<Leave> read_sample(const StatWords& words,
                                 std::optional<std::chrono::nanoseconds>& into) {
  if (words.sample.empty()) {
    return std::nullopt;
  }
  constexpr double least = 0.1, most = 1e7;
  const auto milliseconds = parse_decimal(words.sample);
  if (!milliseconds || *milliseconds < least || *milliseconds > most) {
    return usage_error(fmt::format("--sample '{}' is not a number of milliseconds from 0.1 on",
                                   printable(words.sample)),
                       "tracso stat --sample 5 CMD");
  }
  into = std::chrono::nanoseconds(static_cast<std::int64_t>(*milliseconds * 1e6));
  return std::nullopt;
}

// What belongs to a command or to a process only.
std::optional<Leave> mismatch(const StatWords& words) {
  const bool command = !words.command.empty();
  if (command == !words.pid.empty()) {
    return usage_error(
        command ? "a command and -p PID exclude each other" : "stat needs a command, or -p PID",
        "tracso stat python3 -c 'import ssl'; tracso stat -p 4192");
  }
  if (command && (words.reset_peak || words.used || !words.watch_for.empty())) {
    return usage_error("--for, --used and --reset-peak go with -p PID",
                       "tracso stat -p 4192 --for 10");
  }
  if (words.used && words.watch_for.empty()) {
    return usage_error("--used needs a time to look: --for SECONDS",
                       "tracso stat -p 4192 --used --for 10");
  }
  if (!command && words.no_leaks && words.watch_for.empty()) {
    return usage_error("--no-leaks with -p needs a time to look: --for SECONDS",
                       "tracso stat -p 4192 --no-leaks --for 10");
  }
  if (!command && !words.sample.empty() && words.watch_for.empty()) {
    return usage_error("--sample with -p needs a time to look: --for SECONDS",
                       "tracso stat -p 4192 --sample 5 --for 10");
  }
  if (!command && (words.no_ptrace || !words.after.empty() || words.runs)) {
    return usage_error("--runs, --no-ptrace and --baseline-after go with a command",
                       "tracso stat --runs 3 CMD");
  }
  return std::nullopt;
}

}  // namespace

void add_stat(CLI::App& app, StatWords& words) {
  CLI::App* stat = app.add_subcommand(
      "stat", "run CMD (or look at a process) and report memory, descriptors, threads, children");
  stat->footer("CMD is the first word that is no option; '--' before it is allowed.");
  add_limits(*stat, words);
  add_how_to_look(*stat, words);
  add_answer_options(*stat, words.answer, what_to_print);
}

std::variant<CostRequest, Leave> stat_request(const StatWords& words) {
  StatRequest request;
  for (const auto& leave : {mismatch(words),
                            read_limits(words, request.limits),
                            read_tolerances(words.baseline, request.tolerances),
                            read_attribution(words, request.attribution),
                            read_sample(words, request.sample)}) {
    if (leave) {
      return *leave;
    }
  }
  read_times(words, request);
  if (words.command.empty()) {
    const auto pid = pid_word(words.pid);
    if (std::holds_alternative<Leave>(pid)) {
      return std::get<Leave>(pid);
    }
    request.pid = std::get<std::int32_t>(pid);
    request.runs = 1;
  }
  const auto given = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  };
  request.argv = words.command;
  request.stray = words.stray;
  request.save_baseline = given(words.baseline.save);
  request.baseline = given(words.baseline.compare);
  request.junit = given(words.junit);
  request.stream = given(words.stream);
  request.reset_peak = words.reset_peak;
  request.used = words.used;
  request.children = words.children;
  request.trace = !words.no_ptrace;
  request.verbose = words.verbose;
  request.output = answer_output(words.answer);
  return CostRequest(request);
}

}  // namespace tracso
