#include "commands/engine_output.hpp"

#include "commands/calls_engine.hpp"
#include "commands/output.hpp"
#include "os/live_files.hpp"
#include "os/live_process.hpp"

#include <fmt/format.h>

#include <fcntl.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

namespace tracso {
namespace {

std::string signal_text(int signal) {
  const char* name = ::sigabbrev_np(signal);
  const char* words = ::sigdescr_np(signal);
  return name == nullptr ? fmt::format("--- signal {} ---", signal)
                         : fmt::format("--- SIG{} ({}) ---", name, words == nullptr ? "?" : words);
}

}  // namespace

EngineLines::EngineLines(const CallsRequest& request, LineFile& file)
    : signals_(!request.no_signals), lines_(request.lines), file_(file) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  time_.tick = rate_.start();
  time_.epoch_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void EngineLines::add(std::uint32_t program,
                      const calls::CallEvent& event,
                      const calls::EngineSite& site,
                      std::string_view from) {
  any_ = true;
  set_time();
  lines_.add(program, event, site.line, from);
}

void EngineLines::add_signal(std::uint32_t program,
                             std::int32_t thread,
                             std::uint64_t ticks,
                             int signal) {
  if (signals_) {
    set_time();
    lines_.add_remark(program, thread, ticks, signal_text(signal));
  }
}

void EngineLines::write() {
  file_.put(lines_.take());
}

void EngineLines::end(std::optional<int> status) {
  if (status) {
    lines_.add_line(end_of_command(*status));
  } else {
    lines_.close_line();
  }
  write();
}

void EngineLines::set_time() {
  time_.ns_per_tick = rate_.ns_per_tick();
  lines_.set_time(time_);
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
  options.text_bytes = static_cast<std::uint32_t>(request.lines.text_bytes);
  return options;
}

int finish_engine(const CallsRequest& request,
                  const CallsReport& report,
                  EngineLines* lines,
                  std::optional<int> status) {
  if (lines == nullptr) {
    if (const auto done = print_calls(request, report); !done) {
      return fail(done.error());
    }
    return calls_status(report);
  }
  lines->end(status);
  for (const auto& notice : report.notices) {
    say(notice_line(notice));
  }
  if (!lines->any() && report.notices.empty()) {
    say("no call was seen of those asked for: there is no such function, or it was not called");
  }
  return calls_status(report);
}

}  // namespace tracso
