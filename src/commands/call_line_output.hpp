#pragma once
// The lines of `tracso calls`, written while the command runs: to the standard error or a file.

#include "tracso/calls.hpp"
#include "tracso/result.hpp"

#include "base/unique_fd.hpp"
#include "calls/event_stream.hpp"
#include "commands/calls_command.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tracso {

/// "+++ exited (status 0) +++", of a status of wait(2).
std::string end_of_command(int status);

/// A notice as one line for people.
std::string notice_line(const Notice& notice);

/// Where lines go.
class LineFile {
 public:
  /// nullopt: the standard error; "-": the standard output.
  Result<Done> open(const std::optional<std::string>& file);
  /// Where nobody reads any more, the rest is thrown away: the command goes on.
  void put(const std::string& text);

  /// Something could not be written (a closed pipe is no failure): the exit status of that error,
  /// which has been told; 0: all is well.
  int failure() const { return failure_; }

 private:
  UniqueFd file_;
  int fd_ = 2;
  std::string name_;
  bool closed_ = false;
  int failure_ = 0;
};

/// What lines are made with, by the request.
std::unique_ptr<calls::CallWriter> line_writer(const CallsRequest& request);

/// Who tells it what arguments are.
std::shared_ptr<calls::PrototypeFinder> finder_of(const CallsRequest& request);

/// CMD's status unless that is 0 and lines could not be written.
int status_after_lines(int status, const LineFile& file);

/// The command could not be started, or the process not attached to, which has been said, with that
/// status: JSON Lines that have a `start` get their `end`. The status that tracso ends with.
int end_of_no_start(const CallsRequest& request, const Error& error, int status, LineFile& file);

class LineOutput {
 public:
  /// `request` must outlive it.
  LineOutput(const calls::Arena& arena, const CallsRequest& request) : request_(request) {
    add(arena);
  }

  /// Another one; each is in the order of time, and they are put together as they come.
  void add(const calls::Arena& arena);

  /// Where the request wants them.
  Result<Done> open();

  /// Writes what has come; until when nothing more needs to be looked at.
  std::chrono::milliseconds write();
  /// Writes the rest, how the command ended (wait(2); nullopt: it did not), and what the report
  /// says is missing.
  void end(std::optional<int> status, CallsReport& report);

  LineFile& file() { return file_; }

 private:
  const CallsRequest& request_;
  std::vector<std::unique_ptr<calls::EventStream>> streams_;  // at least one
  LineFile file_;
  std::chrono::milliseconds pause_{1};
};

}  // namespace tracso
