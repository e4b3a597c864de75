#include "commands/why_not_found.hpp"

#include "tracso/analysis.hpp"

#include "support/build_trace.hpp"
#include "support/catch.hpp"

#include <string>

namespace tracso {
namespace {

// Modules of a Python whose package is known by two pieces of its name.
Trace numpy_trace() {
  test::TraceBuilder build;
  build.executable("/usr/bin/python3.11");
  const NodeId blas = build.library("/lib/libblas.so.3", 400);
  build.needs(build.extension("numpy.linalg", "/n/_umath_linalg.so", 100), blas);
  build.extension("numpy.core", "/n/_multiarray.so", 100);
  build.extension("numpydoc", "/n/_documents.so", 100);
  build.extension("_ssl", "/l/_ssl.so", 100);
  build.connect(build.environment("env:LD_PRELOAD", "/lib/libhook.so"),
                build.library("/lib/libhook.so", 10),
                EdgeKind::preload);
  build.trace.modules = {{"json", "/l/json/__init__.py", ""}, {"numpy", "/n/__init__.py", ""}};
  return build.trace;
}

std::string told(const std::string& query) {
  const Trace trace = numpy_trace();
  const Summary summary = summarize(trace, ByteKind::file);
  const WhyAnswer answer = explain_why(trace, summary, query, 8);
  CHECK(answer.matches.empty());
  const Error error = why_not_found(answer, trace, summary);
  CHECK(error.kind == ErrorKind::usage);
  return error.reason + " | " + error.hint;
}

TEST_CASE("why not found: a Python package is told by the names under which it has libraries",
          "[why]") {
  for (const char* query : {"numpy", "py:numpy"}) {
    INFO(query);
    const std::string text = told(query);
    CHECK(text.starts_with("--why explains libraries, and these are what bring them: "));
    CHECK(text.find("py:numpy.linalg (2 libraries)") != std::string::npos);
    CHECK(text.find("py:numpy.core (1 library)") != std::string::npos);
    CHECK(text.find("numpydoc") == std::string::npos);
    CHECK(text.find(" | tracso --why _umath_linalg.so; ") != std::string::npos);
  }
  CHECK(told("py:_ssl").starts_with(
      "--why explains libraries, and this is what brings them: py:_ssl (1 library) | tracso --why "
      "_ssl.so"));
  CHECK(told("LD_PRELOAD").find("env:LD_PRELOAD (1 library) | tracso --why libhook.so") !=
        std::string::npos);
}

TEST_CASE("why not found: in a static program there is none at all", "[why]") {
  test::TraceBuilder build;
  build.executable("/usr/bin/static");
  const Summary summary = summarize(build.trace, ByteKind::file);
  const WhyAnswer answer = explain_why(build.trace, summary, "libc", 8);
  const Error error = why_not_found(answer, build.trace, summary);
  CHECK(error.reason == build.trace.target + " is statically linked: no library is in it");
  CHECK(error.hint.empty());
}

TEST_CASE("why not found: a module of pure Python has no library", "[why]") {
  CHECK(told("json").starts_with("it is a Python module without a library of its own | "));
  CHECK(told("py:json").starts_with("it is a Python module without a library of its own | "));
  CHECK(told("jsonish") == "no library of pid:4192 has that name | 'tracso --csv' lists them all");
}

}  // namespace
}  // namespace tracso
