#pragma once
// Traces that several tests of the forms print.

#include "tracso/answers.hpp"
#include "tracso/renderer.hpp"

#include "support/build_trace.hpp"

#include <string>
#include <string_view>

namespace tracso::test {

/// The sample of the report's description: its numbers, with a summary made by hand.
struct Sample {
  Trace trace;
  Summary summary;
};

Sample sample();

/// A Python with two extension modules, a library both need and a missing one: costs, chains,
/// searches, findings, notices, loads, children, everything a document can hold.
Trace everything();
/// Names with escapes, quotes, line ends, markup, invalid UTF-8 and great length.
Trace hostile();
/// A FILE with a missing dependency.
Trace file_with_missing();
/// Two libraries that need each other.
Trace cyclic();
/// LD_PRELOAD with one library that is there and one that is not.
Trace preloaded();
/// A static program.
Trace statically_linked();
/// Many libraries in packages that share some; always the same.
Trace many(std::size_t libraries);

/// The form's text of the trace with the summary that analysis makes of it.
std::string rendered(std::string_view form, const Trace& trace, const RenderOptions& options = {});
std::string why_rendered(std::string_view form,
                         const Trace& trace,
                         std::string_view query,
                         const RenderOptions& options = {});

}  // namespace tracso::test
