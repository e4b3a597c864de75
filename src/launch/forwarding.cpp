#include "launch/forwarding.hpp"

#include <algorithm>

namespace tracso::launch {
namespace {

// How long the kernel may take from one member of a process group to the next, on a loaded machine.
constexpr std::chrono::milliseconds grace{50};
// timeout(1) and the like signal their child and then its group.
constexpr std::chrono::milliseconds repetition{500};

bool is_same(const OwnSignal& a, const OwnSignal& b) {
  return a.number == b.number && a.sender == b.sender;
}

}  // namespace

bool Forwarding::sent_to_us(OwnSignal signal, Clock::time_point now) {
  if (first_ && now - *first_ > repetition) {
    return false;
  }
  const bool known = std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    return waiting.signal.number == signal.number;
  });
  const bool received = is_same(received_, signal) && now - received_at_ <= grace;
  if (!known && !received && !(first_ && signal.number == last_)) {
    waiting_.push_back({signal, now + grace});
  }
  first_ = first_.value_or(now);
  last_ = signal.number;
  return true;
}

void Forwarding::received_by_command(OwnSignal signal, Clock::time_point now) {
  received_ = signal;
  received_at_ = now;
  std::erase_if(waiting_, [&](const Waiting& waiting) { return is_same(waiting.signal, signal); });
}

std::optional<Forwarding::Clock::time_point> Forwarding::next() const {
  return waiting_.empty() ? std::nullopt : std::optional(waiting_.front().due);
}

std::vector<int> Forwarding::take_due(Clock::time_point now) {
  std::vector<int> due;
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    if (waiting.due > now) {
      return false;
    }
    due.push_back(waiting.signal.number);
    return true;
  });
  return due;
}

}  // namespace tracso::launch
