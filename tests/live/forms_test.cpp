// Every form of one real process: the contract of docs/json.md, sums to the byte, the same answer
// from a document and a recording.

#include "base/text.hpp"
#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/scenario.hpp"

#include <set>

namespace tracso::test {
namespace {

constexpr const char* script =
    "import ssl, sqlite3, ctypes, time; print('ready', flush=True); time.sleep(600)";

struct Python3 {
  Python3() : child({"/usr/bin/python3", "-c", script}) { REQUIRE(child.line() == "ready"); }

  std::string pid() const { return std::to_string(child.pid()); }

  Child child;
};

// What lies in memory changes from look to look, and with what other processes do.
nlohmann::json owners(const nlohmann::json& all) {
  auto packages = all.at("packages");
  for (auto& package : packages) {
    package.erase("resident_bytes");
    package.erase("private_bytes");
  }
  return packages;
}

std::string without_memory(const std::string& table) {
  std::string out;
  for (const std::string_view line : split(table, '\n')) {
    const auto fields = split(line, ',');
    for (std::size_t i = 0; i < fields.size(); ++i) {
      out += i == 6 || i == 7 ? "" : std::string(fields[i]) + ",";
    }
    out += '\n';
  }
  return out;
}

TEST_CASE("forms: packages sum to the totals, to the byte", "[live][forms]") {
  const Python3 python;
  const auto all = document({python.pid()});
  std::uint64_t packages = 0;
  double share = 0;
  for (const auto& package : all.at("packages")) {
    packages += package.at("file_bytes").get<std::uint64_t>();
    share += package.at("share").get<double>();
  }
  std::uint64_t libraries = 0;
  std::size_t count = 0;
  for (const auto& node : all.at("nodes")) {
    if ((node.at("kind") == "library" || node.at("kind") == "loader") &&
        node.at("loaded") == true) {
      libraries += node.at("size").get<std::uint64_t>();
      ++count;
    }
  }
  CHECK(packages == libraries);
  CHECK(all.at("totals").at("file_bytes") == libraries);
  CHECK(all.at("totals").at("libraries") == count);
  CHECK(share == Approx(1.0));
}

TEST_CASE("forms: every node and edge has every key, and edges name nodes", "[live][forms]") {
  const Python3 python;
  const auto all = document({python.pid()});
  std::set<std::string> ids;
  for (const auto& node : all.at("nodes")) {
    for (const char* key : {"id",       "name",        "kind",         "path",       "soname",
                            "build_id", "device",      "inode",        "size",       "resident",
                            "private",  "relocations", "in_degree",    "out_degree", "baseline",
                            "loaded",   "state",       "first_loader", "modules",    "sources"}) {
      INFO(key);
      CHECK(node.contains(key));
    }
    CHECK(ids.insert(node.at("id").get<std::string>()).second);
  }
  for (const auto& edge : all.at("edges")) {
    for (const char* key : {"source",
                            "target",
                            "kind",
                            "needed",
                            "rule",
                            "detail",
                            "optional",
                            "fatal",
                            "fragile",
                            "witnesses",
                            "search",
                            "importers"}) {
      INFO(key);
      CHECK(edge.contains(key));
    }
    CHECK(ids.count(edge.at("source").get<std::string>()) == 1);
    CHECK(ids.count(edge.at("target").get<std::string>()) == 1);
  }
  for (const char* key : {"schema",
                          "kind",
                          "version",
                          "target",
                          "interpreter",
                          "process",
                          "command",
                          "intrusion",
                          "totals",
                          "packages",
                          "nodes",
                          "edges",
                          "modules",
                          "loads",
                          "children",
                          "findings",
                          "notices"}) {
    INFO(key);
    CHECK(all.contains(key));
  }
  CHECK(all.at("schema") == "tracso/1");
  CHECK(all.at("intrusion").at("stopped_ns") == 0);
  CHECK(all.at("intrusion").at("code_executed") == false);
}

TEST_CASE("forms: every needed edge of a live process is witnessed by the loader",
          "[live][forms]") {
  const Python3 python;
  const auto all = document({python.pid()});
  std::size_t needed = 0;
  for (const auto& edge : all.at("edges")) {
    if (edge.at("kind") == "needed") {
      ++needed;
      const auto witnesses = edge.at("witnesses").get<std::set<std::string>>();
      CHECK(witnesses.count("link_map") == 1);
      CHECK(edge.at("rule") != nullptr);
    }
  }
  CHECK(needed > 10);
}

namespace {

std::string without_notable(const std::string& report) {
  const auto begin = report.find("\nNotable"), end = report.find("\nHeaviest");
  REQUIRE(begin < end);
  return report.substr(0, begin) + report.substr(end);
}

}  // namespace

TEST_CASE("forms: --files says which files are not on the disk as they are mapped",
          "[live][forms]") {
  const Workshop shop;
  const auto kept = shop.library("libkept.so");
  const auto gone = shop.library("libgone.so");
  const auto other = shop.library("libother.so");
  shop.write("opens.c",
             "#include <dlfcn.h>\n#include <stdio.h>\n#include <unistd.h>\n"
             "int main(int c,char**v){while(--c)if(!dlopen(*++v,RTLD_NOW))return 1;"
             "puts(\"ready\");fflush(stdout);pause();return 0;}\n");
  REQUIRE(shop.run("gcc opens.c -o opens -ldl"));
  Child child({shop.path("opens"), kept, gone, other});
  REQUIRE(child.line() == "ready");
  const std::string pid = std::to_string(child.pid());
  CHECK(run_tracso({"--files", pid}).err.empty());
  REQUIRE(shop.run("rm libgone.so && cp libkept.so new.so && mv new.so libother.so"));
  for (const char* form : {"--files", "--files0"}) {
    const auto listed = run_tracso({form, pid});
    CHECK(listed.status == 0);
    CHECK(contains(listed.err, gone + " is deleted; it is mapped and not listed"));
    CHECK(contains(listed.err, other + " was replaced; the file that stands there is listed"));
    CHECK_FALSE(contains(listed.err, kept));
    CHECK_FALSE(contains(listed.out, gone));
    CHECK(contains(listed.out, other));
  }
}

TEST_CASE("forms: a document and a recording give the same report as the process",
          "[live][forms]") {
  const Python3 python;
  TemporaryFolder folder;
  const ProgramRun live = run_tracso({python.pid()});
  REQUIRE(live.status == 0);
  REQUIRE(run_tracso({python.pid(), "-o", folder / "t.json"}).status == 0);
  for (const auto& destination : {folder / "r.tar.gz", folder / "r/"}) {
    REQUIRE(run_tracso({"record", python.pid(), "-o", destination}).status == 0);
    CHECK(run_tracso({"--from", destination}).out == live.out);
  }
  // The document knows more findings than the report of a process looks for.
  const std::string from_document = run_tracso({"--from", folder / "t.json"}).out;
  CHECK(without_notable(from_document) == without_notable(live.out));
  const std::string head = live.out.substr(0, live.out.find("\nHeaviest"));
  for (const auto line : split(head, '\n')) {
    INFO(line);
    CHECK(from_document.find(line) != std::string::npos);
  }
  CHECK(run_tracso({"--from", folder / "t.json", "--tree"}).out ==
        run_tracso({"--tree", python.pid()}).out);
  CHECK(without_memory(run_tracso({"--from", folder / "t.json", "--csv"}).out) ==
        without_memory(run_tracso({"--csv", python.pid()}).out));
  CHECK(run_tracso({"--from", folder / "t.json", "--why", "libssl"}).out ==
        run_tracso({"--why", "libssl", python.pid()}).out);
}

TEST_CASE("forms: the readelf reader gives the same document as the native one", "[live][forms]") {
  const Python3 python;
  const auto native = document({"--elf", "native", python.pid()});
  const auto readelf = document({"--elf", "readelf", python.pid()});
  CHECK(native.at("edges") == readelf.at("edges"));
  CHECK(native.at("totals").at("file_bytes") == readelf.at("totals").at("file_bytes"));
  CHECK(native.at("totals").at("libraries") == readelf.at("totals").at("libraries"));
}

TEST_CASE("forms: the probes agree on who brought what", "[live][forms]") {
  const Python3 python;
  const auto memory = document({"--probe", "memory", python.pid()});
  const auto gdb = document({"--probe", "gdb", python.pid()});
  const auto path = document({"--probe", "path", python.pid()});
  CHECK(owners(memory) == owners(gdb));
  CHECK(owners(memory) == owners(path));
  CHECK(gdb.at("intrusion").at("method") == "gdb");
  CHECK(gdb.at("intrusion").at("code_executed") == true);
  CHECK(gdb.at("intrusion").at("stopped_ns") > 0);
  CHECK(gdb.at("modules").size() == memory.at("modules").size());
}

TEST_CASE("forms: csv begins with the original's columns", "[live][forms]") {
  const Python3 python;
  const ProgramRun csv = run_tracso({"--csv", python.pid()});
  CHECK(csv.out.rfind("soname,path,size,in_degree,out_degree,sources", 0) == 0);
}

TEST_CASE("forms: the last trace answers the report's own hint", "[live][forms]") {
  const Python3 python;
  TemporaryFolder folder;
  ProgramOptions state;
  state.environment = {"TRACSO_NO_STATE=0", "XDG_STATE_HOME=" + folder.path()};
  CHECK(run_tracso({"--why", "libssl.so.3"}, state).status == 2);
  REQUIRE(run_tracso({python.pid()}, state).status == 0);
  const ProgramRun why = run_tracso({"--why", "libssl.so.3"}, state);
  CHECK(why.status == 0);
  CHECK(contains(why.err, "from the last trace, pid:" + python.pid()));
  CHECK(why.out == run_tracso({"--why", "libssl.so.3", python.pid()}).out);
  CHECK(run_tracso({"--tree"}, state).status == 0);
  CHECK(run_tracso({"--json", "--name-depth", "0"}, state).status == 0);
  CHECK(run_tracso({"--why", "libsll"}, state).status == 1);
  CHECK(run_program({"find", folder.path(), "-name", "last-trace-*", "-perm", "0600"}).out.size() >
        10);
}

TEST_CASE("forms: images through Graphviz", "[live][forms]") {
  const Python3 python;
  TemporaryFolder folder;
  for (const char* name : {"x.svg", "x.png", "x.pdf", "x.dot"}) {
    CHECK(run_tracso({python.pid(), "-o", folder / name}).status == 0);
    CHECK(read_file(folder / name).size() > 1000);
  }
}

TEST_CASE("forms: children are one line each, and join the graph only when asked",
          "[live][forms]") {
  // The child reads what its parent never writes: it ends with it, however that ends.
  Child parent({"/usr/bin/python3",
                "-c",
                "import subprocess, sys\n"
                "code = 'import sqlite3, sys; print(1, flush=True); sys.stdin.read()'\n"
                "p = subprocess.Popen([sys.executable, '-c', code], stdin=subprocess.PIPE,"
                " stdout=subprocess.PIPE)\n"
                "p.stdout.readline(); print('ready', flush=True)\n"
                "sys.stdin.read()"});
  REQUIRE(parent.line() == "ready");
  const std::string pid = std::to_string(parent.pid());
  const auto alone = document({pid});
  REQUIRE(alone.at("children").size() == 1);
  CHECK(alone.at("children").front().at("libraries_beyond_parent") >= 2);
  CHECK(node_named(alone, "libsqlite3.so.0").is_null());
  const auto joined = document({"--children", pid});
  CHECK(node_named(joined, "libsqlite3.so.0").is_object());
  CHECK(nodes_named(joined, "libc.so.6").size() == 1);
  CHECK(joined.at("totals").at("libraries") > alone.at("totals").at("libraries"));
}

TEST_CASE("forms: a document is read from a pipe and from gzip too", "[live][forms]") {
  const TemporaryFolder folder;
  const std::string document = folder / "t.json";
  REQUIRE(run_tracso({"--json", "/bin/ls", "-o", document}).status == 0);
  const auto plain = run_tracso({"--from", document});
  REQUIRE(plain.status == 0);
  const auto shell = [&](const std::string& line) {
    return run_program({"/bin/bash", "-c", line, test::tracso_binary(), document});
  };
  CHECK(shell("cat \"$1\" | \"$0\" --from -").out == plain.out);
  CHECK(shell("\"$0\" --from <(cat \"$1\")").out == plain.out);
  CHECK(shell("\"$0\" --from /dev/stdin < \"$1\"").out == plain.out);
  CHECK(shell("gzip -c \"$1\" | \"$0\" --from -").out == plain.out);
  const auto damaged = shell("head -c 100 \"$1\" | \"$0\" --from -");
  CHECK(damaged.status == 6);
  CHECK(contains(damaged.err, "not JSON"));
  const auto foreign = shell("echo hello | \"$0\" --from -");
  CHECK(foreign.status == 6);
  CHECK(contains(foreign.err, "neither JSON nor gzip"));
  const auto device = run_tracso({"--from", "/dev/zero"});
  CHECK(device.status != 0);
  CHECK(contains(device.err, "neither a file nor a pipe"));
}

TEST_CASE("forms: a file is resolved as if started from here, or inside a tree", "[live][forms]") {
  TemporaryFolder folder;
  write_file(folder / "a.c", "int a(void){return 1;}\n");
  write_file(folder / "p.c", "int a(void);int main(void){return a();}\n");
  REQUIRE(run_program({"gcc",
                       "-shared",
                       "-fPIC",
                       folder / "a.c",
                       "-o",
                       folder / "liba.so",
                       "-Wl,-soname,liba.so"})
              .status == 0);
  REQUIRE(run_program({"gcc", folder / "p.c", "-L" + folder.path(), "-la", "-o", folder / "p"})
              .status == 0);
  CHECK(document({folder / "p"}, {}, 1).at("nodes").size() > 2);
  ProgramOptions with_path;
  with_path.environment = {"LD_LIBRARY_PATH=" + folder.path()};
  const auto found = document({folder / "p"}, with_path);
  CHECK(edges_into(found, node_named(found, "liba.so").at("id")).front().at("rule") == "env");
  const auto rooted = document({"--root", "/", folder / "p"}, with_path, 1);
  CHECK(node_named(rooted, "liba.so").at("state") == "missing");
  CHECK(found.at("process").is_null());
  CHECK(found.at("target") == "p");
}

TEST_CASE("forms: --run prints the command's own output, its status, and its libraries",
          "[live][forms]") {
  const ProgramRun ran = run_tracso(
      {"--run", "/usr/bin/python3", "-c", "import ssl, sys; print('own output'); sys.exit(3)"});
  CHECK(ran.status == 0);
  CHECK(ran.out.rfind("own output\n", 0) == 0);
  CHECK(contains(ran.out, "exit 3"));
  CHECK(contains(ran.out, "libssl.so.3"));
  const ProgramRun json =
      run_tracso({"--json", "--run", "/usr/bin/python3", "-c", "import ssl; print('own output')"});
  CHECK(json.err == "own output\n");
  const auto all = nlohmann::json::parse(json.out);
  CHECK(all.at("command").at("exit_status") == 0);
  CHECK(all.at("process").at("python").at("modules") > 30);
  CHECK(run_tracso({"--run", "no-such-command-here"}).status == 127);
  CHECK(run_tracso({"--run", "/etc/passwd"}).status == 126);
}

}  // namespace
}  // namespace tracso::test
