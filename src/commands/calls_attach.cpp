#include "commands/calls_attach.hpp"

#include "base/text.hpp"
#include "calls/filter_match.hpp"
#include "calls/group.hpp"
#include "commands/call_line_output.hpp"
#include "commands/output.hpp"
#include "commands/request.hpp"
#include "commands/sources.hpp"
#include "commands/status.hpp"
#include "os/disk.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <vector>

namespace tracso {
namespace {

using Clock = std::chrono::steady_clock;

struct Attached {
  LiveTarget live;
  std::unique_ptr<calls::Attachment> attachment;
};

int fail_to_attach(const Error& error, std::int32_t pid) {
  const int status = fail(with_denial(error, pid));
  return error.kind == ErrorKind::unsupported ? status_refused : status;
}

calls::ArenaOptions arena_options(const CallsRequest& request) {
  auto options = options_of(request);
  options.follow = false;
  return options;
}

double in_milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

bool has_ended(const ProcessSource& process) {
  const auto stat = process.read("stat");
  return !stat || stat->find(") Z ") != std::string::npos ||
         stat->find(") X ") != std::string::npos;
}

void stay_attached(const std::optional<std::chrono::milliseconds>& seconds,
                   const launch::OwnSignals& signals,
                   const std::function<bool()>& all_have_ended,
                   const std::function<std::chrono::milliseconds()>& work) {
  constexpr std::chrono::milliseconds between_looks{50};
  const auto end = seconds ? std::optional(Clock::now() + *seconds) : std::nullopt;
  auto next_look = Clock::now();
  for (;;) {
    auto pause = work();
    const auto now = Clock::now();
    if (end && now >= *end) {
      return;
    }
    if (now >= next_look) {
      if (all_have_ended()) {
        return;
      }
      next_look = now + between_looks;
    }
    if (end) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end - now);
      pause = std::min(std::max(left, std::chrono::milliseconds(1)), pause);
    }
    const int signal = signals.wait(pause).number;
    if (signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP) {
      return;
    }
  }
}

AttachedWords::AttachedWords(const CallsRequest& request) {
  const std::string who = request.processes.size() == 1
                              ? fmt::format("process {}", request.processes.front())
                              : counted(request.processes.size(), "process", "processes");
  const std::string until = request.seconds ? fmt::format("for {:g} s, or until Ctrl-C",
                                                          in_milliseconds(*request.seconds) / 1000)
                                            : "until Ctrl-C";
  if (request.is_table()) {
    progress_.emplace(fmt::format("counting the calls of {} {}", who, until));
  } else if (::isatty(STDERR_FILENO) == 1) {
    say(fmt::format("attached to {}, whose calls follow {}", who, until));
  }
}

Notice notice_of(const calls::Attachment& attachment, const Result<Done>& detached) {
  const auto pid = attachment.process().pid();
  const auto& held = attachment.held();
  Notice notice{"calls-attached",
                fmt::format("process {} {}; one thread of it was held {}, {:.1f} ms in "
                            "all, {:.1f} ms at most",
                            pid,
                            has_ended(attachment.process()) ? "ended meanwhile" : "ran on",
                            counted(held.times, "time"),
                            in_milliseconds(held.all),
                            in_milliseconds(held.longest)),
                "",
                ""};
  if (!detached && detached.error().kind == ErrorKind::interrupted) {
    notice.effect = detached.error().reason;
  } else if (!detached) {
    notice.effect = "it is still traced, which costs it some nanoseconds for each call: " +
                    detached.error().reason;
    notice.try_ = fmt::format("tracso calls -p {} -d 1", pid);
  }
  return notice;
}

int calls_of_processes(const CallsRequest& request) {
  const bool as_lines = !request.is_table();
  if (!as_lines && request.file && *request.file != "-") {
    if (const auto writable = os::check_output_file(*request.file); !writable) {
      return fail(writable.error());
    }
  }
  std::signal(SIGPIPE, SIG_IGN);  // who reads us may go: the process is left in order all the same
  const launch::OwnSignals signals;
  const calls::TickRate rate;
  std::vector<std::unique_ptr<Attached>> all;
  for (const auto pid : request.processes) {
    auto live = LiveTarget::open(pid);
    if (!live) {
      return fail_to_attach(live.error(), pid);
    }
    all.push_back(std::make_unique<Attached>(Attached{std::move(*live), nullptr}));
    auto attachment = calls::Attachment::attach(all.back()->live.target(), arena_options(request));
    if (!attachment) {
      return fail_to_attach(attachment.error(), pid);
    }
    all.back()->attachment = std::move(*attachment);
  }
  std::optional<LineOutput> lines;
  if (as_lines) {
    lines.emplace(all.front()->attachment->arena(), request);
    for (auto one = std::next(all.begin()); one != all.end(); ++one) {
      lines->add((*one)->attachment->arena());
    }
    if (const auto opened = lines->open(); !opened) {
      return fail(opened.error());
    }
  }
  std::optional<AttachedWords> words(request);
  constexpr std::chrono::milliseconds nothing_to_write{50};
  stay_attached(
      request.seconds,
      signals,
      [&] {
        return std::all_of(all.begin(), all.end(), [](const auto& one) {
          return has_ended(*one->live.target().process);
        });
      },
      [&] { return lines ? lines->write() : nothing_to_write; });
  words.reset();
  CallsReport report;
  report.mode = request.mode;
  for (const auto& one : all) {
    const auto detached = one->attachment->detach();
    one->attachment->arena().read(rate.ns_per_tick(), report);
    report.notices.push_back(notice_of(*one->attachment, detached));
  }
  calls::add_unfit_libraries(request.filter, report);
  if (lines) {
    lines->end(std::nullopt, report);
    return lines->file().failure();
  }
  calls::group_rows(report, request.group);
  const auto done = print_calls(request, report);
  return done ? 0 : fail(done.error());
}

}  // namespace tracso
