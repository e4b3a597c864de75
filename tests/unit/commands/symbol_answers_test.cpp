#include "commands/symbol_answers.hpp"

#include "tracso/analysis.hpp"

#include "support/build_trace.hpp"
#include "support/catch.hpp"

namespace tracso {

TEST_CASE("symbol answers: a process that ended while it was read is told by status 3",
          "[commands]") {
  test::TraceBuilder build;
  ProblemFacts facts;
  facts.looked = facts.symbols = true;
  for (const bool bindings : {true, false}) {
    TraceRequest request;
    request.output.file = "/dev/null";
    request.unused = !bindings;
    if (bindings) {
      request.bindings = "";
    }
    build.trace.partial = false;
    const Summary summary = summarize(build.trace, ByteKind::file);
    CHECK(answer_symbols(build.trace, summary, facts, request) == 0);
    build.trace.partial = true;
    CHECK(answer_symbols(build.trace, summary, facts, request) == 3);
  }
}

}  // namespace tracso
