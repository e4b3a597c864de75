#include "tracee/stopped_process.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "tracee/requests.hpp"

#include <fmt/format.h>

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tracso::tracee {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<pid_t> threads_of(std::int32_t pid) {
  std::vector<pid_t> threads;
  DIR* directory = opendir(fmt::format("/proc/{}/task", pid).c_str());
  if (directory == nullptr) {
    return threads;
  }
  while (const dirent* entry = readdir(directory)) {
    if (const auto number = parse_unsigned(static_cast<const char*>(entry->d_name))) {
      threads.push_back(static_cast<pid_t>(*number));
    }
  }
  closedir(directory);
  return threads;
}

Error refused(int problem, std::int32_t pid) {
  Error error = errno_error(problem, "stop process", std::to_string(pid));
  if (problem == ESRCH) {
    error.reason = "no such process";
  }
  return error;
}

// The threads of one process that this thread traces.
class Holder {
 public:
  explicit Holder(std::int32_t pid) : pid_(pid) {}

  Result<Done> stop_all(Clock::time_point end) {
    begin_ = Clock::now();
    // A thread that starts others is only quiet when a pass finds nobody new.
    for (;;) {
      const auto fresh = seize_new();
      if (!fresh) {
        return fresh.error();
      }
      if (fresh->empty()) {
        break;
      }
      for (const pid_t thread : *fresh) {
        if (!await_stop(thread, end)) {
          return Error{ErrorKind::interrupted,
                       "stop process",
                       std::to_string(pid_),
                       fmt::format("thread {} did not stop in time", thread),
                       ""};
        }
      }
    }
    if (signals_.empty()) {
      return refused(ESRCH, pid_);
    }
    return Done{};
  }

  std::chrono::nanoseconds release() {
    for (const auto& [thread, signal] : signals_) {
      detach(thread, signal);
    }
    signals_.clear();
    return Clock::now() - begin_;
  }

  std::size_t size() const { return signals_.size(); }

 private:
  Result<std::vector<pid_t>> seize_new() {
    std::vector<pid_t> fresh;
    for (const pid_t thread : threads_of(pid_)) {
      if (std::find(seen_.begin(), seen_.end(), thread) != seen_.end()) {
        continue;
      }
      seen_.push_back(thread);
      const int problem = seize(thread, Follow::nothing);
      if (problem == 0 && interrupt(thread) == 0) {
        fresh.push_back(thread);
      } else if (problem != 0 && problem != ESRCH && signals_.empty() && fresh.empty()) {
        return refused(problem, pid_);
      }
    }
    return fresh;
  }

  bool await_stop(pid_t thread, Clock::time_point end) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    const auto report = await_report(thread, std::max(left, std::chrono::milliseconds(0)));
    if (!report) {
      return process_of(thread) == std::nullopt;
    }
    const Stop stop = decode_status(report->status);
    if (stop.kind != StopKind::exited && stop.kind != StopKind::killed) {
      // A signal on its way is delivered when we let go.
      signals_[thread] = stop.kind == StopKind::signal ? stop.value : 0;
    }
    return true;
  }

  std::int32_t pid_;
  Clock::time_point begin_;
  std::vector<pid_t> seen_;
  std::map<pid_t, int> signals_;  // of every stopped thread
};

}  // namespace

class StoppedProcess::Worker {
 public:
  Worker(std::int32_t pid, std::chrono::milliseconds limit)
      : thread_([this, pid, end = Clock::now() + limit] { hold(pid, end); }) {}

  ~Worker() { release(); }

  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Result<std::size_t> await_stop() {
    Result<std::size_t> outcome = stopped_.get_future().get();
    threads_ = outcome ? *outcome : 0;
    return outcome;
  }

  std::size_t threads() const { return threads_; }

  std::chrono::nanoseconds release() {
    if (thread_.joinable()) {
      go_.set_value();
      thread_.join();
    }
    return duration_;
  }

 private:
  void hold(std::int32_t pid, Clock::time_point end) {
    Holder holder(pid);
    const auto outcome = holder.stop_all(end);
    if (outcome) {
      stopped_.set_value(holder.size());
      go_.get_future().wait();
      duration_ = holder.release();
    } else {
      holder.release();
      stopped_.set_value(outcome.error());
    }
  }

  std::promise<Result<std::size_t>> stopped_;
  std::promise<void> go_;
  std::chrono::nanoseconds duration_{0};
  std::size_t threads_ = 0;
  std::thread thread_;  // last: it uses the others
};

StoppedProcess::StoppedProcess(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}

StoppedProcess::StoppedProcess(StoppedProcess&&) noexcept = default;
StoppedProcess& StoppedProcess::operator=(StoppedProcess&&) noexcept = default;
StoppedProcess::~StoppedProcess() = default;

Result<StoppedProcess> StoppedProcess::stop(std::int32_t pid, std::chrono::milliseconds limit) {
  auto worker = std::make_unique<Worker>(pid, limit);
  const auto outcome = worker->await_stop();
  if (!outcome) {
    return outcome.error();
  }
  return StoppedProcess(std::move(worker));
}

std::size_t StoppedProcess::threads() const {
  return worker_->threads();
}

std::chrono::nanoseconds StoppedProcess::release() {
  return worker_->release();
}

}  // namespace tracso::tracee
