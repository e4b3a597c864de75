// When a session looks at its command, and what it does to be able to.

#include "base/text.hpp"
#include "launch/session.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace tracso::launch {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds quiet_look{20};
constexpr milliseconds untraced_look{10};

// The lines of maps that name a file: what changes when a library comes or goes.
std::string files_of(std::string_view maps) {
  std::string files;
  for (const std::string_view line : split(maps, '\n')) {
    if (line.find('/') != std::string_view::npos) {
      files.append(line).push_back('\n');
    }
  }
  return files;
}

}  // namespace

void Session::tell_interval() {
  if (!executed_ || options_.interval.count() <= 0 || Clock::now() < next_interval_) {
    return;
  }
  options_.on_interval(process_.pid());
  next_interval_ = Clock::now() + options_.interval;
}

void Session::on_time() {
  children_.look_if_due(Clock::now());
  tell_interval();
  if (program_) {
    program_->prepare(Clock::now());
  }
  if (job_.is_to_be_continued(Clock::now())) {
    kill(process_.pid(), SIGCONT);
  }
  if (over_ || taken_ || !executed_) {
    return;
  }
  if (options_.at == At::seconds && Clock::now() >= start_ + options_.after) {
    take_and_release(MomentKind::elapsed);
    return;
  }
  if (Clock::now() < next_look_) {
    return;
  }
  if (options_.at == At::idle) {
    on_quiet_watch();
  }
  if (!traced_ && !taken_) {
    look_untraced();
  }
}

void Session::on_quiet_watch() {
  next_look_ = Clock::now() + quiet_look;
  const auto door = options_.open(process_.pid());
  const auto activity = door ? look_at_activity(**door) : std::nullopt;
  if (activity && quiet_.observe(*activity, Clock::now())) {
    take_and_release(MomentKind::idle);
  }
}

// Nobody tells when it ends, and then its memory is gone: so it is looked at whenever a mapping of
// a file has come or gone, but never for more than a fifth of the time.
void Session::look_untraced() {
  const auto begin = Clock::now();
  const auto door = options_.open(process_.pid());
  const auto maps = door ? (*door)->read("maps") : Result<std::string>(std::string());
  if (maps && !maps->empty() && files_of(*maps) != last_maps_) {
    last_maps_ = files_of(*maps);
    take(MomentKind::last_look, process_.pid());
    taken_ = false;
  }
  next_look_ = begin + std::max<Clock::duration>(untraced_look, 5 * (Clock::now() - begin));
}

void Session::take(MomentKind kind, pid_t thread) {
  taken_ = true;
  result_.moment = kind;
  result_.touched_pages = process_.breakpoints().pages();
  children_.look();
  looks_.main_was(files_of_command(thread));
  options_.on_whole({kind,
                     process_.pid(),
                     thread,
                     Clock::now() - start_,
                     traced_,
                     program_ ? program_->failures() : std::vector<FailedLoad>()});
}

void Session::take_and_release(MomentKind kind) {
  look_at_living();
  const auto before = Clock::now();
  process_.stop_all(stop_limit);
  const pid_t stopped = process_.stopped_thread();
  take(kind, stopped != 0 ? stopped : process_.pid());
  process_.release(stop_limit);
  if (traced_) {
    result_.stopped += Clock::now() - before;
  }
}

}  // namespace tracso::launch
