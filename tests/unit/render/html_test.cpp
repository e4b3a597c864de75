#include "tracso/analysis.hpp"

#include "render/forms.hpp"
#include "render/why_text.hpp"
#include "support/catch.hpp"
#include "support/render_cases.hpp"

#include <nlohmann/json.hpp>

#include <string>

using namespace tracso;

namespace {

// The JSON text of the script element with that id.
std::string element(const std::string& page, const std::string& id) {
  const std::string open = "<script type=\"application/json\" id=\"" + id + "\">";
  const std::size_t begin = page.find(open);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = page.find("</script>", begin);
  REQUIRE(end != std::string::npos);
  return page.substr(begin + open.size(), end - begin - open.size());
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

bool built_without() {
  if (!has_html()) {
    WARN("skipped: this build has no d3 (node-d3), hence no HTML");
  }
  return !has_html();
}

}  // namespace

TEST_CASE("html: the page holds the document as --json prints it, and an answer per library",
          "[render][html]") {
  if (built_without()) {
    CHECK(make_renderer("html", {}) == nullptr);
    return;
  }
  const Trace trace = test::everything();
  const std::string page = test::rendered("html", trace);
  const auto document = nlohmann::json::parse(element(page, "document"));
  CHECK(document == nlohmann::json::parse(test::rendered("json", trace)));
  const auto answers = nlohmann::json::parse(element(page, "answers"));
  std::size_t libraries = 0;
  for (const auto& node : document.at("nodes")) {
    const bool library = node.at("kind") == "library" || node.at("kind") == "loader";
    if (library && !node.at("path").is_null()) {
      ++libraries;
      INFO(node.at("id"));
      CHECK(answers.at("texts").contains(node.at("id").get<std::string>()));
    }
  }
  CHECK(libraries > 2);
}

TEST_CASE("html: nothing of a hostile trace can leave its place", "[render][html]") {
  if (built_without()) {
    return;
  }
  const std::string hostile = test::rendered("html", test::hostile());
  const std::string plain = test::rendered("html", test::everything());
  CHECK(element(hostile, "document").find('<') == std::string::npos);
  CHECK(element(hostile, "answers").find('<') == std::string::npos);
  CHECK(count(hostile, "<script") == count(plain, "<script"));
  CHECK(count(hostile, "</script") == count(plain, "</script"));
  CHECK(hostile.find("default-src 'none'") != std::string::npos);
  for (const char* remote : {"src=\"http", "href=\"http", "@import", "fetch("}) {
    INFO(remote);
    CHECK(plain.substr(0, plain.find("id=\"document\"")).find(remote) == std::string::npos);
  }
}

TEST_CASE("html: --why chooses the library beforehand", "[render][html]") {
  if (built_without()) {
    return;
  }
  const std::string page = test::why_rendered("html", test::everything(), "libssl.so.3");
  const auto selected = nlohmann::json::parse(element(page, "answers")).at("selected");
  CHECK(selected.size() == 1);
}

TEST_CASE("html: the answer of each library is that of --why", "[render][html]") {
  if (built_without()) {
    return;
  }
  RenderOptions plain;
  plain.depth = 6;
  for (const Trace& trace : {test::everything(), test::cyclic(), test::hostile()}) {
    const auto answers = nlohmann::json::parse(element(test::rendered("html", trace), "answers"));
    const Summary summary = summarize(trace, ByteKind::file);
    for (std::size_t i = 0; i < trace.graph.nodes().size(); ++i) {
      const ObjectFile* file = object(trace.graph.nodes()[i]);
      if (file != nullptr && is_library(trace.graph.nodes()[i]) && !file->path.text.empty()) {
        INFO(file->path.text);
        CHECK(answers.at("texts").at(summary.ids[i]) ==
              why_text(plain, trace, explain_why(trace, summary, file->path.text, plain.depth)));
      }
    }
  }
}
