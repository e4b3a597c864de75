// The story that --run tells of each library: when it came, who asked, which line imported it; what
// came and went; what the loader refused.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/scenario.hpp"

#include <algorithm>

namespace tracso::test {
namespace {

using nlohmann::json;

constexpr const char* python = "/usr/bin/python3";

// A program and a package of its own: app.py:2 -> pkg/__init__.py:3 -> pkg/deep.py:1 -> _hashlib.
class Story {
 public:
  Story() {
    workshop.run("mkdir pkg");
    workshop.write("app.py",
                   "import sys\n"
                   "import pkg\n"
                   "import ctypes\n"
                   "if len(sys.argv) > 1:\n"
                   "    ctypes.CDLL(sys.argv[1])\n"
                   "try:\n"
                   "    import broken\n"
                   "except ImportError:\n"
                   "    pass\n");
    workshop.write("pkg/__init__.py", "\n\nfrom . import deep\n");
    workshop.write("pkg/deep.py", "import _hashlib\n");
    // An extension module whose library is not there any more.
    workshop.library("libgone.so", "-Wl,-soname,libgone.so.3");
    workshop.library("broken.so", workshop.path("libgone.so"));
    workshop.library("libplain.so");
    workshop.run("rm libgone.so");
  }

  json run(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"--run", python, workshop.path("app.py")};
    words.insert(words.end(), more.begin(), more.end());
    return document(words);
  }

  Workshop workshop;
};

const json* load_of(const json& all, const std::string& id) {
  for (const auto& load : all.at("loads")) {
    if (load.at("object") == id) {
      return &load;
    }
  }
  return nullptr;
}

// "app.py:2 pkg.deep:..." as one text: the base names and lines of a chain.
std::string places(const json& imports) {
  std::string text;
  for (const auto& step : imports) {
    if (step.at("file").is_null()) {
      text += step.at("importer").is_null() ? "C" : step.at("importer").get<std::string>();
    } else {
      const auto file = step.at("file").get<std::string>();
      text += file.substr(file.rfind('/') + 1) + ":" + std::to_string(step.at("line").get<int>());
    }
    text += " ";
  }
  return text;
}

TEST_CASE("story: the line of every import that led to a library", "[live][run][story]") {
  const Story story;
  const auto all = story.run();
  const auto* hashlib = load_of(all, "_hashlib.so");
  REQUIRE(hashlib != nullptr);
  INFO(hashlib->dump(1));
  CHECK(places(hashlib->at("imports")) == "app.py:2 __init__.py:3 deep.py:1 ");
  CHECK(hashlib->at("imports").back().at("module") == "_hashlib");
  CHECK(hashlib->at("imports").back().at("importer") == "pkg.deep");
  CHECK(hashlib->at("cause") == "py:_hashlib");
  CHECK(hashlib->at("duration_ns").get<std::int64_t>() > 0);
  const auto* crypto = load_of(all, "libcrypto.so.3");
  REQUIRE(crypto != nullptr);
  CHECK(crypto->at("cause") == "_hashlib.so");
  CHECK(crypto->at("dlopen") == hashlib->at("dlopen"));
  CHECK(places(crypto->at("imports")) == "app.py:2 __init__.py:3 deep.py:1 ");

  const auto edge = edges_into(all, "_hashlib.so").front();
  REQUIRE(edge.at("importers").size() == 1);
  CHECK(edge.at("importers")[0].at("module") == "pkg.deep");
  CHECK(edge.at("importers")[0].at("line") == 1);
  CHECK(edge.at("importers")[0].at("confidence") == "observed");
}

TEST_CASE("story: what an import cost is what came under it", "[live][run][story]") {
  const Story story;
  const auto all = story.run();
  const auto& costs = all.at("import_costs");
  const auto pkg = std::find_if(
      costs.begin(), costs.end(), [](const json& cost) { return cost.at("module") == "pkg"; });
  REQUIRE(pkg != costs.end());
  CHECK(pkg->at("line") == 2);
  CHECK(pkg->at("libraries") == 2);  // _hashlib and libcrypto
  CHECK(pkg->at("file_bytes") ==
        node_named(all, "_hashlib.so").at("size").get<std::uint64_t>() +
            node_named(all, "libcrypto.so.3").at("size").get<std::uint64_t>());
  CHECK(pkg->at("load_ns").get<std::int64_t>() > 0);
}

TEST_CASE("story: ctypes opens at a line, and _ctypes is the caller", "[live][run][story]") {
  const Story story;
  const auto all = story.run({story.workshop.path("libplain.so")});
  const auto* plain = load_of(all, "libplain.so");
  REQUIRE(plain != nullptr);
  INFO(plain->dump(1));
  CHECK(plain->at("cause") == "_ctypes.so");
  const auto edges = edges_into(all, "libplain.so");
  REQUIRE(edges.size() == 1);
  CHECK(edges[0].at("source") == "_ctypes.so");
  CHECK(edges[0].at("kind") == "dlopen");
  // ctypes/__init__.py makes the call for the program's line 5.
  CHECK(contains(places(plain->at("imports")) + edges[0].dump(), "app.py:5"));
}

TEST_CASE("story: a refused library keeps the loader's words and the line", "[live][run][story]") {
  const Story story;
  const auto all = story.run();
  REQUIRE(all.at("failed_loads").size() >= 1);
  const auto& failed = all.at("failed_loads");
  const auto gone = std::find_if(failed.begin(), failed.end(), [](const json& one) {
    return one.at("name") == "libgone.so.3";
  });
  REQUIRE(gone != failed.end());
  CHECK(contains(gone->at("reason").get<std::string>(), "cannot open shared object file"));
  CHECK(contains(gone->at("meaning").get<std::string>(), "no place where the loader looks"));
  CHECK(contains(places(gone->at("imports")), "app.py:7"));
  const auto report = run_tracso({"--run", python, story.workshop.path("app.py")});
  CHECK(contains(report.out, "Refused by the loader"));
  CHECK(contains(report.out, "libgone.so.3"));
  const auto why = run_tracso({"--why", "libgone", "--run", python, story.workshop.path("app.py")});
  CHECK(why.status == 1);
  CHECK(contains(why.err, "the loader refused it: libgone.so.3: "));
}

TEST_CASE("story: what came and went is told and counts nowhere", "[live][run][story]") {
  const Workshop workshop;
  workshop.library("libplugin.so");
  workshop.write("host.c",
                 "#include <dlfcn.h>\n"
                 "int main(int argc, char **argv) {\n"
                 "  for (int i = 0; i < 2; ++i) {\n"
                 "    void *handle = dlopen(argv[1], RTLD_NOW);\n"
                 "    if (!handle) return 1;\n"
                 "    dlclose(handle);\n"
                 "  }\n"
                 "  return argc != 2;\n"
                 "}\n");
  REQUIRE(workshop.run("gcc host.c -o host -ldl"));
  const auto all = document({"--run", workshop.path("host"), workshop.path("libplugin.so")});
  std::size_t seen = 0;
  for (const auto& load : all.at("loads")) {
    if (contains(load.at("object").get<std::string>(), "libplugin.so")) {
      ++seen;
      CHECK(load.at("unloaded_ns").get<std::int64_t>() >= load.at("time_ns").get<std::int64_t>());
      CHECK(load.at("cause") == "host");
    }
  }
  CHECK(seen == 2);
  const auto node = node_named(all, "libplugin.so");
  REQUIRE_FALSE(node.is_null());
  CHECK(node.at("loaded") == false);
  CHECK(all.at("totals").at("libraries") == 2);  // libc and ld.so
}

TEST_CASE("story: callers of dlopen are named, of a plug-in by a plug-in too",
          "[live][run][story]") {
  const Scenario scenario("07-dlopen-attribution.sh");
  const std::string lab = scenario.lab();
  ProgramOptions options;
  options.environment = {"LAB=" + lab, "PYTHONPATH=" + lab + "/site"};
  const auto all =
      document({"--run", python, "-c", "import viactypes, viac._c; viac._c.call()"}, options);
  const auto cause = [&](const std::string& name) {
    const auto* load = load_of(all, name);
    return load == nullptr || load->at("cause").is_null() ? std::string("(none)")
                                                          : load->at("cause").get<std::string>();
  };
  CHECK(cause("libonly_ctypes.so") == "_ctypes.so");
  CHECK(cause("libouter.so") == "_c.so");
  CHECK(cause("libinner.so") == "libouter.so");
  for (const char* name : {"libonly_ctypes.so", "libouter.so", "libinner.so"}) {
    for (const auto& edge : edges_into(all, name)) {
      CHECK(edge.at("kind") == "dlopen");
      CHECK(edge.at("source") != "libc.so.6");
    }
  }
}

TEST_CASE("story: --why and the tree tell it, and a document keeps it", "[live][run][story]") {
  const Story story;
  TemporaryFolder state;
  ProgramOptions options;
  options.environment = {"TRACSO_NO_STATE=0", "XDG_STATE_HOME=" + state.path(), "LC_ALL=C.UTF-8"};
  REQUIRE(run_tracso({"--run", python, story.workshop.path("app.py")}, options).status == 0);
  const auto why = run_tracso({"--why", "libcrypto"}, options);
  CHECK(contains(why.out,
                 "app.py:2 → pkg/__init__.py:3 → pkg/deep.py:1 → _hashlib → libcrypto.so.3"));
  const auto tree = run_tracso({"--tree"}, options);
  CHECK(contains(tree.out, "Load order"));
  CHECK(contains(tree.out, "Import cost"));
  CHECK(contains(tree.out, "app.py:2 → pkg/__init__.py:3 → pkg/deep.py:1 → _hashlib"));
}

}  // namespace
}  // namespace tracso::test
