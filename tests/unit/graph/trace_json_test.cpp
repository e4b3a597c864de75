#include "graph/trace_json.hpp"

#include "tracso/analysis.hpp"

#include "graph/json_item.hpp"
#include "graph/trace_words.hpp"
#include "support/catch.hpp"
#include "support/render_cases.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tracso::test {
namespace {

// A document of one program and one library, to be spoilt at one place.
std::string small_document(std::string_view from = "", std::string_view to = "") {
  std::string text = R"({"schema":"tracso/1","kind":"trace","target":"pid:1","process":{"pid":1},
    "nodes":[{"id":"prog","name":"prog","kind":"executable","path":"/bin/prog","size":7},
             {"id":"libz.so.1","name":"libz.so.1","kind":"library","path":"/lib/libz.so.1"}],
    "edges":[{"source":"prog","target":"libz.so.1","kind":"needed","rule":"cache"}]})";
  const std::size_t at = from.empty() ? std::string::npos : text.find(from);
  if (at != std::string::npos) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string reason(std::string_view text) {
  const auto read = read_trace_json(text, "old.json");
  if (read) {
    return "";
  }
  CHECK(read.error().kind == ErrorKind::malformed);
  CHECK(read.error().subject == "old.json");
  return read.error().reason;
}

std::vector<Trace> all_kinds() {
  return {everything(),
          hostile(),
          file_with_missing(),
          cyclic(),
          preloaded(),
          statically_linked(),
          many(100)};
}

}  // namespace

TEST_CASE("trace_json: memory by use that is missing or odd", "[graph][json]") {
  const auto read = read_trace_json(small_document(), "old.json");
  REQUIRE(read);
  CHECK_FALSE(read->memory);  // a document of before
  const auto with = [](const char* memory) {
    return small_document("\"nodes\"", std::string("\"memory\":") + memory + ",\"nodes\"");
  };
  const auto huge = read_trace_json(
      with(R"({"by_class":{"heap":{"resident":18446744073709551615},"other":{"resident":2}}})"),
      "huge.json");
  REQUIRE(huge);
  CHECK(huge->memory->total().resident == UINT64_MAX);
  CHECK(reason(with(R"({"by_class":{"heap":{"resident":-1}}})"))
            .starts_with("memory.by_class.heap.resident"));
  CHECK(reason(with("7")) == "memory: not an object");
}

TEST_CASE("trace_json: a document read back is the trace it was made from", "[graph][json]") {
  for (const Trace& trace : all_kinds()) {
    const std::string text = rendered("json", trace);
    const auto read = read_trace_json(text, "saved.json");
    REQUIRE(read);
    CHECK(read.value() == trace);
    CHECK(rendered("json", read.value()) == text);
    for (const char* form : {"report", "tree", "csv", "dot"}) {
      CHECK(rendered(form, read.value()) == rendered(form, trace));
    }
    CHECK(why_rendered("report", read.value(), "lib") == why_rendered("report", trace, "lib"));
  }
}

TEST_CASE("trace_json: the short form reads back as the same trace", "[graph][json]") {
  for (const Trace& trace : all_kinds()) {
    const std::string text = write_trace_json(trace);
    const auto read = read_trace_json(text, "last-trace.json");
    REQUIRE(read);
    CHECK(read.value() == trace);
    // Nothing in it is there for nothing, and nothing that a terminal would obey.
    for (const char* idle : {"null", "false", "[]", ":0,", "\x7f", "\xc2\x9b", "\x1b"}) {
      CHECK(text.find(idle) == std::string::npos);
    }
    CHECK(text.size() * 2 < rendered("json", trace).size());
  }
}

TEST_CASE("trace_json: odd texts in the short form", "[graph][json]") {
  Trace trace;
  trace.graph.add(TargetRoot{"pid:1", 1});
  trace.target = "\xc2\x9b[2J \x7f \t\"\\ \xc2\xa0 \xe2\x82\xac \xff";
  trace.modules = {{"", std::nullopt, ""}, {"a", "", "built-in"}};
  const auto read = read_trace_json(write_trace_json(trace), "last-trace.json");
  REQUIRE(read);
  CHECK(read.value() == trace);
}

TEST_CASE("trace_json: keys that an older document lacks read as nothing", "[graph][json]") {
  const auto read = read_trace_json(small_document(), "old.json");
  REQUIRE(read);
  REQUIRE(read->graph.nodes().size() == 2);
  REQUIRE(read->graph.edges().size() == 1);
  CHECK(read->graph.nodes()[0].cost.file == 7U);
  CHECK_FALSE(read->graph.nodes()[1].cost.file.has_value());
  CHECK(read->graph.edges()[0].rule == Rule::cache);
  CHECK(read->graph.edges()[0].kind == EdgeKind::needed);
}

TEST_CASE("trace_json: a missing or cycle edge without relation counts as needed",
          "[graph][json]") {
  const auto read =
      read_trace_json(small_document(R"("kind":"needed")", R"("kind":"cycle")"), "old.json");
  REQUIRE(read);
  CHECK(read->graph.edges()[0].kind == EdgeKind::needed);
}

TEST_CASE("trace_json: what is no document of ours is named as such", "[graph][json]") {
  CHECK(reason("") == "not JSON: it goes wrong at byte 1");
  CHECK(reason("{\"schema\":") == "not JSON: it goes wrong at byte 11");
  CHECK(reason("[1]") == "not a JSON object");
  CHECK(reason("{}") == "it has no \"schema\": it is not a document of tracso");
  CHECK(reason(small_document("tracso/1", "tracso/2")) ==
        "its schema is 'tracso/2', not 'tracso/1'");
  CHECK(reason(small_document("\"trace\"", "\"why\"")) ==
        "it is a document of kind 'why', not 'trace'");
  CHECK(reason(R"({"schema":"tracso/1","kind":"trace"})") == "nodes: missing");
}

TEST_CASE("trace_json: a wrong value is named with its place", "[graph][json]") {
  CHECK(reason(small_document(R"("size":7)", R"("size":-7)")) ==
        "nodes[0].size: not a whole number of at most 18446744073709551615");
  CHECK(reason(small_document(R"("size":7)", R"("size":1e300)")) ==
        "nodes[0].size: not a whole number of at most 18446744073709551615");
  CHECK(reason(small_document(R"("size":7)", R"("size":99999999999999999999999)")) ==
        "nodes[0].size: not a whole number of at most 18446744073709551615");
  CHECK(reason(small_document(R"("size":7)", R"("path":[])")) == "nodes[0].path: not a text");
  CHECK(reason(small_document(R"({"pid":1})", "[]")) == "process: not an object");
  CHECK(reason(small_document(R"({"pid":1})", R"({"pid":4294967296})")) ==
        "process.pid: not a whole number from -2147483648 to 2147483647");
  CHECK(reason(small_document(R"("rule":"cache")", R"("rule":"magic")")) ==
        "edges[0].rule: unknown word 'magic'");
  CHECK(reason(small_document(R"("rule":"cache")", R"("first":1)")) ==
        "edges[0].first: not true or false");
  CHECK(reason(small_document(R"("rule":"cache")", R"("search":{})")) ==
        "edges[0].search: not an array");
  CHECK(reason(small_document(R"("kind":"executable")", R"("kind":"gadget")")) ==
        "nodes[0].kind: unknown word 'gadget'");
  CHECK(reason(small_document(R"("kind":"executable")", R"("kind":"module")")) ==
        "nodes[0].name: a module's name begins with py:");
  CHECK(reason(small_document(R"("size":7)", R"("path_hex":"0g")")) ==
        "nodes[0].path_hex: not hexadecimal digits");
}

TEST_CASE("trace_json: ids must exist and be the id of one node", "[graph][json]") {
  CHECK(reason(small_document(R"("target":"libz.so.1")", R"("target":"libq.so")")) ==
        "edges[0].target: no node has the id 'libq.so'");
  CHECK(reason(small_document(R"("id":"libz.so.1")", R"("id":"prog")")) ==
        "nodes[1].id: 'prog' is the id of two nodes");
  CHECK(reason(R"({"schema":"tracso/1","kind":"trace","nodes":[],
                   "edges":[{"source":"a","target":"b"}]})") ==
        "edges[0].source: no node has the id 'a'");
}

TEST_CASE("trace_json: a bomb of brackets is refused before it is parsed", "[graph][json]") {
  const std::string bomb(1'000'000, '[');
  CHECK(reason(bomb) == "nested deeper than 64 levels");
  CHECK(reason("{\"schema\":\"" + std::string(1000, '[')) != "nested deeper than 64 levels");
  CHECK(json_shape(R"({"a\"[[[":[[]]})").depth == 3);
  std::string many = "{\"nodes\":[1";
  for (int i = 0; i < 10'000'000; ++i) {
    many += ",1";
  }
  CHECK(reason(many + "]}") == "more than 10000000 values");
}

TEST_CASE("trace_words: every enumerator with a word comes back from it", "[graph][json]") {
  for (const auto& entry : words(EdgeKind{})) {
    CHECK(from_word<EdgeKind>(word(entry.value)) == entry.value);
  }
  for (const auto& entry : words(SearchStep::Outcome{})) {
    CHECK(from_word<SearchStep::Outcome>(word(entry.value)) == entry.value);
  }
  CHECK(words(EdgeKind{}).size() == static_cast<std::size_t>(EdgeKind::dlopen) + 1);
  CHECK(words(Witness{}).size() == static_cast<std::size_t>(Witness::path) + 1);
  CHECK(words(Rule{}).size() == static_cast<std::size_t>(Rule::reserved));
  CHECK(word(Rule::none).empty());
  CHECK_FALSE(from_word<Rule>("").has_value());
}

}  // namespace tracso::test
