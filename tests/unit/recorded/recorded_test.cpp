// Recordings of real processes (tests/recorded/README.md) through the whole pipeline, compared with
// golden files in every form.

#include "tracso/analysis.hpp"
#include "tracso/renderer.hpp"
#include "tracso/snapshot.hpp"

#include "os/recording.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/places.hpp"

#include <array>

namespace tracso {
namespace {

struct Recorded {
  const char* name;
  const char* why;  // what --why is asked
};

constexpr std::array recordings{Recorded{"python-ssl", "libcrypto"},
                                Recorded{"library-path", "libdnn"},
                                Recorded{"preload", "libjemalloc"},
                                Recorded{"dlopen", "libinner"},
                                Recorded{"musl", "libm5"},
                                Recorded{"program-32-bit", "libc"}};

Trace replayed(const std::string& name) {
  const auto recording = os::read_recording(test::tests_file("recorded/") + name + ".tar.gz");
  REQUIRE(recording);
  const auto doors = os::replay(*recording);
  SnapshotOptions options;
  options.cpu = recording->cpu;
  options.python = [&](const ProbeInput&, std::vector<Notice>&) { return recording->python; };
  auto trace =
      take_snapshot({doors.process.get(), doors.files.get(), doors.commands.get()}, options);
  REQUIRE(trace);
  return group_modules(*trace, 2);
}

TEST_CASE("recorded: every form of every recording is what it was", "[golden][recorded]") {
  for (const auto& one : recordings) {
    const Trace trace = replayed(one.name);
    const Summary summary = summarize(trace, ByteKind::file);
    for (const char* form : {"report", "tree", "json", "csv", "dot"}) {
      CAPTURE(one.name, form);
      const auto text = make_renderer(form, {})->trace(trace, summary);
      REQUIRE(text);
      CHECK(test::golden_difference(std::string("recorded-") + one.name + "/" + form, *text) == "");
    }
    const WhyAnswer answer = explain_why(trace, summary, one.why, 8);
    const auto why = make_renderer("report", {})->why(trace, summary, answer);
    REQUIRE(why);
    CHECK(test::golden_difference(std::string("recorded-") + one.name + "/why-" + one.why, *why) ==
          "");
  }
}

TEST_CASE("recorded: a recording is complete, nothing in it is missing to the pipeline",
          "[recorded]") {
  for (const auto& one : recordings) {
    CAPTURE(one.name);
    const Trace trace = replayed(one.name);
    CHECK_FALSE(trace.partial);
    for (const auto& notice : trace.notices) {
      CHECK(notice.text.find("not in this recording") == std::string::npos);
    }
    for (const auto& node : trace.graph.nodes()) {
      const ObjectFile* file = object(node);
      if (file != nullptr && file->loaded) {
        CHECK(node.cost.file);
      }
    }
  }
}

}  // namespace
}  // namespace tracso
