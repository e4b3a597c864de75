#pragma once
// Runs tracso (or another program) as a user would, and gives all that it said.

#include <chrono>
#include <string>
#include <vector>

namespace tracso::test {

struct ProgramRun {
  int status = -1;  ///< exit status, or 128 + signal
  std::string out, err;
};

struct ProgramOptions {
  std::vector<std::string> environment;  ///< NAME=VALUE added to ours; TRACSO_NO_STATE=1 is always
                                         ///< set unless it names TRACSO_NO_STATE itself
  std::string directory;                 ///< working directory; empty: ours
  std::chrono::seconds limit{60};
};

/// Runs it to its end; a test that takes longer than the limit fails with status -1.
ProgramRun run_program(const std::vector<std::string>& argv, const ProgramOptions& options = {});

/// The tracso of this build.
ProgramRun run_tracso(std::vector<std::string> words, const ProgramOptions& options = {});

/// A folder of its own that goes away with the value.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  /// It stays: somebody else's to remove.
  void keep() { path_.clear(); }

 private:
  std::string path_;
};

/// Writes a file, whose folder must exist, and gives its path. A name without a folder is one in
/// scratch_folder().
std::string write_file(const std::string& path, const std::string& content, unsigned mode = 0644);
/// The whole file; empty: not there.
std::string read_file(const std::string& path);

}  // namespace tracso::test
