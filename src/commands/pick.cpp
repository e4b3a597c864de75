// The picker has the terminal for itself, /dev/tty, so that standard output is free for what is
// printed about the choice: tracso --pick --json | jq.

#include "commands/pick.hpp"

#include "tracso/analysis.hpp"
#include "tracso/findings.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "commands/output.hpp"
#include "commands/progress.hpp"
#include "commands/sources.hpp"
#include "os/proc_mount.hpp"
#include "os/process_list.hpp"
#include "pick/plain.hpp"
#include "pick/screen.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace tracso {
namespace {

constexpr int status_usage = 2;
constexpr int status_declined = 130;

using Entries = std::vector<proc::ProcessEntry>;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

using OwnFile = std::unique_ptr<std::FILE, CloseFile>;

struct TerminalFiles {
  OwnFile in, out;
};

OwnFile opened(int fd, const char* mode) {
  return OwnFile(fd < 0 ? nullptr : ::fdopen(fd, mode));
}

// The controlling terminal; without one (some containers) standard input, if it is a terminal.
std::optional<TerminalFiles> open_terminal() {
  int in = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (in < 0 && ::isatty(STDIN_FILENO) == 1) {
    in = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  }
  const int out = in < 0 ? -1 : ::fcntl(in, F_DUPFD_CLOEXEC, 3);
  TerminalFiles files{opened(in, "r"), opened(out, "w")};
  if (!files.in || !files.out) {
    return std::nullopt;
  }
  return files;
}

Entries listed(bool python_only) {
  // Who wants only Pythons waits until they are known; else they are asked for between keys.
  auto entries = os::list_processes(python_only ? os::PythonNames::now : os::PythonNames::later);
  if (!entries) {
    return {};
  }
  if (python_only) {
    std::erase_if(*entries, [](const auto& entry) { return entry.python.empty(); });
  }
  return std::move(*entries);
}

// The cheap questions only: a process is neither stopped nor asked because somebody's eye rests on
// its line.
pick::Preview preview_of(const proc::ProcessEntry& entry) {
  pick::Preview preview;
  preview.facts.push_back(printable(entry.command));
  if (!entry.container.empty()) {
    preview.facts.push_back("in " + printable(entry.container));
  }
  const auto live = LiveTarget::open(entry.pid);
  LookOptions look;
  look.probe = "path";
  look.elf = "auto";
  ProblemFacts facts;
  auto trace = live ? look_at_process(*live, look, "", facts) : Result<Trace>(live.error());
  if (!trace) {
    preview.warnings.push_back(printable(trace.error().reason));
    if (!trace.error().hint.empty()) {
      preview.warnings.push_back(printable(trace.error().hint));
    }
    return preview;
  }
  trace->findings = find_problems(*trace, facts);
  const Summary summary = summarize(*trace, ByteKind::file);
  const auto& python = trace->process ? trace->process->python : std::nullopt;
  preview.facts.push_back(fmt::format("{}, {} of files{}{}",
                                      counted(summary.totals.libraries, "library", "libraries"),
                                      size_text(summary.totals.file),
                                      python ? ", Python " : "",
                                      python ? printable(python->version) : ""));
  constexpr std::size_t findings_shown = 3;
  for (const Finding& finding : trace->findings) {
    if (finding.severity != Finding::Severity::note && preview.warnings.size() < findings_shown) {
      preview.warnings.push_back(printable(finding.title));
    }
  }
  return preview;
}

std::size_t terminal_width() {
  winsize size{};
  return ::isatty(STDERR_FILENO) == 1 && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0
             ? size.ws_col
             : 0;
}

std::optional<std::string> read_line() {
  char* line = nullptr;
  std::size_t room = 0;
  const ssize_t size = ::getline(&line, &room, stdin);
  std::optional<std::string> text;
  if (size >= 0) {
    text.emplace(line, static_cast<std::size_t>(size));
  }
  std::free(line);  // NOLINT(cppcoreguidelines-no-malloc): getline's own allocation
  return text;
}

// A list that is printed once has its Pythons at once.
void ask_for_pythons(Entries& entries) {
  for (proc::ProcessEntry& entry : entries) {
    if (!entry.python_asked) {
      entry.python = os::python_of_process(entry.pid);
      entry.python_asked = true;
    }
  }
}

std::variant<PidSource, int> pick_plainly(Entries entries, const TraceRequest& request) {
  ask_for_pythons(entries);
  pick::PlainOptions options;
  options.width = terminal_width();
  options.unicode = request.output.render.unicode;
  options.print = [](const std::string& text) { std::fputs(text.c_str(), stderr); };
  options.read = read_line;
  const pick::PlainAnswer answer = pick::choose_plainly(std::move(entries), options);
  if (answer.end == pick::PlainEnd::chosen) {
    return PidSource{answer.pid};
  }
  if (answer.end == pick::PlainEnd::no_answer && ::isatty(STDIN_FILENO) != 1) {
    return fail({ErrorKind::usage,
                 "choose",
                 "a process",
                 "standard input ended without an answer",
                 "give a PID, or one of these numbers on standard input"});
  }
  return status_declined;
}

int refuse_without_terminal() {
  fail({ErrorKind::usage,
        "choose",
        "a process",
        "there is no terminal to ask on",
        "give a PID ('ps -ef' lists them); --pick-mode plain reads the answer from a pipe"});
  return status_usage;
}

pick::ScreenOptions screen_options(const TerminalFiles& terminal,
                                   const PickSource& pick,
                                   const TraceRequest& request) {
  pick::ScreenOptions options;
  options.in = terminal.in.get();
  options.out = terminal.out.get();
  options.terminal = terminal_name();
  options.look = pick.mode == PickSource::Mode::curses ? pick::Look::compact : pick::Look::full;
  options.color = pick.color;
  options.unicode = request.output.render.unicode;
  options.preview = preview_of;
  options.python = os::python_of_process;
  options.rescan = [python_only = pick.python_only] { return listed(python_only); };
  return options;
}

std::optional<int> refuse_empty_list(const Entries& entries, const PickSource& pick) {
  if (!entries.empty()) {
    return std::nullopt;
  }
  if (const auto error = os::without_proc("choose", "a process")) {
    return fail(*error);
  }
  return fail({ErrorKind::usage,
               "choose",
               pick.python_only ? "a Python process" : "a process",
               "none is to be seen here",
               pick.python_only ? "--pick lists all; a Python under another name is not told"
                                : "is /proc mounted, and without hidepid?"});
}

}  // namespace

std::string terminal_name() {
  const char* name = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): nobody sets it yet
  return name == nullptr ? "" : name;
}

std::variant<PidSource, int> pick_process(const PickSource& pick, const TraceRequest& request) {
  std::optional<Progress> progress(std::in_place, "listing processes");
  Entries entries = listed(pick.python_only);
  progress.reset();
  if (const auto refused = refuse_empty_list(entries, pick)) {
    return *refused;
  }
  if (pick.mode == PickSource::Mode::plain) {
    return pick_plainly(std::move(entries), request);
  }
  const auto terminal = open_terminal();
  if (!terminal) {
    return refuse_without_terminal();
  }
  if (terminal_name().empty() || terminal_name() == "dumb") {
    say("TERM names no terminal that can be drawn on: a plain list instead");
    return pick_plainly(std::move(entries), request);
  }
  const auto chosen = pick::choose_on_screen(entries, screen_options(*terminal, pick, request));
  if (!chosen) {
    say(chosen.error().reason + ": a plain list instead");
    return pick_plainly(std::move(entries), request);
  }
  return *chosen ? std::variant<PidSource, int>(PidSource{**chosen}) : status_declined;
}

}  // namespace tracso
