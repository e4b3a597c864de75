#pragma once
// Small C programs and libraries, built in a folder that goes away with the test, and what the
// loader of such a program says itself.

#include "loader/link_map.hpp"
#include "support/python_target.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tracso::test {

/// A folder of its own under the temporary directory.
class Workshop {
 public:
  Workshop();
  ~Workshop();
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  /// "/tmp/tracso-xyz" + "/" + name
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  void write(const std::string& name, const std::string& content) const;
  /// Runs a shell command in the folder; false, and its output on stderr, if it fails.
  bool run(const std::string& command) const;
  /// A shared object with one function, named after the file; `options` go to the linker. Fails
  /// the test if it cannot be built.
  std::string library(const std::string& file,
                      const std::string& options = "",
                      const std::string& compiler = "gcc") const;
  /// The program that does what its arguments say and reports on itself (see the .cpp); fails the
  /// test if it cannot be built.
  std::string reporter(const std::string& file,
                       const std::string& options = "",
                       const std::string& compiler = "gcc") const;

 private:
  std::string folder_;
};

/// One object as the program itself sees it, by dlinfo(3).
struct OwnRow {
  std::size_t space = 0;
  std::uint64_t bias = 0, dynamic = 0;
  std::string name;
  bool operator==(const OwnRow&) const = default;
};

/// A reporter that has done its work and waits.
struct Reporter {
  Reporter(std::vector<std::string> argv, std::vector<std::string> environment = {});

  Child child;
  std::vector<OwnRow> rows;
  bool ready = false;  ///< it came as far as READY
};

/// What tracso reads of a process.
struct LinkMapView {
  std::vector<Mapping> mappings;
  Result<loader::LinkMaps> maps;
  std::vector<std::optional<DynamicSection>> sections;
  std::vector<loader::NeededMatch> matches;

  /// The entry of that name, or whose name ends in "/" + name; nullptr: none.
  const loader::LinkMapEntry* find(const std::string& name) const;
  std::vector<OwnRow> rows() const;
};

LinkMapView look_at(pid_t pid);

}  // namespace tracso::test
