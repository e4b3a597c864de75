#include "launch/quiet.hpp"

#include "base/text.hpp"
#include "proc/status.hpp"

#include <fmt/format.h>

namespace tracso::launch {
namespace {

constexpr std::size_t most_threads = 4096;

}  // namespace

std::optional<Activity> look_at_activity(const ProcessSource& process) {
  const auto statm = process.read("statm");
  const auto threads = process.list("task");
  if (!statm || !threads) {
    return std::nullopt;
  }
  Activity activity;
  activity.pages = parse_unsigned(split(*statm, ' ').front()).value_or(0);
  std::size_t count = 0;
  for (const std::string& thread : *threads) {
    if (++count > most_threads) {
      break;
    }
    const auto text = process.read(fmt::format("task/{}/stat", thread));
    const auto stat = text ? proc::parse_stat(*text) : std::nullopt;
    if (!stat) {
      continue;  // it has ended meanwhile
    }
    activity.running = activity.running || stat->state == 'R' || stat->state == 'D';
    activity.suspended = activity.suspended || stat->state == 'T' || stat->state == 't';
  }
  return activity;
}

bool QuietWatch::observe(const Activity& activity, Clock::time_point now) {
  if (activity.running || activity.suspended || activity.pages != pages_) {
    pages_ = activity.pages;
    since_.reset();
    return false;
  }
  if (!since_) {
    since_ = now;
  }
  return now - *since_ >= needed_;
}

}  // namespace tracso::launch
