#include "launch/children.hpp"

#include "base/text.hpp"
#include "base/unique_fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace tracso::launch {
namespace {

constexpr std::size_t most_children = 10'000;
constexpr std::chrono::milliseconds first_interval{2};
constexpr std::chrono::milliseconds last_interval{300};

// comm: a zombie still has it, unlike its command line. Empty: gone.
std::string name_of(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/comm";
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 64> text{};
  const ssize_t count = fd ? read(fd.get(), text.data(), text.size()) : -1;
  return std::string(trim({text.data(), count > 0 ? static_cast<std::size_t>(count) : 0}));
}

// true: the name has changed.
bool rename(RunChild& child) {
  std::string name = name_of(child.pid);
  if (name.empty() || name == child.command) {
    return false;
  }
  child.command = std::move(name);
  return true;
}

}  // namespace

void Children::born(pid_t pid, ChildIs is, Clock::time_point now) {
  if (list_.size() == most_children) {
    ++untold_;
    return;
  }
  living_[pid] = {list_.size(), now, std::chrono::milliseconds(0)};
  list_.push_back({{pid, name_of(pid)}, nullptr});
  if (is == ChildIs::let_go) {
    let_go(pid, now);
  }
}

void Children::let_go(pid_t pid, Clock::time_point now) {
  const auto found = living_.find(pid);
  if (found != living_.end()) {
    found->second.interval = first_interval;
    found->second.next_look = now + first_interval;
  }
}

void Children::died(pid_t pid) {
  if (const auto found = living_.extract(pid)) {
    rename(list_[found.mapped().place].child);
  }
}

void Children::executed(pid_t pid) {
  const auto found = living_.find(pid);
  if (found != living_.end()) {
    rename(list_[found->second.place].child);
    found->second.interval = std::chrono::milliseconds(0);
  }
}

void Children::looked_at(pid_t pid, ChildLook look) {
  const auto found = living_.extract(pid);
  if (found.empty()) {
    return;
  }
  Entry& entry = list_[found.mapped().place];
  entry.files = std::move(look.files);
  if (!look.command.empty()) {
    entry.child.command = std::move(look.command);
  }
}

bool Children::is_open(pid_t pid) const {
  return living_.count(pid) > 0;
}

std::vector<RunChild> Children::list(const ChildLooks& looks) const {
  std::vector<RunChild> children;
  for (const Entry& entry : list_) {
    children.push_back(entry.child);
    if (entry.files) {
      children.back().beyond = looks.beyond(*entry.files);
    }
  }
  return children;
}

void Children::look() {
  for (const auto& [pid, child] : living_) {
    rename(list_[child.place].child);
  }
}

void Children::keep_living() {
  std::vector<Entry> kept;
  for (auto child = living_.begin(); child != living_.end();) {
    std::string name = name_of(child->first);
    if (name.empty()) {
      child = living_.erase(child);
      continue;
    }
    child->second.place = kept.size();
    kept.push_back(std::move(list_[child->second.place]));
    kept.back().child.command = std::move(name);
    ++child;
  }
  list_ = std::move(kept);
}

std::optional<Children::Clock::time_point> Children::next_look() const {
  std::optional<Clock::time_point> next;
  for (const auto& [pid, child] : living_) {
    if (child.interval.count() != 0 && (!next || child.next_look < *next)) {
      next = child.next_look;
    }
  }
  return next;
}

void Children::look_if_due(Clock::time_point now) {
  for (auto& [pid, child] : living_) {
    if (child.interval.count() == 0 || now < child.next_look) {
      continue;
    }
    child.interval = rename(list_[child.place].child) || child.interval >= last_interval
                         ? std::chrono::milliseconds(0)
                         : child.interval * 5;
    child.next_look = now + child.interval;
  }
}

}  // namespace tracso::launch
