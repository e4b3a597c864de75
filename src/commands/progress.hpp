#pragma once
// The one progress line: what takes longer than 0.4 s says what it is doing, on a terminal only.

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tracso {

/// While it lives "tracso: <what> ... 3 s" stands on stderr, from 0.4 s on; then the line is
/// erased. Nothing at all where stderr is no terminal or TERM is dumb. Only one at a time.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void tell();

  std::string what_;
  bool done_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::thread teller_;
};

}  // namespace tracso
