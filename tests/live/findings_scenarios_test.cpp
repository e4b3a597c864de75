// Scenarios whose answer is a finding: what the person who reported it would have wanted to read.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/scenario.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <set>

namespace tracso::test {
namespace {

nlohmann::json finding(const nlohmann::json& all, const std::string& code) {
  for (const auto& one : all.at("findings")) {
    if (one.at("code") == code) {
      return one;
    }
  }
  return nullptr;
}

bool is_about(const nlohmann::json& found, const std::string& node) {
  const auto& nodes = found.at("nodes");
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

}  // namespace

TEST_CASE("scenario 01: two OpenMP runtimes with who brought them; a link is no third",
          "[live][findings][scenario]") {
  if (run_program({"sh", "-c", "ls /usr/lib/llvm-*/lib/libomp.so.5"}).status != 0) {
    WARN("NOT TRIED: LLVM's OpenMP runtime is not on this machine");
    return;
  }
  const Scenario scenario("01-two-openmp.sh");
  const auto all = document({scenario.pid()});
  const auto found = finding(all, "dup-openmp");
  REQUIRE(found.is_object());
  CHECK(found.at("nodes").size() == 2);
  CHECK(is_about(found, "libgomp.so.1"));
  CHECK(found.at("owners") == nlohmann::json::array({"py:pkga._a", "py:pkgb._b"}));
  CHECK(found.at("severity") == "warning");
}

TEST_CASE("scenario 08: what one import costs stands at its package", "[live][scenario]") {
  const Scenario scenario("08-import-cost.sh");
  const auto all = document({scenario.pid()});
  for (const auto& package : all.at("packages")) {
    if (package.at("name") == "py:heavy._core") {
      CHECK(package.at("libraries") == 2);
      CHECK(package.at("file_bytes").get<long>() > 3'000'000);
      return;
    }
  }
  FAIL("no package py:heavy._core");
}

TEST_CASE("scenario 08: what import numpy costs, and who is to blame for libcrypto",
          "[live][scenario]") {
  const std::string python = "/usr/bin/python3";
  if (run_program({python, "-c", "import numpy"}).status != 0) {
    WARN("NOT TRIED: " << python << " has no numpy");
    return;
  }
  const auto bare = document({"--run", python, "-c", "pass"});
  const auto heavy = document({"--run", python, "-c", "import numpy"});
  CHECK(heavy.at("totals").at("libraries") >= bare.at("totals").at("libraries").get<int>() + 15);
  // Bytes are those of the files, each once, whatever release of numpy this is.
  std::uintmax_t bytes = 0;
  std::set<std::string> files;
  for (const auto& node : heavy.at("nodes")) {
    const bool counts = node.at("kind") == "library" || node.at("kind") == "loader";
    if (counts && node.at("loaded") == true) {
      files.insert(node.at("path").get<std::string>());
    }
  }
  for (const std::string& file : files) {
    struct stat found {};

    REQUIRE(::stat(file.c_str(), &found) == 0);
    bytes += static_cast<std::uintmax_t>(found.st_size);
  }
  CHECK(heavy.at("totals").at("libraries") == files.size());
  CHECK(heavy.at("totals").at("file_bytes") == bytes);
  const auto why = run_tracso({"--why", "libcrypto", "--run", python, "-c", "import numpy"}).out;
  INFO(why);
  CHECK(contains(why, "py:_hashlib"));
  CHECK(contains(why, "secrets"));
  CHECK(contains(why, "hmac.py"));
}

TEST_CASE("scenario 10: hazards of loading, and none that is not there",
          "[live][findings][scenario]") {
  const Scenario scenario("10-load-hazards.sh");
  const auto all = document({scenario.pid()});
  CHECK(is_about(finding(all, "execstack"), "libexecstack.so"));
  CHECK(is_about(finding(all, "textrel"), "libtextrel.so"));
  const auto places = finding(all, "path-writable");
  REQUIRE(places.is_object());
  CHECK(contains(places.at("evidence").dump(), "/ww, where libinww.so lies"));
  const auto memory = finding(all, "mem-rwx");
  REQUIRE(memory.is_object());
  CHECK(contains(memory.at("evidence").dump(), "[stack]"));
  CHECK(contains(memory.at("evidence").dump(), "anonymous memory"));
  CHECK(finding(all, "deleted").is_null());  // "/dev/zero (deleted)" is no library
  const auto tls = finding(all, "static-tls");
  CHECK(is_about(tls, "libtls1.so"));
  CHECK_FALSE(is_about(tls, "libtlsdyn.so"));
}

TEST_CASE("scenario 11: two OpenSSL majors kept apart by versions are a note",
          "[live][findings][scenario]") {
  const Scenario scenario("11-two-openssl-majors.sh");
  const auto all = document({scenario.pid()});
  const auto found = finding(all, "dup-openssl");
  REQUIRE(found.is_object());
  CHECK(found.at("severity") == "note");
  CHECK(contains(found.at("evidence").dump(), "no symbol of one goes to the other"));
  CHECK(contains(found.at("owners").dump(), "py:pq._pq"));
  CHECK(contains(found.at("owners").dump(), "py:_ssl"));
  CHECK(
      contains(found.at("evidence").dump(), "libcrypto-1b6775a1.so.1.1 is 1.1.1w (its own text)"));
  CHECK(contains(found.at("evidence").dump(), "libcrypto.so.3 is 3."));
  // The plain report reads no symbols, and says so.
  CHECK(contains(run_tracso({"--who", "openssl"}).out, "1.1.1w (its own text)"));
}

TEST_CASE("scenario 04: a library overwritten in place is told from a touched one",
          "[live][findings][scenario]") {
  const Scenario scenario("04-deleted-after-upgrade.sh");
  const auto all = document({scenario.pid()});
  const auto found = finding(all, "rewritten");
  REQUIRE(found.is_object());
  CHECK(is_about(found, "libinplace.so.1"));
  CHECK_FALSE(is_about(found, "libsame.so.1"));
}

TEST_CASE("findings: a dlopen that was tried in vain, with the line and the places",
          "[live][findings][run]") {
  const TemporaryFolder folder;
  const std::string script = folder.path() + "/tries.py";
  std::ofstream(script) << "import ctypes\n"
                           "try: ctypes.CDLL('libnothere.so.9')\n"
                           "except OSError: pass\n";
  const auto found = finding(document({"--run", "/usr/bin/python3", script}), "load-refused");
  REQUIRE(found.is_object());
  CHECK(found.at("severity") == "note");
  CHECK(found.at("owners") == nlohmann::json::array({"py:_ctypes"}));
  const std::string evidence = found.at("evidence").dump();
  CHECK(contains(evidence, "asked for at tries.py:2"));
  CHECK(contains(evidence, "looked in /etc/ld.so.cache"));
  const ProgramRun gated =
      run_tracso({"--fail-on", "code:load-refused", "--run", "/usr/bin/python3", script});
  CHECK(gated.status == 1);
}

// A library without versions, which the loader only warns of, and without what is wanted of it.
TEST_CASE("findings: a program that the loader ended before its start", "[live][findings][run]") {
  const Workshop shop;
  shop.write("good.c", "int value = 1;\nint get_value(void) { return value; }\n");
  shop.write("bad.c", "int nothing(void) { return 0; }\n");
  shop.write("versions", "V1 { global: value; get_value; local: *; };\n");
  shop.write("main.c",
             "extern int value;\nextern int get_value(void);\n"
             "int main(void) { return value + get_value(); }\n");
  REQUIRE(
      shop.run("mkdir bad && gcc -shared -fPIC good.c -o libdep.so -Wl,--version-script=versions "
               "&& gcc -shared -fPIC bad.c -o bad/libdep.so && gcc -fPIC -pie main.c -o main -L. "
               "-ldep -Wl,-rpath,\"$PWD\""));
  const std::string here = "LD_LIBRARY_PATH=" + shop.path("bad");
  const auto seen = document({"--run", "/usr/bin/env", here, shop.path("main")});
  REQUIRE(seen.at("command").at("exit_status") == 127);
  CHECK(finding(seen, "preload-late").is_null());
  const auto found = finding(seen, "load-refused");
  REQUIRE(found.is_object());
  CHECK(contains(found.dump(), "undefined symbol: value"));
  CHECK_FALSE(contains(seen.at("findings").dump(), "no version information"));
  CHECK_FALSE(contains(seen.at("failed_loads").dump(), "no version information"));
}

TEST_CASE("findings: a start without a preload is one", "[live][findings][run]") {
  const auto seen = document({"--run", "/usr/bin/env", "LD_PRELOAD=/nowhere/gone.so", "/bin/true"});
  const auto found = finding(seen, "load-refused");
  REQUIRE(found.is_object());
  CHECK(found.at("severity") == "warning");
  CHECK(contains(found.at("title"), "the loader refused gone.so"));
  CHECK_FALSE(contains(seen.at("notices").dump(), "start-refused"));
}

TEST_CASE("findings: node and sleep are clean", "[live][findings]") {
  const std::vector<std::string> argv = GENERATE(
      std::vector<std::string>{
          "/usr/bin/node", "-e", "console.log('ready'); setInterval(()=>{}, 1e6)"},
      std::vector<std::string>{"/bin/sh", "-c", "echo ready; read line"},
      std::vector<std::string>{
          "/usr/bin/python3", "-c", "import ssl,sqlite3,ctypes; print('ready'); input()"});
  if (::access(argv.front().c_str(), X_OK) != 0) {
    WARN("NOT TRIED: " << argv.front() << " is not on this machine");
    return;
  }
  Child child(argv, {"PYTHONUNBUFFERED=1"});
  REQUIRE(child.line() == "ready");
  const auto seen = document({std::to_string(child.pid())});
  for (const auto& one : seen.at("findings")) {
    INFO(one.dump());
    CHECK(one.at("severity") == "note");
  }
}

}  // namespace tracso::test
