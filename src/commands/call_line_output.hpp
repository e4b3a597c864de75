#pragma once
// The lines of `tracso calls`, written while the command runs: to the standard error or a file.

#include "tracso/calls.hpp"
#include "tracso/result.hpp"

#include "base/unique_fd.hpp"
#include "calls/event_stream.hpp"

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

 private:
  UniqueFd file_;
  int fd_ = 2;
  bool closed_ = false;
};

class LineOutput {
 public:
  LineOutput(const calls::Arena& arena, const calls::LineOptions& options) : options_(options) {
    add(arena);
  }

  /// Another one; each is in the order of time, and they are put together as they come.
  void add(const calls::Arena& arena) {
    streams_.push_back(std::make_unique<calls::EventStream>(arena, options_));
  }

  /// As LineFile.
  Result<Done> open(const std::optional<std::string>& file) { return file_.open(file); }

  /// Writes what has come; until when nothing more needs to be looked at.
  std::chrono::milliseconds write();
  /// Writes the rest, how the command ended (wait(2); nullopt: it did not), and what the report
  /// says is missing.
  void end(std::optional<int> status, const CallsReport& report);

 private:
  calls::LineOptions options_;
  std::vector<std::unique_ptr<calls::EventStream>> streams_;  // at least one
  LineFile file_;
  std::chrono::milliseconds pause_{1};
};

}  // namespace tracso
