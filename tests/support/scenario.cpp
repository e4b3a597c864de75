#include "support/scenario.hpp"

#include "support/catch.hpp"
#include "support/places.hpp"

#include <signal.h>

#include <cstdlib>

namespace tracso::test {

Scenario::Scenario(const std::string& script) {
  ProgramOptions options;
  options.environment = {"LAB=" + folder_.path() + "/lab", "PY=/usr/bin/python3"};
  ran_ = run_program({"bash", test::tests_file("live/scenarios/") + script}, options);
  INFO(ran_.out << ran_.err);
  REQUIRE(ran_.status == 0);
}

Scenario::~Scenario() {
  const int left = std::atoi(pid().c_str());
  if (left > 0) {
    ::kill(left, SIGKILL);
  }
}

std::string Scenario::pid() const {
  std::string text = read_file(folder_.path() + "/lab/pid");
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

nlohmann::json document(std::vector<std::string> words, const ProgramOptions& options, int status) {
  words.insert(words.begin(), "--json");
  const ProgramRun ran = run_tracso(words, options);
  INFO(ran.err);
  REQUIRE(ran.status == status);
  return nlohmann::json::parse(ran.out);
}

std::vector<nlohmann::json> nodes_named(const nlohmann::json& document, const std::string& name) {
  std::vector<nlohmann::json> nodes;
  for (const auto& node : document.at("nodes")) {
    if (node.at("name") == name) {
      nodes.push_back(node);
    }
  }
  return nodes;
}

nlohmann::json node_named(const nlohmann::json& document, const std::string& name) {
  const auto nodes = nodes_named(document, name);
  return nodes.empty() ? nlohmann::json() : nodes.front();
}

std::vector<nlohmann::json> edges_into(const nlohmann::json& document, const std::string& id) {
  std::vector<nlohmann::json> edges;
  for (const auto& edge : document.at("edges")) {
    if (edge.at("target") == id) {
      edges.push_back(edge);
    }
  }
  return edges;
}

std::vector<std::string> notice_codes(const nlohmann::json& document) {
  std::vector<std::string> codes;
  for (const auto& notice : document.at("notices")) {
    codes.push_back(notice.at("code"));
  }
  return codes;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace tracso::test
