#include "pick/screen.hpp"

#include "pick/curses_session.hpp"

#include <chrono>
#include <future>
#include <map>

namespace tracso::pick {
namespace {

using Clock = std::chrono::steady_clock;

// Previews are made while the user goes on: only where the selection rests, one at a time.
class Previews {
 public:
  explicit Previews(const ScreenOptions& options) : options_(options) {}

  /// nullptr: not there yet.
  const Preview* of(const proc::ProcessEntry* entry) {
    if (entry == nullptr) {
      return nullptr;
    }
    const auto known = known_.find(entry->pid);
    return known == known_.end() ? nullptr : &known->second;
  }

  /// Starts what is due; true: a new one is there.
  bool work(const proc::ProcessEntry* entry) {
    const bool arrived = collect();
    const std::int32_t pid = entry == nullptr ? 0 : entry->pid;
    if (pid != resting_on_) {
      resting_on_ = pid;
      since_ = Clock::now();
    }
    constexpr std::chrono::milliseconds rest{150};
    if (pid != 0 && !running_.valid() && !known_.contains(pid) && Clock::now() - since_ > rest) {
      running_for_ = pid;
      running_ = std::async(std::launch::async,
                            [make = options_.preview, process = *entry] { return make(process); });
    }
    return arrived;
  }

  void forget() { known_.clear(); }

 private:
  bool collect() {
    if (!running_.valid() ||
        running_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      return false;
    }
    known_[running_for_] = running_.get();
    return true;
  }

  const ScreenOptions& options_;
  std::map<std::int32_t, Preview> known_;
  std::future<Preview> running_;
  std::int32_t running_for_ = 0, resting_on_ = 0;
  Clock::time_point since_;
};

class Loop {
 public:
  Loop(std::vector<proc::ProcessEntry> entries,
       const ScreenOptions& options,
       CursesSession& session)
      : options_(options), session_(session), picker_(std::move(entries)), previews_(options) {}

  std::optional<std::int32_t> run() {
    bool changed = true;
    while (true) {
      if (changed) {
        show();
      }
      const Outcome outcome = take_keys(changed);
      if (outcome == Outcome::accepted) {
        return picker_.selected()->pid;
      }
      if (outcome == Outcome::cancelled) {
        return std::nullopt;
      }
      if (outcome == Outcome::rescan) {
        picker_.replace(options_.rescan());
        previews_.forget();
      }
      changed = (options_.look == Look::full && previews_.work(picker_.selected())) || changed;
      changed = ask_for_pythons() || changed;
    }
  }

 private:
  void show() {
    const Size size = session_.size();
    picker_.set_height(list_height(size, options_.look));
    frame_ =
        draw(picker_, size, options_.look, session_.unicode(), previews_.of(picker_.selected()));
    session_.show(frame_);
  }

  // A few processes at a time, so that no key waits for it. True: there was something to ask.
  bool ask_for_pythons() {
    constexpr std::chrono::milliseconds at_once{15};
    const auto start = Clock::now();
    bool asked = false;
    while (Clock::now() - start < at_once) {
      const auto entry = options_.python ? picker_.unknown_python() : std::nullopt;
      if (!entry) {
        break;
      }
      picker_.set_python(*entry, options_.python(picker_.entry(*entry).pid));
      asked = true;
    }
    if (asked) {
      picker_.reorder();
    }
    return asked;
  }

  // All keys that are there; a screen is drawn for the last of them.
  Outcome take_keys(bool& changed) {
    const int tick_ms = options_.python && picker_.unknown_python() ? 0 : 100;
    if (!session_.wait(tick_ms)) {
      return Outcome::cancelled;
    }
    changed = session_.must_redraw();
    constexpr int at_once = 1000;
    for (int i = 0; i < at_once; ++i) {
      const Key key = session_.key(frame_);
      const Size size = session_.size();
      changed = changed || size.rows != drawn_.rows || size.columns != drawn_.columns;
      drawn_ = size;
      if (key.kind == Key::Kind::none) {
        return Outcome::going_on;
      }
      changed = true;
      const Outcome outcome = picker_.press(key);
      if (outcome != Outcome::going_on) {
        return outcome;
      }
    }
    return Outcome::going_on;
  }

  const ScreenOptions& options_;
  CursesSession& session_;
  Picker picker_;
  Previews previews_;
  Frame frame_;
  Size drawn_{0, 0};
};

}  // namespace

Result<std::optional<std::int32_t>> choose_on_screen(std::vector<proc::ProcessEntry> entries,
                                                     const ScreenOptions& options) {
  CursesSession session(options.in, options.out, options.terminal, options.color, options.unicode);
  if (!session) {
    return Error{ErrorKind::unsupported,
                 "draw on",
                 "the terminal '" + options.terminal + "'",
                 "this machine has no description of it (terminfo)",
                 "--pick-mode plain needs none; TERM=xterm suits most terminals"};
  }
  return Loop(std::move(entries), options, session).run();
}

}  // namespace tracso::pick
