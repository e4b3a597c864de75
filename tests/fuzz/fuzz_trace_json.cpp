// A saved document from anywhere: reading it ends with a trace or an Error, and a trace that was
// read can be summed up and printed in every form.
#include "tracso/analysis.hpp"
#include "tracso/renderer.hpp"

#include "graph/trace_json.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void print_all(const tracso::Trace& trace) {
  const tracso::Summary summary = tracso::summarize(trace, tracso::ByteKind::file);
  tracso::RenderOptions options;
  options.width = trace.graph.nodes().size() % 2 == 0 ? 0 : 40;
  for (const tracso::RendererEntry& entry : tracso::renderers()) {
    const auto renderer = entry.make(options);
    const auto text = renderer->trace(trace, summary);
    const auto answer = tracso::explain_why(trace, summary, "lib", options.depth);
    const auto why = renderer->why(trace, summary, answer);
    if (!text || (!why && why.error().reason.empty())) {  // not every form answers a question
      std::abort();
    }
    // What was read can be written, and read again as the same.
    if (entry.name == "json") {
      const auto again = tracso::read_trace_json(text.value(), "again");
      if (!again || !(again.value() == trace)) {
        std::abort();
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto trace = tracso::read_trace_json(text, "fuzz");
  if (trace) {
    print_all(trace.value());
  }
  return 0;
}
