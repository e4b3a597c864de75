#include "commands/calls_engine.hpp"

#include "base/text.hpp"
#include "calls/engine.hpp"
#include "calls/engine_table.hpp"
#include "calls/group.hpp"
#include "commands/call_line_output.hpp"
#include "commands/call_records.hpp"
#include "commands/command_user.hpp"
#include "commands/output.hpp"
#include "launch/job_control.hpp"
#include "launch/own_signals.hpp"
#include "launch/privileges.hpp"
#include "launch/spawn.hpp"
#include "os/disk.hpp"
#include "os/live_files.hpp"
#include "os/live_process.hpp"
#include "tracee/guardian.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <functional>
#include <utility>

namespace tracso {
namespace {

using launch::HeldCommand;
using launch::OwnSignals;
using std::chrono::milliseconds;

// The calls that the engine sees, as they come.
class Lines final : public calls::CallSink {
 public:
  Lines(const CallsRequest& request, LineFile& file)
      : signals_(!request.no_signals), writer_(line_writer(request)), file_(file) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    time_.tick = rate_.start();
    time_.epoch_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    if (request.form == CallsRequest::Form::records) {
      file_.put(first_record(request));
    }
  }

  void begin_program(std::uint32_t program, std::int32_t pid) override {
    writer_->begin_program(program, pid);
  }

  void add(std::uint32_t program,
           const calls::CallEvent& event,
           const calls::EngineSite& site,
           std::string_view from) override {
    any_ = true;
    set_time();
    writer_->add(program, event, site.line, from);
  }

  void add_signal(std::uint32_t program,
                  std::int32_t thread,
                  std::uint64_t ticks,
                  int signal) override {
    if (signals_) {
      set_time();
      writer_->add_signal(program, thread, ticks, signal);
    }
  }

  void write() { file_.put(writer_->take()); }

  void end(int status) {
    writer_->end(end_of_command(status));
    write();
  }

  bool any() const { return any_; }

  LineFile& file() { return file_; }

 private:
  void set_time() {
    time_.ns_per_tick = rate_.ns_per_tick();
    writer_->set_time(time_);
  }

  bool signals_;
  std::unique_ptr<calls::CallWriter> writer_;
  LineFile& file_;
  calls::TickRate rate_;
  calls::TickTime time_;
  bool any_ = false;
};

calls::EngineDoors live_doors() {
  calls::EngineDoors doors;
  doors.process = [](pid_t pid) -> Result<std::unique_ptr<ProcessSource>> {
    auto process = os::LiveProcess::open(pid);
    if (!process) {
      return process.error();
    }
    return std::unique_ptr<ProcessSource>(std::move(*process));
  };
  doors.file = [](const ProcessSource& process, const Mapping& mapping) -> std::unique_ptr<File> {
    auto mapped = process.open_mapped({mapping.start, mapping.end, mapping.device, mapping.inode});
    if (mapped) {
      return std::move(*mapped);
    }
    // Not everybody may open what is mapped: then the path, if it leads to the same file.
    const auto root = fmt::format("/proc/{}/root", process.pid());
    const os::LiveFiles files(
        UniqueFd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), root, "/");
    auto file = files.open({mapping.name});
    const auto status = file ? (*file)->status() : Result<FileStatus>(file.error());
    return status && status->inode == mapping.inode ? std::move(*file) : nullptr;
  };
  return doors;
}

calls::EngineOptions engine_options(const CallsRequest& request) {
  calls::EngineOptions options;
  if (!request.no_imports) {
    options.watched.imports = request.filter;
  }
  options.watched.entries = request.entries;
  options.system_calls = request.system_calls;
  options.follow = request.follow;
  options.places = request.lines.instruction;
  options.prototypes = finder_of(request);
  options.text_bytes = static_cast<std::uint32_t>(request.lines.limits.text_bytes);
  return options;
}

// When the command is stopped by job control, so are we (launch/job_control.hpp).
void stop_with_command(calls::Engine& engine, launch::JobControl& job, OwnSignals& signals) {
  tracee::Guardian* guardian = engine.guardian();
  if (!job.is_time_to_stop(guardian != nullptr)) {
    return;
  }
  if (guardian != nullptr) {
    guardian->stopping();
  }
  const pid_t by = signals.stop_us();
  if (guardian != nullptr) {
    guardian->running();
  }
  job.we_go_on(guardian != nullptr && by == guardian->pid(), launch::JobControl::Clock::now());
}

void take_job(calls::Engine& engine, launch::JobControl& job) {
  switch (engine.take_job()) {
    case calls::Engine::Job::stopped:
      job.stopped(/*traced=*/true);
      break;
    case calls::Engine::Job::continued:
      job.continued();
      break;
    default:
      break;
  }
}

// Stays with the command to its end. Ctrl-C reaches it by itself; what is sent to us to end us is
// passed on. `lines` may be nullptr.
int stay_with(pid_t pid,
              calls::Engine& engine,
              OwnSignals& signals,
              Lines* lines,
              const std::function<void()>& on_executed) {
  constexpr std::size_t most_at_once = 256;  // a busy command must not keep us from our signals
  constexpr milliseconds longest_sleep{250};
  launch::JobControl job;
  bool told = false;
  while (!engine.ended()) {
    const bool more = engine.work(engine.executed() ? most_at_once : 1);
    take_job(engine, job);
    if (engine.executed() && !std::exchange(told, true)) {
      on_executed();
    }
    if (lines != nullptr) {
      lines->write();
    }
    if (engine.ended()) {
      break;
    }
    const auto signal = signals.wait(more ? milliseconds(0) : job.limited(longest_sleep));
    if (signal.number == 0 && !more) {
      stop_with_command(engine, job, signals);
    }
    if (signal.number == SIGTSTP || signal.number == SIGTTIN || signal.number == SIGTTOU) {
      job.asked_to_stop();
    }
    if ((signal.number == SIGTERM || signal.number == SIGHUP) && signal.sender != 0) {
      ::kill(pid, signal.number);
    }
    if (job.is_to_be_continued(launch::JobControl::Clock::now())) {
      ::kill(pid, SIGCONT);
    }
  }
  return *engine.ended();
}

CallsReport report_of(const CallsRequest& request, const calls::Engine& engine, int status) {
  CallsReport report;
  report.command = request.command;
  report.mode = CallMode::exact;
  report.exit_status = WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
  report.signal = WIFSIGNALED(status) ? std::optional(WTERMSIG(status)) : std::nullopt;
  report.programs = engine.programs();
  report.notices = engine.notices();
  return report;
}

// Said once the program runs: then its privileges can be seen.
std::optional<Notice> withheld_privileges(const calls::EngineDoors& doors, pid_t pid) {
  const auto process = doors.process(pid);
  if (!process || !launch::lacks_privileges(**process)) {
    return std::nullopt;
  }
  return Notice{"privileges-withheld",
                "the program is set-user-ID, and runs without the privileges of its owner",
                "it may behave otherwise than without tracso",
                "run tracso as root"};
}

int finish(const CallsRequest& request, CallsReport& report, Lines* lines, int status) {
  if (lines == nullptr) {
    if (const auto done = print_calls(request, report); !done) {
      return fail(done.error());
    }
    return calls_status(report);
  }
  lines->end(status);
  if (!lines->any() && report.notices.empty()) {
    report.notices.push_back({"calls-none",
                              "no call was seen of those asked for",
                              "there is no such function, or it was not called",
                              ""});
  }
  if (request.form == CallsRequest::Form::records) {
    lines->file().put(last_record(report, 0));
  } else {
    for (const auto& notice : report.notices) {
      say(notice_line(notice));
    }
  }
  return status_after_lines(calls_status(report), lines->file());
}

}  // namespace

int calls_by_engine(const CallsRequest& request) {
  const bool as_lines = !request.is_table();
  const bool records = request.form == CallsRequest::Form::records;
  LineFile file;
  if (as_lines) {
    if (const auto opened = file.open(records && !request.file ? "-" : request.file); !opened) {
      return fail(opened.error());
    }
  } else if (request.file && *request.file != "-") {
    if (const auto writable = os::check_output_file(*request.file); !writable) {
      return fail(writable.error());
    }
  }
  std::optional<launch::CommandUser> user;
  if (!request.user.empty()) {
    auto found = user_for_command(request.user);
    if (!found) {
      return fail(found.error());
    }
    user = std::move(*found);
  }
  std::optional<Lines> lines;
  if (as_lines) {
    lines.emplace(request, file);
  }
  calls::EngineTable table;
  const auto options = engine_options(request);
  const auto doors = live_doors();
  calls::CallSink& sink = lines ? static_cast<calls::CallSink&>(*lines) : table;
  calls::Engine engine(options, doors, sink);
  OwnSignals signals;
  auto command = HeldCommand::start(
      request.command, output_of_command(request), signals, user ? &*user : nullptr);
  if (!command) {
    return fail_to_start(command.error());
  }
  if (const auto traced = engine.trace(command->pid()); !traced) {
    auto error = traced.error();
    error.hint = "ptrace(2) must be allowed: CAP_SYS_PTRACE, kernel.yama.ptrace_scope, seccomp";
    return fail(error);
  }
  command->go();
  std::optional<Notice> withheld;
  const int status = stay_with(command->pid(), engine, signals, lines ? &*lines : nullptr, [&] {
    withheld = withheld_privileges(doors, command->pid());
  });
  if (!engine.executed()) {
    if (const auto failure = command->failure()) {
      return fail_to_start(*failure);
    }
  }
  auto report = report_of(request, engine, status);
  if (withheld) {
    report.notices.push_back(*withheld);
  }
  if (!lines) {
    report.rows = table.rows(engine.rate().ns_per_tick(), engine.programs());
    calls::group_rows(report, request.group);
  }
  return finish(request, report, lines ? &*lines : nullptr, status);
}

}  // namespace tracso
