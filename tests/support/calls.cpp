#include "support/calls.hpp"

#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

#include <algorithm>

namespace tracso::test {
namespace {

// tracso calls -o FILE OPTIONS -- COMMAND, with a file of its own.
ProgramRun run_calls(const std::string& file,
                     const Words& options,
                     const Words& command,
                     const ProgramOptions& how) {
  Words words{"calls", "-o", file};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return run_tracso(words, how);
}

std::string new_file(const std::string& ending) {
  static int number = 0;
  return fmt::format("{}/calls-{}{}", scratch_folder(), ++number, ending);
}

}  // namespace

void shell(const std::string& command) {
  const auto run = run_program({"/bin/sh", "-c", command});
  INFO(command << "\n" << run.err);
  REQUIRE(run.status == 0);
}

pid_t only_child(pid_t process) {
  const auto children = read_file(fmt::format("/proc/{0}/task/{0}/children", process));
  INFO("child of " << process << ": " << children);
  REQUIRE(!children.empty());
  return static_cast<pid_t>(std::stol(children));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string squeezed(std::string line) {
  for (auto at = line.find("  = "); at != std::string::npos; at = line.find("  = ")) {
    line.erase(at, 1);
  }
  return line;
}

std::ptrdiff_t TracedLines::count(const std::string& part) const {
  return std::count_if(
      lines.begin(), lines.end(), [&](const auto& line) { return contains(line, part); });
}

TracedLines trace_lines(const Words& options, const Words& command) {
  const auto file = new_file(".txt");
  TracedLines traced{run_calls(file, options, command, {}), {}};
  const auto text = read_file(file);
  for (const auto& line : lines_of(text)) {
    traced.lines.push_back(squeezed(line));
  }
  UNSCOPED_INFO(traced.run.err << text.substr(0, 4000));
  return traced;
}

TracedTable trace_table(const Words& options, const Words& command, const ProgramOptions& how) {
  const auto file = new_file(".json");
  TracedTable traced{run_calls(file, options, command, how), {}};
  const auto text = read_file(file);
  INFO(traced.run.err);
  REQUIRE_FALSE(text.empty());
  traced.document = nlohmann::json::parse(text);
  return traced;
}

std::uint64_t calls_of(const nlohmann::json& document,
                       const std::string& symbol,
                       const std::string& key) {
  std::uint64_t sum = 0;
  for (const auto& row : document["calls"]) {
    if (row["symbol"] == symbol && !row[key].is_null()) {
      sum += row[key].get<std::uint64_t>();
    }
  }
  return sum;
}

ProgramRun attach(pid_t process, const Words& options) {
  Words words{"calls", "-p", std::to_string(process)};
  words.insert(words.end(), options.begin(), options.end());
  if (std::find(options.begin(), options.end(), "--json") != options.end()) {
    words.emplace_back("-c");
  }
  return run_tracso(words);
}

nlohmann::json attached_document(const ProgramRun& run) {
  INFO(run.err << run.out);
  REQUIRE(run.status == 0);
  return nlohmann::json::parse(run.out);
}

std::vector<nlohmann::json> records_of(const std::string& text) {
  std::vector<nlohmann::json> records;
  for (const auto& line : lines_of(text)) {
    records.push_back(nlohmann::json::parse(line));
  }
  return records;
}

std::string attached_program(const std::string& options) {
  static int number = 0;
  const auto folder = fmt::format("{}/attach-{}", scratch_folder(), ++number);
  REQUIRE(::mkdir(folder.c_str(), 0755) == 0);
  const auto from = tests_file("live/calls");
  shell(
      fmt::format("cd {0} && g++ -O2 {2} -fPIC -shared {1}/library.cpp -o libfirst.so -pthread && "
                  "gcc -O2 {2} -fPIC -shared {1}/plugin.c -o libplugin.so && "
                  "gcc -O2 -w {2} {1}/attached.c -o attached -L. -lfirst -Wl,-rpath,'$ORIGIN' "
                  "-pthread -ldl -lm",
                  folder,
                  from,
                  options));
  return folder + "/attached";
}

void check_untouched(Child& child) {
  child.write("end\n");
  const auto said = child.line();
  REQUIRE(said);
  CHECK(*said == "faults 0 changed 0 worked 1");
  CHECK(child.wait() == 0);
}

}  // namespace tracso::test
