#pragma once
// Which call a return belongs to. An event names the place of its return address on the stack, and
// stacks grow down: a call at or above the place of another says that that one has been left, by
// longjmp or an exception.

#include "calls/events.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tracso::calls {

/// A traced program, and a thread of it.
using ProgramThread = std::pair<std::uint32_t, std::int32_t>;

/// `Call` is what is kept of a call: it has members `place` and `slot`.
template <class Call>
class CallsUnderWay {
 public:
  /// A call at that place is about to begin: those that it shows to have been left, innermost
  /// first.
  std::vector<Call> left_before(const ProgramThread& thread, std::uint64_t place) {
    return left(of_[thread], [&](const Call& call) { return call.place <= place; });
  }

  void begin(const ProgramThread& thread, Call call) {
    constexpr std::size_t deepest = 65536;  // a target may invent more
    auto& calls = of_[thread];
    if (calls.size() < deepest) {
      calls.push_back(std::move(call));
    }
  }

  /// Those that a return to that place shows to have been left.
  std::vector<Call> left_inside(const ProgramThread& thread, std::uint64_t place) {
    return left(of_[thread], [&](const Call& call) { return call.place < place; });
  }

  /// The call that returns; nullopt: it was not seen.
  std::optional<Call> end(const ProgramThread& thread, std::uint64_t place, std::uint32_t slot) {
    auto& calls = of_[thread];
    if (calls.empty() || calls.back().place != place || calls.back().slot != slot) {
      return std::nullopt;
    }
    std::optional<Call> call = std::move(calls.back());
    calls.pop_back();
    return call;
  }

  std::size_t depth(const ProgramThread& thread) { return of_[thread].size(); }

  /// All that never returned, innermost first within a thread.
  std::vector<std::pair<ProgramThread, Call>> rest() {
    std::vector<std::pair<ProgramThread, Call>> all;
    for (auto& [thread, calls] : of_) {
      for (; !calls.empty(); calls.pop_back()) {
        all.emplace_back(thread, std::move(calls.back()));
      }
    }
    return all;
  }

 private:
  template <class Test>
  static std::vector<Call> left(std::vector<Call>& calls, const Test& test) {
    std::vector<Call> gone;
    for (; !calls.empty() && test(calls.back()); calls.pop_back()) {
      gone.push_back(std::move(calls.back()));
    }
    return gone;
  }

  std::map<ProgramThread, std::vector<Call>> of_;
};

}  // namespace tracso::calls
