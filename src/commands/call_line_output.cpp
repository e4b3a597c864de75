#include "commands/call_line_output.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "commands/call_records.hpp"
#include "commands/output.hpp"
#include "os/disk.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tracso {

std::string end_of_command(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = ::sigabbrev_np(WTERMSIG(status));
    return name == nullptr ? fmt::format("+++ killed by signal {} +++", WTERMSIG(status))
                           : fmt::format("+++ killed by SIG{} +++", name);
  }
  return fmt::format("+++ exited (status {}) +++", WEXITSTATUS(status));
}

std::string notice_line(const Notice& notice) {
  return printable(notice.text) + (notice.effect.empty() ? "" : ": " + notice.effect) +
         (notice.try_.empty() ? "" : "; " + notice.try_);
}

Result<Done> LineFile::open(const std::optional<std::string>& file) {
  fd_ = !file ? STDERR_FILENO : STDOUT_FILENO;
  name_ = !file ? "stderr" : *file == "-" ? "stdout" : *file;
  if (file && *file != "-") {
    if (auto done = os::check_output_file(*file); !done) {
      return done;
    }
    constexpr mode_t everybody = 0666;  // less the umask, as of any file that a command writes
    file_ = UniqueFd(
        ::open(file->c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, everybody));
    if (!file_) {
      return errno_error(errno, "write", *file);
    }
    fd_ = file_.get();
  }
  return Done{};
}

void LineFile::put(const std::string& text) {
  if (text.empty() || closed_) {
    return;
  }
  if (const auto done = os::write_descriptor(fd_, text, name_); !done) {
    closed_ = true;
    if (done.error().kind != ErrorKind::interrupted && fd_ != STDERR_FILENO) {
      failure_ = fail(done.error());
    }
  }
}

std::chrono::milliseconds LineOutput::write() {
  constexpr std::chrono::milliseconds shortest{1};
  constexpr std::chrono::milliseconds longest{20};
  bool any = false;
  for (const auto& stream : streams_) {
    any = stream->read() || any;
    file_.put(stream->take());
  }
  pause_ = any ? shortest : std::min(pause_ * 2, longest);
  return pause_;
}

std::unique_ptr<calls::CallWriter> line_writer(const CallsRequest& request) {
  if (request.form == CallsRequest::Form::records) {
    return std::make_unique<CallRecords>(request.lines.limits);
  }
  return std::make_unique<calls::CallLines>(request.lines);
}

std::shared_ptr<calls::PrototypeFinder> finder_of(const CallsRequest& request) {
  return request.prototypes != nullptr ? request.prototypes
                                       : std::make_shared<calls::PrototypeFinder>();
}

int status_after_lines(int status, const LineFile& file) {
  return status != 0 ? status : file.failure();
}

int end_of_no_start(const CallsRequest& request, const Error& error, int status, LineFile& file) {
  if (request.form == CallsRequest::Form::records) {
    CallsReport report;
    report.untraced_known = false;
    report.exit_status = request.processes.empty() ? std::optional(status) : std::nullopt;
    report.notices.push_back({"calls-not-run",
                              fmt::format("cannot {} {}", error.action, error.subject),
                              error.reason,
                              error.hint});
    file.put(last_record(report, 0));
  }
  return status_after_lines(status, file);
}

void LineOutput::add(const calls::Arena& arena) {
  streams_.push_back(std::make_unique<calls::EventStream>(
      arena, line_writer(request_), finder_of(request_), request_.lines.instruction));
}

Result<Done> LineOutput::open() {
  const bool records = request_.form == CallsRequest::Form::records;
  auto opened = file_.open(records && !request_.file ? "-" : request_.file);
  if (opened && records) {
    file_.put(first_record(request_));
  }
  return opened;
}

namespace {

void add_missing(const calls::StreamCounts& counts, CallsReport& report) {
  if (counts.lost != 0) {
    report.notices.push_back(
        {"calls-lost",
         fmt::format("{} missing",
                     counted(counts.lost, "call or return is", "calls and returns are")),
         "they came faster than they could be read, or in the middle of another (signal handlers)",
         ""});
  }
  if (counts.damaged != 0 || counts.unmapped != 0) {
    report.notices.push_back(
        {"calls-damaged",
         "calls are missing",
         fmt::format(
             "{} written over, {} could not be read",
             counted(counts.damaged, "piece of their records was", "pieces of their records were"),
             counts.unmapped),
         ""});
  }
}

void add_nothing_seen(bool was_command, CallsReport& report) {
  if (!report.rows.empty()) {
    report.notices.push_back({"calls-not-recorded",
                              "calls could not be recorded",
                              "the process has too little address space for it ('ulimit -v')",
                              "tracso calls -c counts them"});
  } else if (report.notices.empty() || !was_command) {
    report.notices.push_back({"calls-none",
                              "no call was seen of those asked for",
                              "nobody imports such a function, or it was not called",
                              "-e '*' shows all calls, those among its libraries too"});
  }
}

}  // namespace

void LineOutput::end(std::optional<int> status, CallsReport& report) {
  calls::StreamCounts counts;
  for (const auto& stream : streams_) {
    stream->read_rest();
    stream->end(status ? end_of_command(*status) : "");
    file_.put(stream->take());
    const auto its = stream->counts();
    counts.events += its.events;
    counts.lost += its.lost;
    counts.damaged += its.damaged;
    counts.unmapped += its.unmapped;
  }
  auto notices = std::exchange(report.notices, {});
  add_missing(counts, report);
  report.notices.insert(report.notices.end(), notices.begin(), notices.end());
  if (counts.events == 0) {
    add_nothing_seen(status.has_value(), report);
  }
  if (request_.form == CallsRequest::Form::records) {
    file_.put(last_record(report, counts.lost));
    return;
  }
  for (const auto& notice : report.notices) {
    say(notice_line(notice));
  }
}

}  // namespace tracso
