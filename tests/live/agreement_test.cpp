// The loader's records and the resolver, edge by edge, on real programs. The records say which file
// each needed name led to; the resolver says which file the rules give. Where they differ there has
// to be an explanation; here there is none to accept.

#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/scenario.hpp"

#include <cstdlib>
#include <map>
#include <optional>
#include <set>

namespace tracso::test {
namespace {

/// A program that does something real, says READY (or that line) and waits for its stdin.
struct RealProgram {
  std::string name;
  std::vector<std::string> argv;
  std::string say;    ///< written to its stdin before
  std::string ready;  ///< how the line begins
};

/// `repository`: an empty one of git.
std::vector<RealProgram> real_programs(const std::string& repository) {
  const std::string modules =
      "import ssl, sqlite3, ctypes, lzma, bz2, decimal, socket, curses\n"
      "try:\n import numpy, numpy.linalg\nexcept ImportError: pass\n"
      "print('READY', flush=True); input()";
  const std::string names = "import socket; socket.getaddrinfo('localhost', 80); ";
  return {
      {"python3", {"python3", "-c", modules}, "", "READY"},
      {"python3", {"python3", "-c", names + modules}, "", "READY"},
      {"perl",
       {"perl", "-e", "use POSIX; use Socket; use Data::Dumper; $|=1; print \"READY\\n\"; <STDIN>"},
       "",
       "READY"},
      {"bash", {"bash", "-c", "echo READY; read line"}, "", "READY"},
      {"git", {"git", "-C", repository, "cat-file", "--batch"}, "x\n", "x missing"},
      {"gdb",
       {"gdb", "-q", "-nx", "-batch", "-ex", "shell echo READY", "-ex", "shell cat"},
       "",
       "READY"},
      {"node", {"node", "-e", "console.log('READY'); process.stdin.resume()"}, "", "READY"},
      {"dbus-daemon", {"dbus-daemon", "--session", "--nofork", "--print-address=1"}, "", "unix:"},
      {"sqlite3", {"sqlite3", ":memory:"}, ".print READY\n", "READY"},
      {"ruby", {"ruby", "-ropenssl", "-e", "$stdout.sync = true; puts 'READY'; gets"}, "", "READY"},
      {"vim", {"vim", "-es", "-c", "!echo READY"}, "", "READY"},
  };
}

bool is_installed(const std::string& name) {
  return run_program({"sh", "-c", "command -v " + name}).status == 0;
}

bool wait_until_ready(Child& child, const RealProgram& program) {
  if (!program.say.empty()) {
    child.write(program.say);
  }
  while (const auto line = child.line()) {
    if (line->rfind(program.ready, 0) == 0) {
      return true;
    }
  }
  return false;
}

/// A text of the document; empty where it is null.
std::string text_of(const nlohmann::json& item, const std::string& key) {
  const auto found = item.find(key);
  return found != item.end() && found->is_string() ? found->get<std::string>() : "";
}

std::map<std::string, nlohmann::json> nodes_by_id(const nlohmann::json& all) {
  std::map<std::string, nlohmann::json> nodes;
  for (const auto& node : all.at("nodes")) {
    nodes.emplace(node.at("id"), node);
  }
  return nodes;
}

struct Tally {
  std::size_t edges = 0, searched = 0, loaded_before = 0, fragile = 0;
  std::vector<std::string> unexplained;
};

/// Each needed edge: searched and found the mapped file, or satisfied by what was loaded before.
Tally compare_edges(const nlohmann::json& all) {
  const auto nodes = nodes_by_id(all);
  Tally tally;
  for (const auto& edge : all.at("edges")) {
    if (edge.at("relation") != "needed") {
      continue;
    }
    ++tally.edges;
    const auto& to = nodes.at(edge.at("target"));
    const std::string rule = text_of(edge, "rule");
    const std::string words = edge.at("source").get<std::string>() + " needs " +
                              edge.at("needed").get<std::string>() + ", which is " +
                              text_of(to, "path");
    if (text_of(to, "state") == "missing" || rule.empty() ||
        !text_of(edge, "restart_would_load").empty()) {
      tally.unexplained.push_back(words + ": " + edge.dump());
    } else if (rule == "already-loaded") {
      ++tally.loaded_before;
      tally.fragile += edge.value("fragile", false) ? 1 : 0;
    } else {
      ++tally.searched;
    }
  }
  for (const auto& [id, node] : nodes) {
    if (contains(text_of(node, "note"), "restart")) {
      tally.unexplained.push_back(id + ": " + node.at("note").get<std::string>());
    }
  }
  return tally;
}

/// What the program needs by itself.
std::set<std::string> baseline_of(const nlohmann::json& all) {
  std::set<std::string> paths;
  for (const auto& node : all.at("nodes")) {
    if (node.at("baseline") == true) {
      paths.insert(text_of(node, "path"));
    }
  }
  return paths;
}

/// A file's place, links followed: the resolver names it as the loader opened it.
std::set<std::string> real_paths(const std::set<std::string>& paths) {
  std::set<std::string> real;
  for (const auto& path : paths) {
    char* resolved = ::realpath(path.c_str(), nullptr);
    real.insert(resolved == nullptr ? path : resolved);
    std::free(resolved);  // NOLINT(cppcoreguidelines-no-malloc): realpath's own allocation
  }
  return real;
}

}  // namespace

TEST_CASE("agreement: records and rules give the same file for every needed name of real programs",
          "[live][agreement]") {
  const TemporaryFolder repository;
  if (is_installed("git")) {
    REQUIRE(run_program({"git", "init", "-q", repository.path()}).status == 0);
  }
  std::size_t programs = 0;
  std::size_t edges = 0;
  for (const auto& program : real_programs(repository.path())) {
    if (!is_installed(program.name)) {
      continue;
    }
    CAPTURE(program.name, program.argv);
    Child child(program.argv);
    REQUIRE(wait_until_ready(child, program));
    const auto all = document({std::to_string(child.pid()), "--probe", "path"});
    const Tally tally = compare_edges(all);
    for (const auto& words : tally.unexplained) {
      UNSCOPED_INFO(words);
    }
    CHECK(tally.unexplained.empty());
    CHECK(tally.searched > 0);
    CHECK(tally.searched + tally.loaded_before == tally.edges);
    ++programs;
    edges += tally.edges;

    // What the program itself needs, the resolver finds without any record.
    const std::string exe = all.at("process").at("exe");
    const auto file = document({exe});
    CHECK(real_paths(baseline_of(file)) == real_paths(baseline_of(all)));
  }
  CHECK(programs >= 3);
  WARN("compared " << edges << " needed names of " << programs << " programs");
}

}  // namespace tracso::test
