#pragma once
// Runs commands with and without us and keeps what can be compared.

#include "launch/run.hpp"
#include "support/run_program.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tracso::test {

/// What was there at a moment.
struct Look {
  launch::Moment moment;
  std::string maps, command;  ///< the command line, arguments separated by spaces
};

struct SeenRun {
  std::optional<launch::RunResult> result;
  std::optional<Error> error;
  std::vector<Look> looks;
  std::string out, err;  ///< what was written to descriptors 1 and 2 meanwhile
};

using Arguments = std::vector<std::string>;
using Change = std::function<void(launch::RunOptions&)>;

/// run_command with a callback that looks at maps; `change` may alter the options.
SeenRun run(Arguments argv, const Change& change = {});

/// Options to run a command without looking at it.
launch::RunOptions blind_options(Arguments argv);

struct Native {
  int status = 0;  ///< exit status, or 128+N
  std::string out;
};

/// The same command without us.
Native run_natively(const Arguments& argv);

/// status as a shell says it: 128+N for a signal; -1: neither.
int shell_status(const launch::RunResult& result);

/// Compiles C to a program in the build folder. Fails the test where the compiler is missing.
std::string compile(const std::string& name,
                    const std::string& source,
                    const std::string& compiler = "cc -O1 -pthread");

/// The first of the given programs that is here; fails the test where none is.
std::string need_program(const std::vector<std::string>& candidates);

/// The programs of pythons() (support/python_target.hpp), the system's first; at least one, or the
/// test fails.
std::vector<std::string> python_programs();
/// The first of them; no wrapper script.
std::string python();

}  // namespace tracso::test
