#pragma once
// For writes to a reader that may go at any time.

#include <csignal>

namespace tracso::os {

/// While it lives, writing into a closed pipe is an error and not the end of the program. What a
/// command inherits stays as it is: CMD of --run must not get it, so it is never kept for longer
/// than a write.
class IgnoreBrokenPipe {
 public:
  IgnoreBrokenPipe() {
    struct sigaction ignore {};

    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &before_);
  }

  IgnoreBrokenPipe(const IgnoreBrokenPipe&) = delete;
  IgnoreBrokenPipe& operator=(const IgnoreBrokenPipe&) = delete;

  ~IgnoreBrokenPipe() { ::sigaction(SIGPIPE, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

}  // namespace tracso::os
