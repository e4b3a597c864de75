#include "commands/memory_sampling.hpp"

#include "compare/sample_summary.hpp"
#include "os/sampler.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace tracso {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<MemorySamples> sample_until(const std::stop_token& stop,
                                          std::int32_t pid,
                                          std::chrono::nanoseconds interval) {
  SampleSummary summary(interval.count());
  auto next = Clock::now();
  const auto sampler = os::Sampler::open(pid);
  while (sampler && !stop.stop_requested()) {
    const auto look = sampler->look();
    if (!look) {
      break;  // it has ended
    }
    summary.add(look->at.time_since_epoch().count(), look->resident, look->anonymous);
    // What was missed is not made up for: looks in a row would see the same moment.
    next = std::max(next + interval, Clock::now());
    std::this_thread::sleep_until(next);
  }
  return summary.samples().count > 0 ? std::optional(summary.samples()) : std::nullopt;
}

}  // namespace

void MemorySampling::start(std::int32_t pid) {
  stop();
  taken_.reset();
  // Signals are for the thread that waits for them.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::jthread(
      [this, pid](const std::stop_token& stop) { taken_ = sample_until(stop, pid, interval_); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void add_samples(std::optional<MemorySamples> samples, Stat& into) {
  if (samples && into.peak) {
    into.peak = std::max(*into.peak, samples->resident.bytes);
  }
  into.samples = std::move(samples);
}

std::optional<MemorySamples> MemorySampling::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  return taken_;
}

}  // namespace tracso
