#pragma once
// --sample of `tracso stat`: looks at the memory of a process every few milliseconds, from a thread
// of ours, so that nothing else we do lets a spike go by.

#include "tracso/stat.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

namespace tracso {

class MemorySampling {
 public:
  explicit MemorySampling(std::chrono::nanoseconds interval) : interval_(interval) {}

  ~MemorySampling() { stop(); }

  MemorySampling(const MemorySampling&) = delete;
  MemorySampling& operator=(const MemorySampling&) = delete;

  /// Begins, anew if it had begun. Where the process cannot be looked at there are no samples.
  void start(std::int32_t pid);
  /// Ends; nullopt: no sample was taken.
  std::optional<MemorySamples> stop();

 private:
  std::chrono::nanoseconds interval_;
  std::optional<MemorySamples> taken_;
  std::jthread thread_;
};

/// What was seen goes into the answer. The kernel's peak is kept by each processor for itself and
/// added up now and then (some 150 KB too low at times): it is no less than what was seen.
void add_samples(std::optional<MemorySamples> samples, Stat& into);

}  // namespace tracso
