#pragma once
// A Python that stands still at every dlopen until somebody has looked at it.

#include "python/import_chain.hpp"
#include "support/c_programs.hpp"
#include "support/python_target.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tracso::test {

/// One dlopen about to begin.
struct SeenLoad {
  std::string name;                        ///< what is to be opened; "NULL": the program itself
  std::string truth;                       ///< what the program printed since the last one
  std::vector<python::ImportStep> steps;   ///< what the reader says
  std::chrono::nanoseconds took{0};        ///< that long it read
  std::vector<python::ImportStep> glance;  ///< what another one says that believes its last chain
};

class LoadWatch {
 public:
  /// Starts the command with a dlopen put in before the C library's; the workshop keeps it.
  LoadWatch(const Workshop& workshop, std::vector<std::string> argv);

  /// Goes on to the next dlopen; nullopt: the program has ended.
  std::optional<SeenLoad> next();

  /// Nothing is missing from what was read so far.
  bool is_complete() const {
    return reader_ && reader_->incomplete_chains() + glancer_->incomplete_chains() == 0;
  }

  pid_t pid() const { return child_.pid(); }

 private:
  Child child_;
  std::optional<LiveTarget> target_;
  std::optional<python::ImportChainReader> reader_, glancer_;
  bool waiting_ = false;
};

/// "main.py:3 (__main__) plain > plain.py:1 (plain) load": file, line, importer, what is imported;
/// "load" for a step that imports nothing. Names of files are told without that beginning.
std::string in_words(const std::vector<python::ImportStep>& steps, const std::string& folder = "");

/// What is opened, and its chain in words, in the order of opening.
using Chains = std::vector<std::pair<std::string, std::string>>;

/// Writes a module that opens a library of that name, which is not there, in its line 3.
void write_opener(const Workshop& workshop, const std::string& file, const std::string& tag);

/// Runs a command and keeps the chains of what is opened under a name that begins with "tag-".
/// Fails the test if anything of them could not be read.
Chains tagged(const Workshop& workshop, std::vector<std::string> argv);

}  // namespace tracso::test
