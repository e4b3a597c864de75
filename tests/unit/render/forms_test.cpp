#include "tracso/analysis.hpp"

#include "base/text.hpp"
#include "render/dot_look.hpp"
#include "render/words.hpp"
#include "support/catch.hpp"
#include "support/render_cases.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>

namespace tracso::test {
namespace {

// Fields of RFC 4180, quoted ones may hold line ends.
std::vector<std::vector<std::string>> parsed_csv(std::string_view text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& field = rows.back().back();
    if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += text[i++];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == ',') {
      rows.back().emplace_back();
    } else if (!quoted && text[i] == '\n') {
      rows.push_back({""});
    } else {
      field += text[i];
    }
  }
  rows.pop_back();
  return rows;
}

bool has_control_characters(std::string_view text) {
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f) {
      return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("renderers: each form of the table can be made, no other", "[render]") {
  std::set<std::string_view> names;
  for (const RendererEntry& entry : renderers()) {
    names.insert(entry.name);
    CHECK(make_renderer(entry.name, {}) != nullptr);
    CHECK_FALSE(entry.summary.empty());
  }
  // html needs d3, which a build may lack.
  CHECK(names ==
        std::set<std::string_view>{
            "report", "findings", "tree", "json", "csv", "dot", "html", "files", "files0"});
  CHECK(make_renderer("htm", {}) == nullptr);
}

TEST_CASE("renderers: a form without an answer to why says which have one", "[render]") {
  class Plain final : public Renderer {
   public:
    using Renderer::Renderer;

    Result<std::string> trace(const Trace&, const Summary&) const override { return std::string(); }
  };

  const auto answer = Plain(RenderOptions{}).why({}, {}, {});
  REQUIRE_FALSE(answer);
  CHECK(answer.error().kind == ErrorKind::unsupported);
  CHECK(answer.error().hint.find("--json") != std::string::npos);
}

TEST_CASE("report: nothing foreign reaches the terminal as a control", "[render][hostile]") {
  for (const char* form : {"report", "tree", "dot"}) {
    const std::string text = rendered(form, hostile());
    CHECK_FALSE(has_control_characters(text));
    CHECK(is_utf8(text));
  }
  CHECK_FALSE(has_control_characters(why_rendered("report", hostile(), "lib")));
  CHECK_FALSE(has_control_characters(why_rendered("report", hostile(), "\x1b[31m\n")));
}

TEST_CASE("report: limits of 0 show every row", "[render]") {
  RenderOptions options;
  options.limit_packages = options.limit_libraries = options.limit_orphans = 0;
  const std::string text = rendered("report", many(200), options);
  CHECK(text.find("more") == std::string::npos);
  CHECK(text.find("liborphan0.so") != std::string::npos);
}

TEST_CASE("report: a command that failed stands in the header", "[render]") {
  Trace trace = cyclic();
  trace.command = CommandInfo{{"prog"}, 3, std::nullopt, 1};
  CHECK(split(rendered("report", trace), '\n')[0].ends_with("2.9 KB · exit 3"));
  trace.command = CommandInfo{{"prog"}, 0, std::nullopt, 1};
  CHECK(split(rendered("report", trace), '\n')[0].ends_with("2.9 KB"));
  trace.command = CommandInfo{{"prog"}, std::nullopt, 11, 1};
  CHECK(split(rendered("report", trace), '\n')[0].ends_with("killed by SIGSEGV"));
  trace.command->signal = 40;
  CHECK(split(rendered("report", trace), '\n')[0].ends_with("killed by signal 40"));
}

TEST_CASE("report: a process whose libraries were not seen is not called static", "[render]") {
  Trace trace = statically_linked();
  CHECK(rendered("report", trace).find("statically linked") != std::string::npos);
  std::get<ObjectFile>(trace.graph.mutable_node(NodeId{1}).subject).elf.interp = "/lib64/ld.so";
  CHECK(rendered("report", trace).find("statically linked") == std::string::npos);
}

TEST_CASE("report: no line is wider than the terminal where names can give way", "[render]") {
  RenderOptions options;
  options.width = 80;
  const std::string text = rendered("report", many(100), options);
  for (const auto line : split(text, '\n')) {
    const bool is_row = line.find("░") != std::string::npos || line.find("█") != std::string::npos;
    CHECK((!is_row || display_width(line) <= 80));
  }
}

TEST_CASE("tree: a chain of ten thousand ends at the depth and needs no deep stack", "[render]") {
  TraceBuilder build;
  NodeId last = build.executable("/bin/prog");
  for (int i = 0; i < 10000; ++i) {
    const NodeId next = build.library(fmt::format("/lib/lib{}.so", i), 1);
    build.needs(last, next);
    last = next;
  }
  RenderOptions options;
  options.depth = 0;
  const std::string text = rendered("tree", build.trace, options);
  CHECK(text.find("below: --depth") != std::string::npos);
  CHECK(text.size() < 2'000'000);
}

TEST_CASE("tree: a cycle that nothing leads to is drawn", "[render]") {
  TraceBuilder build;
  const NodeId one = build.library("/lib/libone.so", 1);
  const NodeId two = build.library("/lib/libtwo.so", 1);
  build.needs(one, two);
  build.needs(two, one);
  const std::string text = rendered("tree", build.trace);
  CHECK(text.find("libone.so  1 B *") != std::string::npos);
  CHECK(rendered("dot", build.trace).find("libtwo.so") != std::string::npos);
}

TEST_CASE("tree: a rule stands only where a file was searched for", "[render]") {
  TraceBuilder build;
  const NodeId program = build.executable("/bin/prog");
  const NodeId one = build.library("/lib/libone.so", 1);
  const NodeId two = build.library("/lib/libtwo.so", 1);
  build.edge(build.needs(program, one)).rule = Rule::cache;
  build.edge(build.needs(one, two)).rule = Rule::already_loaded;
  const std::string text = rendered("tree", build.trace);
  CHECK(text.find("libone.so  1 B  ld.so.cache\n") != std::string::npos);
  CHECK(text.find("libtwo.so  1 B\n") != std::string::npos);
}

TEST_CASE("words: a setting is shown without the folders of its file", "[render]") {
  CHECK(shown_setting("RUNPATH of /a/b/_core.so") == "RUNPATH of _core.so");
  CHECK(shown_setting("LD_LIBRARY_PATH entry 2") == "LD_LIBRARY_PATH entry 2");
  CHECK(shown_setting("RPATH of /a/\x1b.so") == "RPATH of \\x1b.so");
}

TEST_CASE("json: every node and every edge has every key", "[render][json]") {
  const auto document = nlohmann::json::parse(rendered("json", everything()));
  const auto keys = [](const nlohmann::json& object) {
    std::set<std::string> names;
    for (const auto& item : object.items()) {
      names.insert(item.key());
    }
    return names;
  };
  for (const char* list : {"nodes", "edges"}) {
    for (const auto& one : document[list]) {
      CHECK(keys(one) == keys(document[list][0]));
    }
  }
  for (const char* key :
       {"id",       "name",   "kind",     "path",         "soname",      "build_id",  "device",
        "inode",    "size",   "resident", "private",      "relocations", "in_degree", "out_degree",
        "baseline", "loaded", "state",    "first_loader", "modules",     "sources"}) {
    CHECK(document["nodes"][0].contains(key));
  }
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
    CHECK(document["edges"][0].contains(key));
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
    CHECK(document.contains(key));
  }
}

TEST_CASE("json: a missing file has no path and its edge says so", "[render][json]") {
  const auto document = nlohmann::json::parse(rendered("json", file_with_missing()));
  CHECK(document["process"].is_null());
  CHECK(document["command"].is_null());
  bool seen = false;
  for (const auto& node : document["nodes"]) {
    if (node["name"] == "libnowhere.so.7") {
      seen = node["path"].is_null() && node["state"] == "missing" && !node["loaded"].get<bool>();
    }
  }
  CHECK(seen);
  CHECK(document["edges"].back()["kind"] == "missing");
  CHECK(document["edges"].back()["relation"] == "needed");
  CHECK(document["edges"].back()["search"].size() == 3);
}

TEST_CASE("json: a path that is not UTF-8 keeps its bytes in hex", "[render][json]") {
  const auto document = nlohmann::json::parse(rendered("json", hostile()));
  std::set<std::string> bytes;
  for (const auto& node : document["nodes"]) {
    if (node.contains("path_hex")) {
      bytes.insert(node["path_hex"].get<std::string>());
    }
  }
  CHECK(bytes ==
        std::set<std::string>{hex("/tmp/\xff\xfe raw \xc3.so"), hex("/tmp/\xfd\xfe raw \xc3.so")});
}

TEST_CASE("json: controls that JSON allows are escaped, and come back", "[render][json]") {
  const std::string path = "/tmp/a\x7f\xc2\x9b[2J\xc3\xa9.so";
  TraceBuilder build;
  build.library(path, 1);
  const std::string text = rendered("json", build.trace);
  CHECK(text.find('\x7f') == std::string::npos);
  CHECK(text.find("\xc2\x9b") == std::string::npos);
  CHECK(text.find("\xc3\xa9") != std::string::npos);
  CHECK(nlohmann::json::parse(text)["nodes"].back()["path"] == path);
}

TEST_CASE("csv: the old columns come first and every path comes back byte for byte",
          "[render][csv]") {
  const Trace trace = hostile();
  const auto rows = parsed_csv(rendered("csv", trace));
  REQUIRE(rows.size() == 8);
  std::set<std::string> paths;
  for (const auto& row : rows) {
    CHECK(row.size() == rows[0].size());
    paths.insert(row[1]);
  }
  CHECK(rows[0][0] == "soname");
  CHECK(rows[0][5] == "sources");
  CHECK(paths.contains("/tmp/line\nbreak\r\n\ttab.so"));
  CHECK(paths.contains("/tmp/a\"b,c;d\\N\\G.so"));
  CHECK(paths.contains("/tmp/\xff\xfe raw \xc3.so"));
}

TEST_CASE("dot: a text is shown as it is, never as markup or an escape", "[render][dot]") {
  CHECK(dot_string("a\"b") == R"("a\"b")");
  CHECK(dot_string("\\N") == R"("\\N")");
  CHECK(dot_string("end\\") == R"("end\\")");
  CHECK(dot_string("<b>&amp;</b>") == R"("<b>&amp;amp;</b>")");
  CHECK(dot_string("a\nb") == R"("a\\nb")");
  const std::vector<std::string> lines{"a\"", "b"};
  CHECK(dot_label(lines) == R"("a\"\nb")");
}

TEST_CASE("dot: a crowded picture marks common libraries instead of drawing edges",
          "[render][dot]") {
  const std::string small = rendered("dot", many(20));
  CHECK(small.find("· libc") == std::string::npos);
  const std::string large = rendered("dot", many(90));
  CHECK(large.find("· libc") != std::string::npos);
  CHECK(large.find("cluster_common") != std::string::npos);
  // n2 is libc: nothing leads to it any more.
  CHECK(small.find("-> n2 ") != std::string::npos);
  CHECK(large.find("-> n2 ") == std::string::npos);
}

TEST_CASE("dot: a depth leaves nodes out and says how many", "[render][dot]") {
  const std::string text = rendered("dot", everything(), {.depth = 1});
  CHECK(text.find("nodes beyond --depth") != std::string::npos);
  CHECK(text.find("libdnn") == std::string::npos);
  CHECK(rendered("dot", everything()).find("beyond") == std::string::npos);
}

}  // namespace tracso::test
