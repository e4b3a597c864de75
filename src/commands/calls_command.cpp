#include "commands/calls_command.hpp"

#include "base/text.hpp"
#include "calls/arena.hpp"
#include "calls/filter_match.hpp"
#include "calls/group.hpp"
#include "calls/refusal.hpp"
#include "commands/call_line_output.hpp"
#include "commands/calls_engine.hpp"
#include "commands/command_path.hpp"
#include "commands/output.hpp"
#include "commands/request.hpp"
#include "launch/job_control.hpp"
#include "launch/own_signals.hpp"
#include "launch/spawn.hpp"
#include "os/disk.hpp"
#include "os/live_commands.hpp"
#include "os/live_files.hpp"
#include "os/proc_mount.hpp"
#include "os/secure_start.hpp"
#include "render/calls.hpp"

#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace tracso {
namespace {

using launch::HeldCommand;
using launch::OwnSignals;

// Why no agent can get into the program.
struct Refused {
  Error error;
  bool engine_can = false;  // see it all the same
};

std::optional<Refused> cannot_trace(const CallsRequest& request) {
  const auto program = find_program(request.command.front());
  if (program.empty()) {
    return std::nullopt;  // its start will say so
  }
  const os::LiveFiles files(working_directory());
  if (request.engine == CallsRequest::Engine::ptrace) {
    const bool imports_only = !request.entries && !request.system_calls;
    const auto error = calls::engine_refusal(files, {program}, imports_only);
    return error ? std::optional(Refused{*error, false}) : std::nullopt;
  }
  if (const auto error = calls::refusal(files, {program})) {
    return Refused{*error, false};
  }
  if (auto error = os::without_proc("trace the library calls of", program)) {
    error->kind = ErrorKind::denied;
    error->reason += ", and the agent is opened by a path of it";
    return Refused{*std::move(error), false};
  }
  const auto started = calls::started_program(files, {program});
  const auto secure = os::secure_start(files, started);
  if (secure.empty()) {
    return std::nullopt;
  }
  return Refused{{ErrorKind::denied,
                  "trace the library calls of",
                  started.text,
                  "the loader would ignore the agent: " + secure,
                  "run tracso as the user that the program becomes"},
                 request.engine == CallsRequest::Engine::automatic};
}

// Variables that are ours for the time of a fork, for the child inherits what we have then.
class ChildVariables {
 public:
  explicit ChildVariables(const std::vector<std::pair<std::string, std::string>>& variables) {
    for (const auto& [name, value] : variables) {
      const char* before = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): one thread
      former_.emplace_back(name,
                           before == nullptr ? std::nullopt : std::optional<std::string>(before));
      ::setenv(name.c_str(), value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
    }
  }

  ~ChildVariables() {
    for (const auto& [name, value] : former_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
      } else {
        ::unsetenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): one thread
      }
    }
  }

  ChildVariables(const ChildVariables&) = delete;
  ChildVariables& operator=(const ChildVariables&) = delete;

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> former_;
};

// Waits until the command has ended. Ctrl-C and Ctrl-Z reach it by themselves; what is sent to us
// to end us is passed on. `lines` may be nullptr.
int wait_for(pid_t pid, OwnSignals& signals, LineOutput* lines) {
  launch::JobControl job;
  for (;;) {
    const auto pause = lines == nullptr ? std::chrono::milliseconds(250) : lines->write();
    int status = 0;
    const pid_t ended = ::waitpid(pid, &status, WNOHANG | WUNTRACED);
    if (ended == pid && WIFSTOPPED(status)) {
      job.stopped(/*traced=*/false);
    }
    if ((ended == pid && !WIFSTOPPED(status)) || (ended < 0 && errno != EINTR)) {
      return status;
    }
    if (job.is_time_to_stop(/*can_be_woken=*/false)) {
      signals.stop_us();
      job.we_go_on(/*by_guardian=*/false, std::chrono::steady_clock::now());
    }
    const auto signal = signals.wait(pause);
    if (signal.number == SIGTSTP || signal.number == SIGTTIN || signal.number == SIGTTOU) {
      job.asked_to_stop();
    }
    if ((signal.number == SIGTERM || signal.number == SIGHUP) && signal.sender != 0) {
      ::kill(pid, signal.number);
    }
  }
}

// 127 is ld.so's status when it has not loaded all libraries, the agent among them.
void add_missing_agent(const calls::Arena& arena, CallsReport& report) {
  constexpr int loader_failed = 127;
  if (arena.regions() == 0 && report.exit_status == loader_failed) {
    report.notices.push_back({"calls-not-loaded",
                              "the command ended before its libraries were loaded",
                              "nothing was traced",
                              "its loader's words are above; tracso FILE tells what is missing"});
  } else if (arena.regions() == 0) {
    report.notices.push_back(
        {"calls-no-agent",
         "the agent did not start in the command",
         "nothing was traced",
         "a program that is not linked to a C library, or forbids LD_PRELOAD"});
  }
}

Result<calls::Arena> make_arena(const CallsRequest& request) {
  auto options = options_of(request);
  if (const char* preload = std::getenv("LD_PRELOAD")) {  // NOLINT(concurrency-mt-unsafe): as above
    options.user_has_preload = true;
    options.user_preload = preload;
  }
  return calls::Arena::make(options);
}

}  // namespace

int calls_status(const CallsReport& report) {
  constexpr int status_of_signal = 128;
  return report.signal ? status_of_signal + *report.signal : report.exit_status.value_or(0);
}

int fail_to_start(const Error& error) {
  constexpr int not_found = 127, not_executable = 126;
  const int status = fail(error);
  return error.kind == ErrorKind::not_found ? not_found
         : error.kind == ErrorKind::denied  ? not_executable
                                            : status;
}

launch::CommandOutputTo output_of_command(const CallsRequest& request) {
  const bool document =
      request.form != CallsRequest::Form::text && request.form != CallsRequest::Form::lines;
  const bool to_stdout = document && (!request.file || *request.file == "-");
  return to_stdout ? launch::CommandOutputTo::our_stderr : launch::CommandOutputTo::our_stdout;
}

calls::ArenaOptions options_of(const CallsRequest& request) {
  calls::ArenaOptions options;
  options.mode = request.mode;
  options.follow = request.follow;
  options.inside = request.inside;
  options.filter = request.filter;
  options.record = !request.is_table();
  options.drop = request.drop;
  options.prototypes = request.prototypes;
  options.text_bytes = static_cast<std::uint32_t>(
      std::min<std::size_t>(request.lines.limits.text_bytes, tracso_most_text_bytes));
  return options;
}

Result<Done> print_calls(const CallsRequest& request, const CallsReport& report) {
  if (request.form == CallsRequest::Form::dot) {
    OutputOptions output;
    output.form = request.image.empty() ? "dot" : "image";
    output.image = request.image;
    output.file = request.file;
    output.silent = true;
    auto drawn =
        deliver(calls_dot(request.render, report, request.limit), output, os::LiveCommands());
    for (const auto& notice : report.notices) {
      say(notice_line(notice));  // a picture has no place for them
    }
    return drawn;
  }
  const auto text = request.form == CallsRequest::Form::json ? calls_json(report)
                    : request.form == CallsRequest::Form::csv
                        ? calls_csv(report)
                        : calls_text(request.render, report, request.limit);
  if (request.file && *request.file != "-") {
    return os::write_output_file(*request.file, text);  // not a word: stderr is the command's
  }
  const bool to_people = request.form == CallsRequest::Form::text && !request.file;
  return to_people ? os::write_descriptor(STDERR_FILENO, text, "stderr") : print_out(text);
}

int calls_of_command(const CallsRequest& request) {
  if (const auto refused = cannot_trace(request)) {
    if (!refused->engine_can) {
      return fail(refused->error);
    }
    say(refused->error.reason +
        "; so it is looked at from outside (--engine ptrace), which costs "
        "some 100 us for each call");
    return calls_by_engine(request);
  }
  if (request.engine == CallsRequest::Engine::ptrace) {
    return calls_by_engine(request);
  }
  const bool as_lines = !request.is_table();
  if (!as_lines && request.file && *request.file != "-") {
    if (const auto writable = os::check_output_file(*request.file); !writable) {
      return fail(writable.error());
    }
  }
  const auto arena = make_arena(request);
  if (!arena) {
    return fail(arena.error());
  }
  std::optional<LineOutput> lines;
  if (as_lines) {
    lines.emplace(*arena, request);
    if (const auto opened = lines->open(); !opened) {
      return fail(opened.error());
    }
  }
  const calls::TickRate rate;
  OwnSignals signals;
  auto command = [&] {
    const ChildVariables variables(arena->environment());
    return HeldCommand::start(request.command, output_of_command(request), signals);
  }();
  const auto not_run = [&](const Error& found) {
    const auto error = with_path_hint(found);
    const int failed = fail_to_start(error);
    return lines ? end_of_no_start(request, error, failed, lines->file()) : failed;
  };
  if (!command) {
    return not_run(command.error());
  }
  command->go();
  if (const auto failure = command->await_failure()) {
    ::waitpid(command->pid(), nullptr, 0);
    return not_run(*failure);
  }
  const int status = wait_for(command->pid(), signals, lines ? &*lines : nullptr);
  CallsReport report;
  report.command = request.command;
  report.mode = request.mode;
  report.exit_status = WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
  report.signal = WIFSIGNALED(status) ? std::optional(WTERMSIG(status)) : std::nullopt;
  arena->read(rate.ns_per_tick(), report);
  add_missing_agent(*arena, report);
  calls::add_unfit_libraries(request.filter, report);
  if (lines) {
    lines->end(status, report);
    return status_after_lines(calls_status(report), lines->file());
  }
  calls::group_rows(report, request.group);
  if (const auto done = print_calls(request, report); !done) {
    return fail(done.error());
  }
  return calls_status(report);
}

}  // namespace tracso
