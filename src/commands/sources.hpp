#pragma once
// A trace from wherever the user points: a process, a file, a command, a saved document, the last
// one.

#include "tracso/problem_facts.hpp"
#include "tracso/snapshot.hpp"
#include "tracso/trace.hpp"

#include "commands/python.hpp"
#include "commands/request.hpp"

#include <cstdint>

namespace tracso {

/// How --calls went: all of the time, or it ended before that (or was replaced by exec), or nobody
/// could get in.
enum class CallWindow : std::uint8_t { whole, ended, refused };

struct Obtained {
  Trace trace;
  ProblemFacts facts;
  bool save = false;                     ///< it is a fresh one: the next "last trace"
  CallWindow calls = CallWindow::whole;  ///< how --calls went
};

/// Errors as exit_status knows them; CMD's own trouble (126, 127) comes as `command_status`.
Result<Obtained> obtain_trace(const TraceRequest& request, std::optional<int>& command_status);

/// A denied Error of a process with what is still visible of it and a hint that is true for this
/// user; any other as it is.
Error with_denial(Error error, std::int32_t pid);

/// The doors and options of a live process, opened once. Used by the report and by record.
class LiveTarget {
 public:
  /// not_found, denied (with what is still visible).
  static Result<LiveTarget> open(std::int32_t pid);

  Target target() const;

 private:
  std::unique_ptr<ProcessSource> process_;
  std::unique_ptr<FileSystem> files_;
  std::unique_ptr<CommandRunner> commands_;
};

/// What every snapshot of a live process gets: probe, timeout, log.
struct LookOptions {
  std::string probe, elf;
  std::chrono::milliseconds timeout{5000};
  bool verbose = false;
  bool children = false;
  bool dlopen_hints = false;
  bool costs = false, relocations = false;
  bool distributions = false;
  bool importers = false;
  FactsOptions facts = {};
  Tracer tracer = Tracer::not_us;
  std::vector<RefusedName> refused;  ///< by the loader, as --run saw it
};

/// `facts` is filled as look.facts asks.
Result<Trace> look_at_process(const LiveTarget& live,
                              const LookOptions& look,
                              const std::string& label,
                              ProblemFacts& facts);

}  // namespace tracso
