#pragma once
// What the loader of one program has brought in and refused, in order, and bounded: a program that
// opens and closes a plugin for ever does not fill our memory.

#include "launch/run.hpp"
#include "loader/link_map_follower.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tracso::launch {

class LoadLog {
 public:
  static constexpr std::size_t most_loads = 20'000, most_failures = 1000;

  /// The object of that link map has come.
  void came(std::uint64_t record, LoadRecord load);
  /// The object of that link map has gone.
  void gone(std::uint64_t record, std::chrono::nanoseconds at);
  void failed(FailedLoad failure);

  const std::vector<FailedLoad>& failures() const { return failures_; }

  /// l_ld of all that is loaded now.
  std::vector<std::uint64_t> dynamics() const;
  /// l_ld of the object of that link map; 0: not loaded.
  std::uint64_t dynamic_of(std::uint64_t record) const;

  /// Moves everything into the result, with a notice for what there was no room for.
  void give(RunResult& result);

 private:
  struct Loaded {
    std::uint64_t dynamic = 0;
    std::size_t place = 0;  // in loads_; its size or more: there was no room
  };

  std::vector<LoadRecord> loads_;
  std::vector<FailedLoad> failures_;
  std::unordered_map<std::uint64_t, Loaded> loaded_;  // by record
  std::size_t untold_loads_ = 0, untold_failures_ = 0;
};

}  // namespace tracso::launch
