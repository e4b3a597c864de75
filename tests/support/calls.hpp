#pragma once
// What tests of `tracso calls` share: a program under it, and what it said, as lines or as a
// document.

#include "support/python_target.hpp"
#include "support/run_program.hpp"

#include <nlohmann/json.hpp>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tracso::test {

using Words = std::vector<std::string>;

/// Runs a shell command; fails the test where it fails.
void shell(const std::string& command);

/// The only child of a process, such as timeout(1) has; fails the test where there is none.
pid_t only_child(pid_t process);

/// Without their ends.
std::vector<std::string> lines_of(const std::string& text);

/// Without the spaces that align results.
std::string squeezed(std::string line);

/// A command under `tracso calls`, its calls as lines.
struct TracedLines {
  ProgramRun run;
  std::vector<std::string> lines;  ///< without the spaces that align results

  bool has(const std::string& part) const { return count(part) > 0; }

  /// Lines that hold that.
  std::ptrdiff_t count(const std::string& part) const;
};

TracedLines trace_lines(const Words& options, const Words& command);

/// A command under `tracso calls`, its calls as a table.
struct TracedTable {
  ProgramRun run;
  nlohmann::json document;
};

/// The document lies in a file: what the command prints is its own. Fails the test where there is
/// no document.
TracedTable trace_table(const Words& options, const Words& command, const ProgramOptions& how = {});

/// The sum of one number over the rows of that function.
std::uint64_t calls_of(const nlohmann::json& document,
                       const std::string& symbol,
                       const std::string& key = "calls");

/// `tracso calls -p` with these options; with --json the document of the table, not a line for each
/// call.
ProgramRun attach(pid_t process, const Words& options);
/// What it gave as JSON; fails the test where it failed.
nlohmann::json attached_document(const ProgramRun& run);

/// Lines of JSON.
std::vector<nlohmann::json> records_of(const std::string& text);

/// tests/live/calls/attached.c in a folder of its own, with its library; `options` go to the
/// compiler.
std::string attached_program(const std::string& options = "");
/// Ends it; fails the test unless it has worked on, noticed no fault, and finds every word of its
/// GOTs as it was.
void check_untouched(Child& child);

}  // namespace tracso::test
