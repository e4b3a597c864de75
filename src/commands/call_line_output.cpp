#include "commands/call_line_output.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "commands/output.hpp"
#include "os/disk.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

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
  if (const auto done = os::write_descriptor(fd_, text, "the lines"); !done) {
    closed_ = true;
    if (done.error().kind != ErrorKind::interrupted && fd_ != STDERR_FILENO) {
      fail(done.error());
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

void LineOutput::end(std::optional<int> status, const CallsReport& report) {
  calls::StreamCounts counts;
  for (const auto& stream : streams_) {
    stream->read_rest();
    if (status) {
      stream->add_line(end_of_command(*status));
    } else {
      stream->close_line();
    }
    file_.put(stream->take());
    const auto its = stream->counts();
    counts.events += its.events;
    counts.lost += its.lost;
    counts.damaged += its.damaged;
    counts.unmapped += its.unmapped;
  }
  if (counts.lost != 0) {
    say(fmt::format(
        "{} calls and returns are missing: they came faster than they could be read, or in the "
        "middle of another (signal handlers)",
        counts.lost));
  }
  if (counts.damaged != 0 || counts.unmapped != 0) {
    say(fmt::format(
        "calls are missing: {} pieces of their records were written over, {} could not be read",
        counts.damaged,
        counts.unmapped));
  }
  for (const auto& notice : report.notices) {
    say(notice_line(notice));
  }
  if (counts.events == 0 && !report.rows.empty()) {
    say("calls could not be recorded: the process has too little address space for it ('ulimit "
        "-v'); "
        "tracso calls -c counts them");
  } else if (counts.events == 0 && (report.notices.empty() || !status)) {
    say("no call was seen of those asked for: nobody imports such a function, or it was not "
        "called; "
        "-e '*' shows all calls, those among its libraries too");
  }
}

}  // namespace tracso
