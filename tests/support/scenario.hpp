#pragma once
// A situation from a public report, rebuilt by a script of tests/live/scenarios in a folder of its
// own.

#include "support/run_program.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tracso::test {

/// Runs the script; its process, if it leaves one, is ended with the value.
class Scenario {
 public:
  explicit Scenario(const std::string& script);
  ~Scenario();
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;

  /// The process it left running, as a word for the command line.
  std::string pid() const;

  /// The folder it built its files in.
  std::string lab() const { return folder_.path() + "/lab"; }

  /// What the script printed.
  const ProgramRun& ran() const { return ran_; }

 private:
  TemporaryFolder folder_;
  ProgramRun ran_;
};

/// `tracso --json` on those words, parsed; fails the test if it is no document.
nlohmann::json document(std::vector<std::string> words,
                        const ProgramOptions& options = {},
                        int status = 0);

/// The node whose name is that, or null.
nlohmann::json node_named(const nlohmann::json& document, const std::string& name);
/// All nodes of that name.
std::vector<nlohmann::json> nodes_named(const nlohmann::json& document, const std::string& name);
/// Edges that end at the node of that id.
std::vector<nlohmann::json> edges_into(const nlohmann::json& document, const std::string& id);
/// The notices' codes.
std::vector<std::string> notice_codes(const nlohmann::json& document);
bool contains(const std::string& text, const std::string& part);

}  // namespace tracso::test
