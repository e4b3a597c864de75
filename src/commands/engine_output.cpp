#include "commands/engine_output.hpp"

#include "calls/group.hpp"
#include "commands/call_records.hpp"
#include "commands/calls_engine.hpp"
#include "commands/output.hpp"
#include "os/disk.hpp"
#include "os/live_files.hpp"
#include "os/live_process.hpp"

#include <fmt/format.h>

#include <fcntl.h>

#include <chrono>
#include <utility>

namespace tracso {
EngineLines::EngineLines(const CallsRequest& request, LineFile& file)
    : signals_(!request.no_signals), writer_(line_writer(request)), file_(file) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  time_.tick = rate_.start();
  time_.epoch_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  if (request.form == CallsRequest::Form::records) {
    file_.put(first_record(request));
  }
}

void EngineLines::begin_program(std::uint32_t program, std::int32_t pid) {
  writer_->begin_program(program, pid);
}

void EngineLines::add(std::uint32_t program,
                      const calls::CallEvent& event,
                      const calls::EngineSite& site,
                      std::string_view from) {
  any_ = true;
  set_time();
  writer_->add(program, event, site.line, from);
}

void EngineLines::add_signal(std::uint32_t program,
                             std::int32_t thread,
                             std::uint64_t ticks,
                             int signal) {
  if (signals_) {
    set_time();
    writer_->add_signal(program, thread, ticks, signal);
  }
}

void EngineLines::write() {
  file_.put(writer_->take());
}

void EngineLines::end(std::optional<int> status) {
  writer_->end(status ? end_of_command(*status) : "");
  write();
}

void EngineLines::set_time() {
  time_.ns_per_tick = rate_.ns_per_tick();
  writer_->set_time(time_);
}

calls::EngineDoors live_engine_doors() {
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

Result<Done> EngineOutput::open() {
  if (!request_.is_table()) {
    const bool records = request_.form == CallsRequest::Form::records;
    return file_.open(records && !request_.file ? "-" : request_.file);
  }
  return request_.file && *request_.file != "-" ? os::check_output_file(*request_.file)
                                                : Result<Done>(Done{});
}

calls::CallSink& EngineOutput::begin() {
  if (request_.is_table()) {
    return table_;
  }
  return lines_.emplace(request_, file_);
}

void EngineOutput::write() {
  if (lines_) {
    lines_->write();
  }
}

int EngineOutput::not_run(const Error& error, int status) {
  return end_of_no_start(request_, error, status, file_);
}

int EngineOutput::finish_lines(CallsReport& report, std::optional<int> status) {
  lines_->end(status);
  if (!lines_->any() && report.notices.empty()) {
    report.notices.push_back({"calls-none",
                              "no call was seen of those asked for",
                              "there is no such function, or it was not called",
                              ""});
  }
  if (request_.form == CallsRequest::Form::records) {
    file_.put(last_record(report, 0));
  } else {
    for (const auto& notice : report.notices) {
      say(notice_line(notice));
    }
  }
  return status_after_lines(calls_status(report), file_);
}

int EngineOutput::finish(const calls::Engine& engine,
                         CallsReport report,
                         std::optional<int> status) {
  report.mode = CallMode::exact;
  report.untraced_known = false;
  report.programs = engine.programs();
  auto notices = engine.notices();
  report.notices.insert(report.notices.begin(), notices.begin(), notices.end());
  if (lines_) {
    return finish_lines(report, status);
  }
  report.rows = table_.rows(engine.rate().ns_per_tick(), engine.programs());
  calls::group_rows(report, request_.group);
  const auto done = print_calls(request_, report);
  return done ? calls_status(report) : fail(done.error());
}

}  // namespace tracso
