// The page holds two JSON texts: the document exactly as --json prints it, and for each library the
// text of --why. Both stand in script elements of a type that no browser runs, with every '<'
// written as \u003c, so that nothing in them can end the element. The script puts foreign text on
// the page as text only, and the page forbids itself the network.

#include "analysis/why_each.hpp"
#include "base/text.hpp"
#include "generated/html_page.hpp"
#include "render/forms.hpp"
#include "render/load_words.hpp"
#include "render/why_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace tracso {
namespace {

// Answers are the larger part of the page: 1,000 libraries take some 2 MB.
constexpr std::size_t answers_limit = std::size_t{12} << 20;
constexpr std::size_t answer_depth = 6;

std::string inert_json(std::string text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return out;
}

std::string answers(const Trace& trace, const Summary& summary, const WhyAnswer* chosen) {
  RenderOptions plain;
  nlohmann::json out = {{"texts", nlohmann::json::object()}, {"selected", nlohmann::json::array()}};
  WhyEach why(trace);
  const FirstLoads loads(trace);
  std::size_t bytes = 0;
  const auto nodes = trace.graph.nodes();
  for (std::size_t i = 0; i < nodes.size() && bytes < answers_limit; ++i) {
    const ObjectFile* file = object(nodes[i]);
    if (!is_library(nodes[i]) || file->path.text.empty()) {
      continue;
    }
    const WhyAnswer answer = why.about(static_cast<NodeId>(i), answer_depth);
    std::string text = to_utf8(why_text(plain, trace, loads, answer));
    bytes += text.size();
    out["texts"][to_utf8(summary.ids[i])] = std::move(text);
  }
  if (chosen != nullptr) {
    for (const WhyMatch& match : chosen->matches) {
      out["selected"].push_back(to_utf8(summary.ids[index(match.node)]));
    }
  }
  return out.dump();
}

// In one walk over the page, so that what is put in cannot be taken for a mark itself.
std::string filled(std::string_view page,
                   const std::vector<std::pair<std::string_view, std::string_view>>& parts) {
  std::string out;
  for (const auto& [mark, text] : parts) {
    const std::size_t at = page.find(mark);
    if (at == std::string_view::npos) {
      continue;
    }
    out += page.substr(0, at);
    out += text;
    page.remove_prefix(at + mark.size());
  }
  return out.append(page);
}

Result<std::string> page(const Trace& trace, const Summary& summary, const WhyAnswer* chosen) {
  auto document = JsonRenderer(RenderOptions{}).trace(trace, summary);
  if (!document) {
    return document;
  }
  const std::string title = html_text("tracso " + trace.target);
  const std::string json = inert_json(std::move(*document));
  const std::string texts = inert_json(answers(trace, summary, chosen));
  return filled(html_page,
                {{"@@TITLE@@", title},
                 {"@@CSS@@", html_css},
                 {"@@DOCUMENT@@", json},
                 {"@@ANSWERS@@", texts},
                 {"@@D3@@", html_d3},
                 {"@@SCRIPT@@", html_script}});
}

}  // namespace

bool has_html() {
  return !html_d3.empty();
}

Result<std::string> HtmlRenderer::trace(const Trace& trace, const Summary& summary) const {
  return page(trace, summary, nullptr);
}

Result<std::string> HtmlRenderer::why(const Trace& trace,
                                      const Summary& summary,
                                      const WhyAnswer& answer) const {
  return page(trace, summary, &answer);
}

}  // namespace tracso
