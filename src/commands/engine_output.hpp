#pragma once
// What `tracso calls` from outside shares, whether of a command or of a process that runs already:
// how it sees processes, and what it writes.

#include "calls/engine.hpp"
#include "calls/engine_table.hpp"
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

 private:
  void set_time();

  bool signals_;
  std::unique_ptr<calls::CallWriter> writer_;
  LineFile& file_;
  calls::TickRate rate_;
  calls::TickTime time_;
  bool any_ = false;
};

/// Where all that goes: lines as calls come, or a table at the end.
class EngineOutput {
 public:
  /// `request` must outlive it.
  explicit EngineOutput(const CallsRequest& request) : request_(request) {}

  /// Before anything is traced: opens the file of the lines, or sees whether that of a table could
  /// be written.
  Result<Done> open();
  /// Who is told of the calls; lines begin with it.
  calls::CallSink& begin();
  /// Lines that have come.
  void write();
  /// The command could not be started, or the process not attached to, which has been said, with
  /// that status. The status that tracso ends with.
  int not_run(const Error& error, int status);
  /// Writes the table, or ends the lines, with what the engine says beside the report's own
  /// notices. `status`: the command's wait status; nullopt: a process that runs on. The status that
  /// tracso ends with.
  int finish(const calls::Engine& engine, CallsReport report, std::optional<int> status);

 private:
  int finish_lines(CallsReport& report, std::optional<int> status);

  const CallsRequest& request_;
  LineFile file_;
  std::optional<EngineLines> lines_;
  calls::EngineTable table_;
};

calls::EngineDoors live_engine_doors();

calls::EngineOptions engine_options(const CallsRequest& request);

}  // namespace tracso
