#include "support/loader_cases.hpp"

#include "base/text.hpp"
#include "support/places.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tracso::test {
namespace {

// Below /tmp for everyone: some rows are started by another user.
class CaseDirectory {
 public:
  CaseDirectory() {
    std::string name = "/tmp/tracso-loader-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) {
      path_ = name;
      std::filesystem::permissions(path_, std::filesystem::perms(0755));
    }
  }

  CaseDirectory(const CaseDirectory&) = delete;
  CaseDirectory& operator=(const CaseDirectory&) = delete;

  ~CaseDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

LoaderCase parse_row(const std::string& line) {
  std::vector<std::string> fields;
  for (const auto field : split(line, '\t')) {
    fields.emplace_back(field);
  }
  fields.resize(12);
  return {fields[0],
          fields[1],
          fields[2],
          fields[3],
          fields[4],
          fields[5],
          fields[6],
          fields[7],
          fields[8],
          fields[9],
          fields[10],
          fields[11]};
}

std::vector<LoaderCase> run_script(const std::string& directory) {
  const std::string out = directory + "/rows.tsv";
  const std::string command = "bash '" + tests_file("loader/elf_cases.sh") + "' '" + directory +
                              "/cases' --verify > '" + out + "' 2> '" + directory + "/errors'";
  if (std::system(command.c_str()) != 0) {  // NOLINT(cert-env33-c): a test
    std::ifstream errors(directory + "/errors");
    std::ostringstream text;
    text << errors.rdbuf();
    std::fprintf(stderr, "elf_cases.sh failed:\n%s\n", text.str().c_str());
  }
  std::vector<LoaderCase> rows;
  std::ifstream in(out);
  std::string line;
  std::getline(in, line);  // the header
  while (std::getline(in, line)) {
    rows.push_back(parse_row(line));
  }
  return rows;
}

}  // namespace

const std::vector<LoaderCase>& loader_cases() {
  static const CaseDirectory directory;
  static const std::vector<LoaderCase> rows = run_script(directory.path());
  return rows;
}

std::string case_variable(const LoaderCase& row, const std::string& name) {
  return row.environment.rfind(name + "=", 0) == 0 ? row.environment.substr(name.size() + 1) : "";
}

}  // namespace tracso::test
