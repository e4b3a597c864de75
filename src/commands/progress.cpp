#include "commands/progress.hpp"

#include "base/text.hpp"
#include "render/text/columns.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

namespace tracso {
namespace {

constexpr std::chrono::milliseconds silent_for{400};

bool can_erase_lines() {
  const char* terminal = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return ::isatty(STDERR_FILENO) == 1 && terminal != nullptr && *terminal != '\0' &&
         std::string_view(terminal) != "dumb";
}

std::size_t columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void write(std::string_view text) {
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
}

}  // namespace

Progress::Progress(std::string what) : what_(std::move(what)) {
  if (!can_erase_lines()) {
    return;
  }
  // Signals are the main thread's: what it waits for must not be answered here.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  teller_ = std::thread([this] { tell(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Progress::~Progress() {
  if (!teller_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  ended_.notify_all();
  teller_.join();
}

void Progress::tell() {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::unique_lock lock(mutex_);
  if (ended_.wait_for(lock, silent_for, [this] { return done_; })) {
    return;
  }
  do {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start);
    const std::string time = seconds.count() > 0 ? fmt::format(" {} s", seconds.count()) : "";
    const std::string line = fmt::format("tracso: {} ...{}", printable(what_), time);
    write("\r\x1b[K" + cut_end(line, columns() - 1, false));
  } while (!ended_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; }));
  write("\r\x1b[K");
}

}  // namespace tracso
