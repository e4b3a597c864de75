#pragma once
// Living Python processes for tests: every interpreter of the machine, a script that runs in one,
// and the doors to look at it.

#include "tracso/python_probe.hpp"
#include "tracso/target.hpp"

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tracso::test {

/// A Python to test with.
struct Python {
  std::string program;  ///< "/usr/bin/python3"
  std::string label;    ///< "3.11.2", "3.11.2 debug", "3.13.5 free-threaded"
};

/// Every CPython from 3.8 on of this machine: those of pyenv, the system's, the debug build, and
/// the programs of TRACSO_PYTHONS (separated by colons). `tried` gets what was looked for.
std::vector<Python> pythons(std::string* tried = nullptr);

/// A child with pipes at its stdin and stdout; killed and reaped by the destructor.
class Child {
 public:
  explicit Child(std::vector<std::string> argv, std::vector<std::string> environment = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }

  /// One line without its newline; nullopt: the child closed its output or 30 seconds passed.
  std::optional<std::string> line();
  void write(const std::string& text) const;
  /// Waits for its end; the exit status, or 128 + signal.
  int wait();
  /// Between a line and its next wait a process still does something: returns when its first thread
  /// sleeps and has begun no other wait for 20 ms. false: it did not come to rest in 20 s.
  bool rests() const;

 private:
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;
  std::string pending_;
};

/// A command whose child has ended and is not waited for: prints its pid, and ends with its stdin.
std::vector<std::string> zombie_keeper();

/// The doors to a process and what a probe wants to know of it.
struct LiveTarget {
  std::unique_ptr<ProcessSource> process;
  std::unique_ptr<FileSystem> files;
  ProbeInput input;
};

/// nullopt: no such process any more.
std::optional<LiveTarget> live_target(pid_t pid);

}  // namespace tracso::test
