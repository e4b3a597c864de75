// On a terminal no table, tree or sentence is wider than it, from 40 columns on.

#include "tracso/renderer.hpp"

#include "base/text.hpp"
#include "support/catch.hpp"
#include "support/render_cases.hpp"

using namespace tracso;

TEST_CASE("width: report, tree and findings fit 40 to 200 columns", "[render][width]") {
  const std::vector<Trace> traces{test::everything(),
                                  test::hostile(),
                                  test::file_with_missing(),
                                  test::preloaded(),
                                  test::many(90)};
  for (const Trace& trace : traces) {
    for (const std::size_t width : {40U, 48U, 56U, 60U, 72U, 80U, 92U, 120U, 200U}) {
      for (const ByteKind by : {ByteKind::file, ByteKind::private_bytes}) {
        for (const char* form : {"report", "tree", "findings"}) {
          RenderOptions options;
          options.width = width;
          const auto text = make_renderer(form, options)->trace(trace, summarize(trace, by));
          REQUIRE(text);
          for (const auto line : split(*text, '\n')) {
            const std::string_view words = trim(line);
            const bool one_word = words.find(' ') == std::string_view::npos;  // a path stays whole
            if (display_width(line) > width && !one_word) {
              FAIL_CHECK(form << " of " << trace.target << " at " << width << ": " << line);
            }
          }
        }
      }
    }
  }
}
