#include "python/gdb_probe.hpp"

#include "base/result.hpp"
#include "python/gdb_probe_target.hpp"
#include "support/build_elf.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <fmt/format.h>

#include <deque>

using namespace tracso;
using namespace tracso::python;

namespace {

constexpr std::uint64_t header = 0x7f0000000000;

// A process whose one mapped object exports what a CPython of that version does.
class FakePython {
 public:
  explicit FakePython(std::uint32_t version = 0x030d00f0) {
    fake.process.texts["status"] =
        "Name:\tpython3\nState:\tS (sleeping)\nTracerPid:\t0\nUid:\t33\n";
    for (const auto name : gdb_functions) {
      exports(std::string(name));
    }
    exports("_PyRuntime");
    exports("_PyThreadState_UncheckedGet");
    exports("_PyEval_EvalFrameDefault");
    if (version != 0) {
      // The symbol lies behind the file in memory.
      spec.symbols.push_back({"Py_Version"});
      spec.symbols.back().value = spec.load_address + version_offset;
      fake.process.memory[header + version_offset] =
          std::string(reinterpret_cast<const char*>(&version), sizeof version);
    }
    mapping.start = header;
    mapping.end = header + 0x100000;
    mapping.device = 1;
    mapping.inode = 7;
    mapping.readable = true;
    mapping.name = "/usr/lib/libpython3.so.1.0";
  }

  void exports(const std::string& name) {
    spec.symbols.push_back({name});
    spec.symbols.back().value = spec.load_address + 0x100 * spec.symbols.size();
  }

  void hides(const std::string& name) {
    std::erase_if(spec.symbols, [&](const auto& symbol) { return symbol.name == name; });
  }

  ProbeInput input() {
    fake.process.memory[header] = build_elf(spec);
    ProbeInput result;
    result.target = fake.target();
    result.mappings = {mapping};
    result.executable = "/usr/bin/python3";
    return result;
  }

  static constexpr std::uint64_t version_offset = 0x80000;
  test::FakeTarget fake;
  test::ElfSpec spec;
  Mapping mapping;
};

ErrorKind refused(const ProbeInput& input) {
  const auto target = examine_gdb_target(input);
  REQUIRE_FALSE(target);
  INFO(sentence(target.error()));
  return target.error().kind;
}

// Says prepared lines, one session after the other.
struct Gdb {
  std::deque<std::vector<std::string>> sessions;
  std::string answer;
  std::vector<GdbJob> jobs;

  class Session final : public GdbSession {
   public:
    Session(std::vector<std::string> lines, std::string answer)
        : lines_(lines.begin(), lines.end()), answer_(std::move(answer)) {}

    GdbLine next_line(std::chrono::nanoseconds) override {
      now_ += std::chrono::milliseconds(10);
      if (lines_.empty()) {
        return {GdbLine::Kind::ended, "", now_};
      }
      GdbLine line{GdbLine::Kind::text, lines_.front(), now_};
      lines_.pop_front();
      return line;
    }

    void open_gate() override {}

    void leave() override {}

    Result<std::string> answer(std::size_t) const override { return answer_; }

   private:
    std::deque<std::string> lines_;
    std::string answer_;
    std::chrono::nanoseconds now_{0};
  };

  GdbSessionStarter starter() {
    return [this](const GdbJob& job) -> Result<std::unique_ptr<GdbSession>> {
      jobs.push_back(job);
      REQUIRE_FALSE(sessions.empty());
      auto lines = sessions.front();
      sessions.pop_front();
      return std::unique_ptr<GdbSession>(std::make_unique<Session>(lines, answer));
    };
  }
};

const std::vector<std::string> good_session{"TRACSO: attaching",
                                            "TRACSO: attached",
                                            "TRACSO: direct",
                                            "TRACSO: result",
                                            "TRACSO: detached"};

}  // namespace

TEST_CASE("gdb probe: addresses come from the memory of the process", "[python][gdb]") {
  FakePython python;
  const auto target = examine_gdb_target(python.input());
  REQUIRE(target);
  CHECK(target->script.pid == 4711);
  CHECK(target->script.functions[0] == header + 0x100);
  CHECK(target->script.functions[14] == header + 0xf00);
  CHECK(target->script.eval != 0);
  CHECK(target->script.own <= header);
  CHECK(target->script.own_end > header);
  CHECK(target->version == "3.13.0");
  CHECK_FALSE(target->stopped);
}

TEST_CASE("gdb probe: how the lock is known depends on the version", "[python][gdb]") {
  SECTION("before Py_Version existed") {
    FakePython python(0);
    CHECK(examine_gdb_target(python.input())->script.lock == LockKnowledge::current_state);
  }
  SECTION("3.11") {
    FakePython python(0x030b02f0);
    CHECK(examine_gdb_target(python.input())->script.lock == LockKnowledge::current_state);
  }
  SECTION("3.12") {
    FakePython python(0x030c01f0);
    CHECK(examine_gdb_target(python.input())->script.lock == LockKnowledge::each_thread);
  }
  SECTION("free-threaded") {
    FakePython python;
    python.exports("_Py_MergeZeroLocalRefcount");
    CHECK(examine_gdb_target(python.input())->script.lock == LockKnowledge::no_lock);
  }
}

TEST_CASE("gdb probe: what cannot be done is refused before gdb is started", "[python][gdb]") {
  FakePython python;
  SECTION("already traced") {
    python.fake.process.texts["status"] = "State:\tt (tracing stop)\nTracerPid:\t99\n";
    CHECK(refused(python.input()) == ErrorKind::denied);
  }
  SECTION("a zombie") {
    python.fake.process.texts["status"] = "State:\tZ (zombie)\nTracerPid:\t0\n";
    CHECK(refused(python.input()) == ErrorKind::interrupted);
  }
  SECTION("no process any more") {
    python.fake.process.texts.clear();
    CHECK(refused(python.input()) == ErrorKind::not_found);
  }
  SECTION("no Python") {
    auto input = python.input();
    input.mappings.clear();
    CHECK(refused(input) == ErrorKind::unsupported);
  }
  SECTION("PyPy") {
    python.hides("_PyRuntime");
    python.mapping.name = "/usr/lib/libpypy3.9-c.so";
    CHECK(refused(python.input()) == ErrorKind::unsupported);
  }
  SECTION("a function that is not exported") {
    python.hides("PyRun_StringFlags");
    CHECK(refused(python.input()) == ErrorKind::unsupported);
  }
  SECTION("another machine") {
    python.spec.machine = 183;
    CHECK(refused(python.input()) == ErrorKind::unsupported);
  }
  SECTION("32 bit") {
    python.spec.elf_class = ElfClass::elf32;
    CHECK(refused(python.input()) == ErrorKind::unsupported);
  }
}

TEST_CASE("gdb probe: closed memory is refused with what is missing", "[python][gdb]") {
  FakePython python;
  auto input = python.input();
  python.fake.process.denied.insert("memory");
  SECTION("another user") {
    const auto target = examine_gdb_target(input);
    REQUIRE_FALSE(target);
    CHECK(target.error().kind == ErrorKind::denied);
    CHECK(target.error().hint.find("uid 33") != std::string::npos);
    CHECK(target.error().hint.find("CAP_SYS_PTRACE") != std::string::npos);
    CHECK(target.error().hint.find("yama") == std::string::npos);
  }
  SECTION("Yama") {
    python.fake.files.files["/proc/sys/kernel/yama/ptrace_scope"] = "1\n";
    const auto target = examine_gdb_target(input);
    REQUIRE_FALSE(target);
    CHECK(target.error().hint.find("yama/ptrace_scope is 1") != std::string::npos);
  }
  SECTION("Yama that permits everything is not named") {
    python.fake.files.files["/proc/sys/kernel/yama/ptrace_scope"] = "0\n";
    const auto target = examine_gdb_target(input);
    REQUIRE_FALSE(target);
    CHECK(target.error().hint.find("yama") == std::string::npos);
  }
}

TEST_CASE("gdb probe: a stopped process is known to be one", "[python][gdb]") {
  FakePython python;
  python.fake.process.texts["status"] = "State:\tT (stopped)\nTracerPid:\t0\n";
  Gdb gdb{{good_session}, "tracso 1 -", {}};
  CHECK(make_gdb_probe(gdb.starter())->probe(python.input()));
  REQUIRE(gdb.jobs.size() == 1);
  CHECK(gdb.jobs[0].stopped);
}

TEST_CASE("gdb probe: the answer becomes facts, with what it cost", "[python][gdb]") {
  FakePython python;
  Gdb gdb{{good_session}, "tracso 1 13:3.13.0 (main)3:sys-8:built-in", {}};
  const auto facts = make_gdb_probe(gdb.starter())->probe(python.input());
  REQUIRE(facts);
  CHECK(facts->probe == "gdb");
  CHECK(facts->implementation == "cpython");
  CHECK(facts->version == "3.13.0");
  CHECK(facts->code_executed);
  CHECK(facts->complete);
  CHECK(facts->stopped == std::chrono::milliseconds(40));
  REQUIRE(facts->modules.size() == 1);
  CHECK(facts->modules[0] == PythonModule{"sys", std::nullopt, "built-in"});
}

TEST_CASE("gdb probe: a processor gdb does not know is tried with old registers", "[python][gdb]") {
  FakePython python;
  const std::vector<std::string> not_writable{
      "TRACSO: attaching", "TRACSO: registers", "TRACSO: detached"};
  SECTION("that helps") {
    Gdb gdb{{not_writable, good_session}, "tracso 1 -", {}};
    const auto facts = make_gdb_probe(gdb.starter())->probe(python.input());
    REQUIRE(facts);
    CHECK(facts->stopped == std::chrono::milliseconds(60));
    REQUIRE(gdb.jobs.size() == 2);
    CHECK(gdb.jobs[0].registers.empty());
    CHECK(gdb.jobs[1].registers == legacy_registers());
  }
  SECTION("that does not help either") {
    Gdb gdb{{not_writable, not_writable}, "tracso 1 -", {}};
    const auto facts = make_gdb_probe(gdb.starter())->probe(python.input());
    REQUIRE_FALSE(facts);
    CHECK(facts.error().kind == ErrorKind::unsupported);
  }
}

TEST_CASE("gdb probe: each failure has its kind", "[python][gdb]") {
  const auto [lines, kind] = GENERATE(table<std::vector<std::string>, ErrorKind>(
      {{{"TRACSO: attaching", "ptrace: Operation not permitted."}, ErrorKind::denied},
       {{"TRACSO: attaching", "ptrace: No such process."}, ErrorKind::interrupted},
       {{"TRACSO: attaching", "something else"}, ErrorKind::failed},
       {{"TRACSO: attaching", "TRACSO: attached", "TRACSO: waiting", "TRACSO: no safe point"},
        ErrorKind::interrupted},
       {{"TRACSO: attaching", "TRACSO: attached", "TRACSO: waiting"}, ErrorKind::interrupted},
       {{"TRACSO: attaching", "TRACSO: attached", "TRACSO: queue full"}, ErrorKind::failed},
       {{"TRACSO: attaching", "TRACSO: attached", "TRACSO: raised"}, ErrorKind::failed},
       {{"TRACSO: attaching", "TRACSO: attached", "TRACSO: failed"}, ErrorKind::failed}}));
  FakePython python;
  Gdb gdb{{lines}, "", {}};
  auto input = python.input();
  input.timeout = std::chrono::milliseconds(400);
  const auto facts = make_gdb_probe(gdb.starter())->probe(input);
  REQUIRE_FALSE(facts);
  INFO(sentence(facts.error()));
  CHECK(facts.error().kind == kind);
}

TEST_CASE("gdb probe: a wait in vain is broken off and gdb attaches anew", "[python][gdb]") {
  FakePython python;
  const std::vector<std::string> in_vain{"TRACSO: attaching",
                                         "TRACSO: attached",
                                         "TRACSO: waiting",
                                         "TRACSO: no safe point",
                                         "TRACSO: detached"};
  auto input = python.input();
  SECTION("that helps") {
    Gdb gdb{{in_vain, in_vain, good_session}, "tracso 1 -", {}};
    const auto facts = make_gdb_probe(gdb.starter())->probe(input);
    REQUIRE(facts);
    // Each wait in vain stood still from attaching to waiting and from its end to detached.
    CHECK(facts->stopped == std::chrono::milliseconds(30 + 30 + 40));
  }
  SECTION("the time is over at last") {
    Gdb gdb{{in_vain, in_vain, in_vain, in_vain}, "", {}};
    input.timeout = std::chrono::milliseconds(5000);  // 500, 1000, 2000 and what is left
    const auto facts = make_gdb_probe(gdb.starter())->probe(input);
    REQUIRE_FALSE(facts);
    CHECK(gdb.jobs.size() == 4);
    CHECK(facts.error().reason.find("no safe point in 5000 ms") != std::string::npos);
  }
  SECTION("another program has taken its place") {
    Gdb gdb{{in_vain}, "", {}};
    const auto starter = gdb.starter();
    const auto probe = make_gdb_probe([&](const GdbJob& job) {
      python.fake.process.memory.clear();
      return starter(job);
    });
    CHECK_FALSE(probe->probe(input));
    CHECK(gdb.jobs.size() == 1);
  }
}

TEST_CASE("gdb probe: a missing gdb and a broken answer are passed on", "[python][gdb]") {
  FakePython python;
  SECTION("gdb") {
    const auto probe = make_gdb_probe([](const GdbJob&) -> Result<std::unique_ptr<GdbSession>> {
      return Error{ErrorKind::missing_tool, "run", "gdb", "no such program on this machine", ""};
    });
    const auto facts = probe->probe(python.input());
    REQUIRE_FALSE(facts);
    CHECK(facts.error().kind == ErrorKind::missing_tool);
  }
  SECTION("answer") {
    Gdb gdb{{good_session}, "nonsense", {}};
    const auto facts = make_gdb_probe(gdb.starter())->probe(python.input());
    REQUIRE_FALSE(facts);
    CHECK(facts.error().kind == ErrorKind::malformed);
  }
  SECTION("no way to start anything") {
    const auto facts = make_gdb_probe({})->probe(python.input());
    REQUIRE_FALSE(facts);
    CHECK(facts.error().kind == ErrorKind::unsupported);
  }
}
