// The pipeline on a target made by hand: what each missing door costs, and that it is said.

#include "tracso/snapshot.hpp"

#include "support/build_elf.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <algorithm>
#include <cstdio>

namespace tracso {
namespace {

constexpr std::uint64_t program_at = 0x400000;
constexpr std::uint64_t library_at = 0x7f0000000000;

std::string map_line(std::uint64_t start, int inode, const std::string& name) {
  char line[256];
  std::snprintf(line,
                sizeof line,
                "%lx-%lx r-xp 00000000 08:01 %d %s\n",
                start,
                start + 0x1000,
                inode,
                name.c_str());
  return line;
}

// A program that needs liba.so; its loader's records are not readable, so names must tell.
test::FakeTarget small_process() {
  test::FakeTarget fake;
  test::ElfSpec program;
  program.dynamic = {test::needed("liba.so")};
  test::ElfSpec library;
  library.dynamic = {test::soname("liba.so")};
  fake.process.texts["maps"] = map_line(program_at, 11, "/bin/app") +
                               map_line(library_at, 12, "/lib/liba.so") +
                               map_line(library_at + 0x10000, 13, "/usr/share/font.ttf");
  fake.process.texts["stat"] = "4711 (app) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0";
  fake.process.texts["cmdline"] = std::string("app\0", 4);
  fake.process.texts["environ"] = std::string("A=1\0", 4);
  fake.process.links["exe"] = "/bin/app";
  fake.process.links["cwd"] = "/";
  fake.process.mapped[program_at] = test::build_elf(program);
  fake.process.mapped[library_at] = test::build_elf(library);
  fake.process.mapped[library_at + 0x10000] = "not ELF, whatever its name is .so";
  return fake;
}

const ObjectFile* find_object(const Trace& trace, const std::string& path) {
  for (const auto& node : trace.graph.nodes()) {
    const ObjectFile* file = object(node);
    if (file != nullptr && file->path.text == path) {
      return file;
    }
  }
  return nullptr;
}

bool has_notice(const Trace& trace, const std::string& code) {
  return std::any_of(trace.notices.begin(), trace.notices.end(), [&](const Notice& notice) {
    return notice.code == code;
  });
}

TEST_CASE("snapshot: a program that changes under the look is looked at again", "[collect]") {
  auto fake = small_process();
  const auto says_changed = [](const Trace& trace) {
    return std::any_of(trace.notices.begin(), trace.notices.end(), [](const Notice& notice) {
      return notice.code == "program-changed";
    });
  };
  SECTION("it settles") {
    fake.process.changing["auxv"] = {"old", "old", "new"};
    const auto trace = take_snapshot(fake.target(), {});
    REQUIRE(trace);
    CHECK_FALSE(trace->partial);
    CHECK_FALSE(says_changed(*trace));
  }
  SECTION("it never settles") {
    std::vector<std::string>& texts = fake.process.changing["auxv"];
    for (int i = 0; i < 100; ++i) {
      texts.push_back(std::to_string(i));
    }
    const auto trace = take_snapshot(fake.target(), {});
    REQUIRE(trace);
    CHECK(trace->partial);
    CHECK(says_changed(*trace));
  }
}

TEST_CASE("snapshot: objects are ELF by content, and a font that is mapped executable is none",
          "[collect]") {
  const auto fake = small_process();
  const auto trace = take_snapshot(fake.target(), {});
  REQUIRE(trace);
  CHECK(find_object(*trace, "/bin/app") != nullptr);
  REQUIRE(find_object(*trace, "/lib/liba.so") != nullptr);
  CHECK(find_object(*trace, "/lib/liba.so")->role == ObjectFile::Role::library);
  CHECK(find_object(*trace, "/usr/share/font.ttf") == nullptr);
}

TEST_CASE("snapshot: without auxv and records the edges come from sonames, and that is said",
          "[collect]") {
  const auto fake = small_process();
  const auto trace = take_snapshot(fake.target(), {});
  REQUIRE(trace);
  CHECK(has_notice(*trace, "auxv-unreadable"));
  const auto edges = trace->graph.edges();
  const auto needed = std::find_if(
      edges.begin(), edges.end(), [](const Edge& edge) { return edge.kind == EdgeKind::needed; });
  REQUIRE(needed != edges.end());
  CHECK(needed->needed == "liba.so");
  CHECK(needed->first);
  CHECK(std::find(needed->witnesses.begin(), needed->witnesses.end(), Witness::link_map) ==
        needed->witnesses.end());
}

TEST_CASE("snapshot: each door that is shut is named, the rest is still there", "[collect]") {
  auto fake = small_process();
  fake.process.denied = {"environ"};
  const auto trace = take_snapshot(fake.target(), {});
  REQUIRE(trace);
  CHECK(has_notice(*trace, "environment-unreadable"));
  CHECK(find_object(*trace, "/lib/liba.so") != nullptr);
}

TEST_CASE("snapshot: whatever is refused beside the memory map has a notice of its own",
          "[collect]") {
  const std::vector<std::pair<std::string, std::string>> doors{
      {"environ", "environment-unreadable"},
      {"auxv", "auxv-unreadable"},
      {"exe", "exe-unreadable"},
      {"cwd", "cwd-unreadable"},
      {"root", "root-unreadable"}};
  for (const auto& [door, code] : doors) {
    CAPTURE(door);
    auto fake = small_process();
    const auto whole = take_snapshot(fake.target(), {});
    REQUIRE(whole);
    const std::string before = door == "auxv" ? "" : code;  // it is not there in this process
    CHECK_FALSE(has_notice(*whole, before));
    fake.process.denied = {door};
    const auto trace = take_snapshot(fake.target(), {});
    REQUIRE(trace);
    CHECK(has_notice(*trace, code));
  }
}

TEST_CASE("snapshot: an environment that was written over is not believed", "[collect]") {
  auto fake = small_process();
  fake.process.texts["environ"] = std::string("\0\0\0LD_PRELOAD=/x.so\0", 21);
  const auto trace = take_snapshot(fake.target(), {});
  REQUIRE(trace);
  CHECK(has_notice(*trace, "environment-overwritten"));
  CHECK_FALSE(has_notice(*trace, "preload-missing"));
}

TEST_CASE("snapshot: paths below a root of its own are those of the process", "[collect]") {
  auto fake = small_process();
  fake.process.texts["maps"] =
      map_line(program_at, 11, "/jail/bin/app") + map_line(library_at, 12, "/jail/lib/liba.so");
  fake.process.links["exe"] = "/jail/bin/app";
  fake.process.links["cwd"] = "/jail/work";
  fake.process.links["root"] = "/jail";
  const auto trace = take_snapshot(fake.target(), {});
  REQUIRE(trace);
  CHECK(find_object(*trace, "/bin/app") != nullptr);
  CHECK(find_object(*trace, "/lib/liba.so") != nullptr);
  CHECK(trace->interpreter == "/bin/app");
}

TEST_CASE("snapshot: without the memory map there is no trace, only the reason", "[collect]") {
  auto fake = small_process();
  fake.process.denied = {"maps"};
  const auto trace = take_snapshot(fake.target(), {});
  REQUIRE_FALSE(trace);
  CHECK(trace.error().kind == ErrorKind::denied);
  CHECK(trace.error().subject == "4711 (app)");
}

TEST_CASE("snapshot: zombies and kernel threads are told by stat", "[collect]") {
  auto fake = small_process();
  fake.process.texts["stat"] = "4711 (app) Z 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0";
  CHECK(take_snapshot(fake.target(), {}).error().kind == ErrorKind::not_found);
  fake.process.texts["stat"] = "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0";
  CHECK(take_snapshot(fake.target(), {}).error().kind == ErrorKind::denied);
}

TEST_CASE("snapshot: a file that is gone or replaced is told by its inode", "[collect]") {
  auto fake = small_process();
  fake.process.texts["maps"] =
      map_line(program_at, 11, "/bin/app") + map_line(library_at, 12, "/lib/liba.so (deleted)");
  auto trace = take_snapshot(fake.target(), {});
  REQUIRE(trace);
  REQUIRE(find_object(*trace, "/lib/liba.so") != nullptr);
  CHECK(find_object(*trace, "/lib/liba.so")->state == ObjectFile::State::deleted);
  fake.files.files["/lib/liba.so"] = "another file";
  trace = take_snapshot(fake.target(), {});
  REQUIRE(trace);
  CHECK(find_object(*trace, "/lib/liba.so")->state == ObjectFile::State::replaced);
}

TEST_CASE("snapshot: what nobody satisfies is a missing node, counted nowhere", "[collect]") {
  auto fake = small_process();
  fake.process.texts["maps"] = map_line(program_at, 11, "/bin/app");
  const auto trace = take_snapshot(fake.target(), {});
  REQUIRE(trace);
  const auto nodes = trace->graph.nodes();
  const auto missing = std::find_if(nodes.begin(), nodes.end(), [](const Node& node) {
    const ObjectFile* file = object(node);
    return file != nullptr && file->state == ObjectFile::State::missing;
  });
  REQUIRE(missing != nodes.end());
  CHECK(display_name(*missing) == "liba.so");
  CHECK_FALSE(is_counted(*missing));
}

TEST_CASE("snapshot: readelf asked for by name and not there is an error, not an empty report",
          "[collect]") {
  const auto fake = small_process();
  SnapshotOptions options;
  options.elf = "readelf";
  const auto trace = take_snapshot(fake.target(), options);
  REQUIRE_FALSE(trace);
  CHECK(trace.error().kind == ErrorKind::missing_tool);
}

TEST_CASE("snapshot: a process that is another one at the end is marked", "[collect]") {
  auto fake = small_process();
  SnapshotOptions options;
  // The probe runs in the middle: meanwhile the number goes to another process.
  options.python = [&](const ProbeInput&, std::vector<Notice>&) -> std::optional<PythonFacts> {
    fake.process.texts["stat"] = "4711 (other) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 999 0 0";
    return std::nullopt;
  };
  const auto trace = take_snapshot(fake.target(), options);
  REQUIRE(trace);
  CHECK(trace->partial);
  CHECK(has_notice(*trace, "target-ended"));
}

TEST_CASE("snapshot: an extension module is the source of its file", "[collect]") {
  const auto fake = small_process();
  SnapshotOptions options;
  options.python = [](const ProbeInput&, std::vector<Notice>&) -> std::optional<PythonFacts> {
    PythonFacts facts;
    facts.probe = "memory";
    facts.modules = {{"pkg._a", "/lib/liba.so", ""},
                     {"os", "/lib/os.py", ""},
                     {"sys", std::nullopt, "built-in"}};
    return facts;
  };
  const auto trace = take_snapshot(fake.target(), options);
  REQUIRE(trace);
  CHECK(trace->modules.size() == 3);
  const auto nodes = trace->graph.nodes();
  CHECK(std::count_if(nodes.begin(), nodes.end(), [](const Node& node) {
          return std::holds_alternative<PythonSource>(node.subject);
        }) == 1);
}

}  // namespace
}  // namespace tracso
