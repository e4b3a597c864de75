#pragma once
// A program at a terminal of its own, as a person has it: what it draws, what is typed.

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::test {

class PtyProgram {
 public:
  /// Starts argv with a controlling terminal of that size; `environment` is added to ours.
  PtyProgram(const std::vector<std::string>& argv,
             const std::vector<std::string>& environment,
             unsigned short rows = 24,
             unsigned short columns = 80);
  ~PtyProgram();
  PtyProgram(const PtyProgram&) = delete;
  PtyProgram& operator=(const PtyProgram&) = delete;

  void type(std::string_view keys) const;
  void resize(unsigned short rows, unsigned short columns) const;
  /// Reads until `text` has come since the last call; false: it did not within a minute.
  bool wait_for(std::string_view text);

  /// All that was written so far, escape sequences included.
  const std::string& output() const { return output_; }

  /// Reads to the end; the exit status, or 128 + signal.
  int finish();

 private:
  bool read_more(std::chrono::steady_clock::time_point until);

  int master_ = -1;
  pid_t pid_ = -1;
  std::string output_;
  std::size_t seen_ = 0;
};

}  // namespace tracso::test
