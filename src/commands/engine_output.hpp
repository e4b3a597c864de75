#pragma once
// What `tracso calls` from outside shares, whether of a command or of a process that runs already:
// how it sees processes, and what it writes.

#include "calls/engine.hpp"
#include "commands/call_line_output.hpp"
#include "commands/calls_command.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tracso {

/// The calls that the engine sees, as they come.
class EngineLines final : public calls::CallSink {
 public:
  EngineLines(const CallsRequest& request, LineFile& file);

  void begin_program(std::uint32_t program, std::int32_t pid) override;
  void add(std::uint32_t program,
           const calls::CallEvent& event,
           const calls::EngineSite& site,
           std::string_view from) override;
  void add_signal(std::uint32_t program,
                  std::int32_t thread,
                  std::uint64_t ticks,
                  int signal) override;
  void write();
  /// How the command ended; nullopt: it runs on.
  void end(std::optional<int> status);

  bool any() const { return any_; }

  LineFile& file() { return file_; }

 private:
  void set_time();

  bool signals_;
  std::unique_ptr<calls::CallWriter> writer_;
  LineFile& file_;
  calls::TickRate rate_;
  calls::TickTime time_;
  bool any_ = false;
};

/// Before anything is traced: opens the file of the lines, or sees whether that of a table could be
/// written.
Result<Done> open_engine_output(const CallsRequest& request, LineFile& file);

calls::EngineDoors live_engine_doors();

calls::EngineOptions engine_options(const CallsRequest& request);

/// Writes the table, or ends the lines (nullptr: there are none) and says the notices. The status
/// that tracso ends with; `status`: the command's wait status, nullopt: a process that runs on.
int finish_engine(const CallsRequest& request,
                  CallsReport& report,
                  EngineLines* lines,
                  std::optional<int> status);

}  // namespace tracso
