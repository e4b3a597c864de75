// What is drawn further to the right with each step must not grow with the square of a chain.

#include "tracso/analysis.hpp"

#include "render/why_text.hpp"
#include "support/build_trace.hpp"
#include "support/catch.hpp"
#include "support/render_cases.hpp"

#include <algorithm>
#include <string>

namespace tracso {
namespace {

constexpr std::size_t length = 2000, widest_allowed = 1100;

Trace long_chain() {
  test::TraceBuilder build;
  NodeId last = build.executable("/usr/bin/x");
  for (std::size_t i = 0; i < length; ++i) {
    const NodeId next = build.library("/l/lib" + std::to_string(i) + ".so");
    build.edge(build.needs(last, next)).importers = {{"m", "m.py", 1, true}};
    last = next;
  }
  return build.trace;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    widest = std::max(widest, end - at);
    at = end + 1;
  }
  return widest;
}

TEST_CASE("long chain: --why names each step, in lines that do not grow without end", "[render]") {
  const Trace trace = long_chain();
  const Summary summary = summarize(trace, ByteKind::file);
  const std::string text = why_text({}, trace, explain_why(trace, summary, "lib1999.so", 0));
  for (const std::size_t i : {std::size_t{0}, length / 2, length - 1}) {
    CHECK(text.find(" lib" + std::to_string(i) + ".so") != std::string::npos);
  }
  CHECK(std::count(text.begin(), text.end(), '\n') >= 2 * static_cast<std::ptrdiff_t>(length));
  CHECK(widest_line(text) < widest_allowed);
}

TEST_CASE("long chain: so does the tree", "[render]") {
  CHECK(widest_line(test::rendered("tree", long_chain())) < widest_allowed);
}

}  // namespace
}  // namespace tracso
