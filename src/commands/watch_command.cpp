#include "commands/watch_command.hpp"

#include "base/result.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "commands/output.hpp"
#include "commands/pick.hpp"
#include "commands/status.hpp"
#include "commands/stream.hpp"
#include "commands/watch_frame.hpp"
#include "commands/watch_state.hpp"
#include "pick/curses_session.hpp"
#include "render/words.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tracso {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

// Set by SIGINT and SIGTERM, so that what waits in the stream is still written.
volatile std::sig_atomic_t stop_requested = 0;

void request_stop(int) {
  stop_requested = 1;
}

Json line(std::string_view kind, std::int32_t pid, double seconds) {
  Json out = Json::object();
  out["schema"] = "tracso/1";
  out["kind"] = kind;
  out["time_ns"] = static_cast<std::int64_t>(seconds * 1e9);
  out["pid"] = pid;
  return out;
}

std::string event_line(std::int32_t pid, const WatchEvent& event) {
  Json out = line("event", pid, event.seconds);
  out["event"] = event.what;
  out["text"] = to_utf8(event.text);
  return out.dump();
}

std::string sample_text(const WatchState& state, std::uint64_t dropped) {
  const WatchSample& sample = state.samples().back();
  Json out = line("sample", state.pid(), sample.seconds);
  out["rss"] = sample.look.resident;
  out["virtual"] = sample.look.virtual_;
  out["private"] = sample.private_bytes ? Json(*sample.private_bytes) : Json(nullptr);
  out["fds"] = sample.look.descriptors;
  out["threads"] = sample.look.threads;
  out["cpu_ns"] = sample.look.cpu.count();
  out["children"] = sample.children;
  out["children_rss"] = sample.children_resident;
  Json classes = Json::object();
  for (std::size_t i = 0; state.classes() && i < memory_class_count; ++i) {
    classes[std::string(memory_class_name(static_cast<MemoryClass>(i)))] =
        state.classes()->uses[i].resident;
  }
  out["by_class"] = state.classes() ? std::move(classes) : Json(nullptr);
  out["class_age_ns"] = state.classes()
                            ? Json(std::llround(std::max(state.classes_age(), 0.0) * 1e9))
                            : Json(nullptr);
  out["dropped"] = dropped;
  return out.dump();
}

std::string end_line(const WatchState& state, const std::string& why) {
  Json out = line("end", state.pid(), state.since_begin());
  out["reason"] = why;
  out["verdict"] = state.verdict();
  const auto left = state.descriptor_forecast();
  out["descriptor_limit"] =
      state.descriptor_limit() ? Json(*state.descriptor_limit()) : Json(nullptr);
  out["seconds_to_descriptor_limit"] = left ? Json(*left) : Json(nullptr);
  return out.dump();
}

// The same for people: --stream-format text.
std::string sample_words(const WatchState& state) {
  const WatchSample& sample = state.samples().back();
  return fmt::format("{:.1f} s  resident {}  private {}  fds {}  threads {}  cpu {:.0f}%",
                     sample.seconds,
                     size_text(sample.look.resident),
                     size_or_dash(sample.private_bytes),
                     sample.look.descriptors,
                     sample.look.threads,
                     sample.cpu_share * 100);
}

std::string event_words(const WatchEvent& event) {
  return fmt::format("{:.1f} s  {}  {}", event.seconds, event.what, printable(event.text));
}

// What --stream-format makes of the lines. One JSON value is an array:
// each line of it is a whole element with the comma before it, so that any may be dropped.
class Shape {
 public:
  explicit Shape(StreamFormat format) : format_(format) {}

  std::string operator()(const std::string& json, const std::string& text) {
    const bool first = std::exchange(first_, false);
    return format_ == StreamFormat::text   ? text
           : format_ == StreamFormat::json ? (first ? "[" : ",") + json
                                           : json;
  }

  bool needs_end() const { return format_ == StreamFormat::json && !first_; }

 private:
  StreamFormat format_;
  bool first_ = true;
};

struct Outlet {
  std::string name;
  std::unique_ptr<Stream> stream;
  Shape shape;
  bool is_output = false;  // standard output or -o, not --stream
};

// Where lines go: to standard output, to --stream, or both.
class Lines {
 public:
  Result<Done> open(const WatchRequest& request, bool screen) {
    if (!screen) {
      auto out = Stream::open(request.output.file.value_or("-"));
      if (!out) {
        return out.error();
      }
      const std::string name = request.output.file.value_or("-");
      outlets_.push_back(
          {name == "-" ? "stdout" : name, std::move(*out), Shape(StreamFormat::jsonl), true});
    }
    if (request.stream) {
      auto out = Stream::open(*request.stream);
      if (!out) {
        return out.error();
      }
      outlets_.push_back({*request.stream, std::move(*out), Shape(request.stream_format), false});
    }
    return Done{};
  }

  /// false: what was to be the output cannot be written any more. A --stream that breaks is told,
  /// and ends nothing.
  bool send(const std::string& json, const std::string& text) {
    bool goes_on = true;
    for (Outlet& out : outlets_) {
      goes_on = write(out, json, text) && goes_on;
    }
    return goes_on;
  }

  bool send(const WatchState& state, const std::vector<WatchEvent>& events) {
    bool goes_on = true;
    for (Outlet& out : outlets_) {
      goes_on =
          write(out, sample_text(state, out.stream->dropped()), sample_words(state)) && goes_on;
    }
    for (const WatchEvent& event : events) {
      goes_on = send(event_line(state.pid(), event), event_words(event)) && goes_on;
    }
    return goes_on;
  }

  /// Of the output; a reader that has gone is none (tracso watch | head).
  std::optional<Error> failure() const {
    for (const Outlet& out : outlets_) {
      if (out.is_output && out.stream->broken() != 0 && out.stream->broken() != EPIPE) {
        return errno_error(out.stream->broken(), "write", out.name);
      }
    }
    return std::nullopt;
  }

  /// How many lines the reader of --stream has missed.
  std::uint64_t finish() {
    std::uint64_t dropped = 0;
    for (Outlet& out : outlets_) {
      if (out.shape.needs_end()) {
        out.stream->send("]");
      }
      dropped = out.stream->finish();
    }
    return dropped;
  }

 private:
  static bool write(Outlet& out, const std::string& json, const std::string& text) {
    const bool was_broken = out.stream->broken() != 0;
    if (was_broken || out.stream->send(out.shape(json, text))) {
      return !was_broken || !out.is_output;
    }
    if (!out.is_output) {
      say(fmt::format("nothing more goes to --stream {}: {}",
                      printable(out.name),
                      errno_text(out.stream->broken())));
    }
    return !out.is_output;
  }

  std::vector<Outlet> outlets_;
};

class Watch {
 public:
  Watch(const WatchRequest& request, WatchState& state, Lines& lines, pick::CursesSession* screen)
      : request_(request), state_(state), lines_(lines), screen_(screen) {}

  int run() {
    const auto begin = Clock::now();
    auto next = begin;
    for (;;) {
      const auto events = state_.look();
      if (!events) {
        return end("the process has ended", request_.watch_for ? status_ended : 0);
      }
      if (!lines_.send(state_, *events)) {
        return 0;  // tracso watch | head
      }
      if (screen_ != nullptr) {
        show("");
      }
      next = std::max(next + request_.interval, Clock::now());
      const bool last = request_.watch_for && next - begin > *request_.watch_for;
      if (!pause(last ? begin + *request_.watch_for : next)) {
        return end("ended by the user", 0);
      }
      if (last) {
        return end("the time is over", 0);
      }
    }
  }

 private:
  int end(const std::string& why, int status) {
    lines_.send(end_line(state_, why), why + "; " + state_.verdict());
    if (screen_ != nullptr && status != 0) {
      show(why);
    }
    return status;
  }

  void show(const std::string& ended) {
    frame_ = watch_frame(state_, screen_->size(), screen_->unicode(), ended);
    screen_->show(frame_);
  }

  // false: a key or a signal ends it.
  bool pause(Clock::time_point until) {
    while (stop_requested == 0) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) {
        return true;
      }
      constexpr long most = 200;
      const int time = static_cast<int>(std::min<long>(left, most));
      if (screen_ == nullptr) {
        ::poll(nullptr, 0, time);
        continue;
      }
      if (!screen_->wait(time)) {
        return false;
      }
      if (screen_->must_redraw()) {
        show("");
      }
      const pick::Key key = screen_->key(frame_);
      if (key.kind == pick::Key::Kind::cancel ||
          (key.kind == pick::Key::Kind::text && key.text == "q")) {
        return false;
      }
    }
    return false;
  }

  const WatchRequest& request_;
  WatchState& state_;
  Lines& lines_;
  pick::CursesSession* screen_;
  pick::Frame frame_;
};

bool wants_screen(const WatchRequest& request) {
  return !request.lines && !request.output.file && ::isatty(STDOUT_FILENO) == 1 &&
         ::isatty(STDIN_FILENO) == 1 && !terminal_name().empty() && terminal_name() != "dumb" &&
         request.stream != "-";
}

// A person wants to know what it was about when the screen has gone.
void say_result(const WatchState& state) {
  say(state.verdict());
  if (const auto left = state.descriptor_forecast()) {
    say("the limit of descriptors is met in " + duration_text(*left));
  }
}

}  // namespace

int watch(const WatchRequest& request) {
  auto state = WatchState::open(request.pid, request.children);
  if (!state) {
    return fail(state.error());
  }

  struct sigaction action {};

  action.sa_handler = request_stop;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  std::unique_ptr<pick::CursesSession> screen;
  if (wants_screen(request)) {
    screen = std::make_unique<pick::CursesSession>(
        stdin, stdout, terminal_name(), request.output.render.color, request.output.render.unicode);
    screen = *screen ? std::move(screen) : nullptr;
  }
  Lines lines;
  if (const auto done = lines.open(request, screen != nullptr); !done) {
    screen.reset();
    return fail(done.error());
  }
  if (request.verbose && !screen) {
    say(fmt::format(
        "looks at {} ({}) every {} ms; libraries once a second, classes of memory every "
        "five seconds or more rarely; its limit of descriptors is {}",
        (*state)->pid(),
        printable((*state)->name()),
        request.interval.count(),
        (*state)->descriptor_limit() ? std::to_string(*(*state)->descriptor_limit())
                                     : "not known"));
  }
  const int status = Watch(request, **state, lines, screen.get()).run();
  if (request.verbose) {
    say(fmt::format("{} in {:.1f} s", counted((*state)->looks(), "look"), (*state)->since_begin()));
  }
  const std::uint64_t dropped = lines.finish();
  if (screen) {
    screen.reset();
    say_result(**state);
  }
  say_dropped(request.stream ? dropped : 0);
  if (const auto failure = lines.failure()) {
    return std::max(fail(*failure), 2);
  }
  return status;
}

}  // namespace tracso
