#pragma once
// tracso calls -p: the calls of processes that run already.

#include "tracso/trace.hpp"

#include "calls/attachment.hpp"
#include "commands/calls_command.hpp"
#include "commands/progress.hpp"
#include "launch/own_signals.hpp"

#include <functional>
#include <optional>

namespace tracso {

/// Until they have ended, we are asked to end (Ctrl-C), or `request.seconds` have passed. 0; 3: no
/// such process; 4: one of them cannot be attached to: then none is.
int calls_of_processes(const CallsRequest& request);

/// Has the process ended? A zombie has.
bool has_ended(const ProcessSource& process);

/// Waits until the end of `seconds`, all have ended, or we are asked to end (Ctrl-C). `work` is
/// done now and then, and says how long it has nothing to do.
void stay_attached(const std::optional<std::chrono::milliseconds>& seconds,
                   const launch::OwnSignals& signals,
                   const std::function<bool()>& all_have_ended,
                   const std::function<std::chrono::milliseconds()>& work);

/// While it lives a person at a terminal is told what is waited for and how to end it: of a table a
/// line that goes again, of lines one before them. Nothing where stderr is no terminal.
class AttachedWords {
 public:
  explicit AttachedWords(const CallsRequest& request);

 private:
  std::optional<Progress> progress_;
};

/// How long its threads were held, and what could not be put back.
Notice notice_of(const calls::Attachment& attachment, const Result<Done>& detached);

}  // namespace tracso
