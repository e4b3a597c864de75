// Who imported an extension module, and which distribution it belongs to: from the sources and
// records of a real process to JSON, --why, the last trace and a recording.

#include "base/text.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/scenario.hpp"

#include <signal.h>

#include <algorithm>
#include <filesystem>

namespace tracso::test {
namespace {

const std::string target_script = test::tests_file("live/importers_target.py");

struct Row {
  std::string extension, importer, line, file;
};

// A process that has imported the package "made"; what its own audit hook saw.
class Importing {
 public:
  /// `before`: the command that starts it in other surroundings.
  explicit Importing(const std::string& python, std::vector<std::string> before = {})
      : child_(command(std::move(before), python, folder_.path())) {
    for (auto line = child_.line(); line && *line != "end"; line = child_.line()) {
      const auto words = split(*line, ' ');
      REQUIRE(words.size() == 4);
      rows.push_back({std::string(words[0]),
                      std::string(words[1]),
                      std::string(words[2]),
                      std::string(words[3])});
    }
    REQUIRE(!rows.empty());
    REQUIRE(rows.front().extension.starts_with("made.inner."));
  }

  std::string pid() const { return std::to_string(child_.pid()); }

  int stop() {
    kill(child_.pid(), SIGKILL);
    return child_.wait();
  }

  /// "_queue.so", as the report names it.
  std::string library() const {
    return rows.front().extension.substr(std::string("made.inner.").size()) + ".so";
  }

  std::string site() const { return folder_ / "site-packages"; }

  std::vector<Row> rows;

 private:
  static std::vector<std::string> command(std::vector<std::string> before,
                                          const std::string& python,
                                          const std::string& folder) {
    before.insert(before.end(), {python, target_script, folder});
    return before;
  }

  TemporaryFolder folder_;
  Child child_;
};

// The first importer of the edge from py:NAME to its file; null: it has none.
nlohmann::json importer_of(const nlohmann::json& document, const std::string& name) {
  for (const auto& edge : document.at("edges")) {
    if (edge.at("source") == "py:" + name && !edge.at("importers").empty()) {
      return edge.at("importers").at(0);
    }
  }
  return nullptr;
}

bool is(const nlohmann::json& importer, const Row& row) {
  return importer.is_object() && importer.at("module") == row.importer &&
         importer.at("file") == row.file &&
         std::to_string(importer.at("line").get<int>()) == row.line;
}

std::string distribution_of(const nlohmann::json& document, const std::string& package) {
  for (const auto& one : document.at("packages")) {
    if (one.at("name") == package && one.at("distribution").is_string()) {
      return one.at("distribution");
    }
  }
  return "";
}

TEST_CASE("importers: the document has the line that imported a module", "[live][importers]") {
  for (const auto& python : pythons()) {
    INFO(python.program << " " << python.label);
    const Importing target(python.program);
    const auto all = document({"--name-depth", "0", target.pid()});
    const Row& made = target.rows.front();
    CHECK(made.importer == "made.use");
    CHECK(made.line == "3");
    std::size_t right = 0, modules = 0;
    for (const auto& row : target.rows) {
      const auto importer = importer_of(all, row.extension);
      INFO(row.extension << " is imported by " << row.importer << ":" << row.line << ", inferred "
                         << importer.dump());
      CHECK((importer.is_null() || importer.at("confidence") == "inferred"));
      if (&row == &made) {
        CHECK(is(importer, row));
      }
      ++modules;
      right += is(importer, row) ? 1 : 0;
    }
    CHECK(right * 4 >= modules * 3);
    CHECK(distribution_of(all, "py:" + made.extension) == "made 1.2");
    CHECK(distribution_of(all, "py:_ssl").empty());
    CHECK(notice_codes(all) == std::vector<std::string>());
  }
}

TEST_CASE("importers: a module that sys.modules has without its package belongs to its folder",
          "[live][importers]") {
  const TemporaryFolder folder;
  const std::string script = R"(
import importlib.util, os, shutil, sys
site = sys.argv[1] + '/site-packages'
def load(folder):
    os.makedirs(site + '/' + folder, exist_ok=True)
    path = site + '/' + folder + '/' + os.path.basename(source)
    shutil.copy(source, path)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
for name, folder in (('_lsprof', 'made/inner'), ('_multibytecodec', 'beside')):
    source = importlib.util.find_spec(name).origin
    made = source if folder.startswith('made') else made
    load(folder)
open(site + '/made/__init__.py', 'w').close()
os.mkdir(site + '/made_of-1.5.dist-info')
with open(site + '/made_of-1.5.dist-info/METADATA', 'w') as file:
    file.write('Name: made-of\nVersion: 1.5\n')
with open(site + '/made_of-1.5.dist-info/RECORD', 'w') as file:
    file.write('made/inner/' + os.path.basename(made) + ',,\n')
print('ready', flush=True)
sys.stdin.read()
)";
  Child child({"/usr/bin/python3", "-c", script, folder / ""});
  REQUIRE(child.line() == "ready");
  const auto all = document({std::to_string(child.pid())});
  CHECK(distribution_of(all, "py:made.inner") == "made-of 1.5");
  std::string packages;
  for (const auto& one : all.at("packages")) {
    packages += one.at("name").get<std::string>() + "\n";
  }
  INFO(packages);
  const auto& modules = all.at("modules");  // as sys.modules has them
  CHECK(std::any_of(modules.begin(), modules.end(), [](const nlohmann::json& one) {
    return one.at("name") == "_lsprof";
  }));
  CHECK_FALSE(contains(packages, "py:_lsprof"));
  CHECK(contains(packages, "py:_multibytecodec"));  // "beside" is no package
}

TEST_CASE("importers: --why says probably, with the distribution", "[live][importers]") {
  const Importing target("/usr/bin/python3");
  const auto why = run_tracso({"--why", target.library(), target.pid()});
  INFO(why.out << why.err);
  CHECK(why.status == 0);
  CHECK(contains(why.out, "probably imported by made/use.py:3 (made.use)\n"));
  CHECK(contains(why.out, "(made 1.2)"));
  // A plain report shows no importer and reads no source; --tree knows the distribution.
  const auto plain = run_tracso({target.pid()});
  CHECK_FALSE(contains(plain.out, "imported by"));
  CHECK(contains(run_tracso({"--tree", target.pid()}).out, "(made 1.2)"));
}

TEST_CASE("importers: the last trace is completed while its process runs", "[live][importers]") {
  const TemporaryFolder state;
  const ProgramOptions options{
      {"XDG_STATE_HOME=" + state.path(), "TRACSO_NO_STATE=0"}, "", std::chrono::seconds(60)};
  Importing target("/usr/bin/python3");
  CHECK(run_tracso({target.pid()}, options).status == 0);
  const auto why = run_tracso({"--why", target.library()}, options);
  INFO(why.out << why.err);
  CHECK(contains(why.out, "probably imported by made/use.py:3 (made.use)\n"));
  CHECK_FALSE(contains(why.err, "has ended"));
  CHECK(contains(run_tracso({"--tree"}, options).out, "(made 1.2)"));
  target.stop();
  const auto late = run_tracso({"--why", target.library()}, options);
  INFO(late.out << late.err);
  CHECK(late.status == 0);
  CHECK_FALSE(contains(late.out, "imported by"));
  CHECK(contains(late.err, "before it was asked who imported"));
}

TEST_CASE("importers: a recording has the answer and no source", "[live][importers]") {
  const TemporaryFolder folder;
  Importing target("/usr/bin/python3");
  const auto live = document({target.pid()});
  REQUIRE(run_tracso({"record", target.pid(), "-o", folder / "made/"}).status == 0);
  target.stop();
  std::filesystem::remove_all(target.site());
  const auto later = document({"--from", folder / "made"});
  CHECK(later.at("edges") == live.at("edges"));
  const auto package = "py:" + target.rows.front().extension.substr(0, sizeof "made.inner" - 1);
  CHECK(distribution_of(live, package) == "made 1.2");
  CHECK(distribution_of(later, package) == "made 1.2");
  const auto why = run_tracso({"--from", folder / "made", "--why", target.library()});
  CHECK(contains(why.out, "probably imported by made/use.py:3 (made.use)\n"));
  for (const char* part : {"recording.json", "data.bin", "maps", "smaps"}) {
    INFO(part);
    const auto text = read_file(folder / std::string("made/") + part);
    CHECK_FALSE(text.empty());
    CHECK_FALSE(contains(text, "remark"));
    CHECK_FALSE(contains(text, "of nothing"));
  }
}

TEST_CASE("importers: sources are read in the target's own mounts", "[live][importers]") {
  if (run_program({"unshare", "--mount", "true"}).status != 0) {
    WARN("no mount namespace can be made here: not tried");
    return;
  }
  // What the process imports lies on a file system that only it sees.
  const Importing target(
      "/usr/bin/python3",
      {"unshare", "--mount", "sh", "-c", "mount -t tmpfs none $3; exec $@", "sh"});
  const Row& made = target.rows.front();
  REQUIRE_FALSE(std::filesystem::exists(target.site()));
  std::filesystem::create_directories(target.site() + "/made");
  write_file(target.site() + "/made/use.py", "\n\n\n\n\nimport " + made.extension + "\n");
  const auto all = document({"--name-depth", "0", target.pid()});
  CHECK(is(importer_of(all, made.extension), made));
  CHECK(distribution_of(all, "py:" + made.extension) == "made 1.2");
}

TEST_CASE("importers: sources that are gone are said", "[live][importers]") {
  const Importing target("/usr/bin/python3");
  std::filesystem::remove_all(target.site());
  const auto all = document({"--name-depth", "0", target.pid()});
  CHECK(importer_of(all, target.rows.front().extension).is_null());
  const auto codes = notice_codes(all);
  CHECK(std::find(codes.begin(), codes.end(), "sources-unread") != codes.end());
}

}  // namespace
}  // namespace tracso::test
