#include "python/probe_chain.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

using namespace tracso;
using namespace tracso::python;

namespace {

class FakeProbe final : public PythonProbe {
 public:
  explicit FakeProbe(std::string name) : name_(std::move(name)) {
    facts.probe = name_;
    facts.modules.push_back({"from_" + name_, std::nullopt, ""});
  }

  std::string_view name() const override { return name_; }

  Result<PythonFacts> probe(const ProbeInput&) const override {
    ++asked;
    if (error) {
      return *error;
    }
    return facts;
  }

  PythonFacts facts;
  std::optional<Error> error;
  mutable int asked = 0;

 private:
  std::string name_;
};

struct Chain {
  FakeProbe memory{"memory"}, gdb{"gdb"}, path{"path"};
  Result<Interpreter> found =
      Interpreter{Implementation::cpython, "3.11.2", "/usr/bin/python3", {}};
  std::vector<Notice> notices;

  Result<std::optional<PythonFacts>> ask(std::string_view choice) {
    return probe_recognized({}, found, choice, {&memory, &gdb, &path}, notices);
  }

  std::string asked() const {
    return std::to_string(memory.asked) + std::to_string(gdb.asked) + std::to_string(path.asked);
  }
};

Error failure(ErrorKind kind, std::string reason, std::string hint = "") {
  return {kind, "read", "process 1", std::move(reason), std::move(hint)};
}

}  // namespace

TEST_CASE("probe chain: memory is enough and says nothing", "[python][chain]") {
  Chain chain;
  const auto facts = chain.ask("auto");
  REQUIRE(facts);
  REQUIRE(*facts);
  CHECK((*facts)->probe == "memory");
  CHECK(chain.notices.empty());
  CHECK(chain.asked() == "100");
}

TEST_CASE("probe chain: an unknown layout is asked of gdb, with one notice", "[python][chain]") {
  Chain chain;
  chain.memory.error = failure(ErrorKind::unsupported, "layout of 3.16 is not known");
  chain.gdb.facts.stopped = std::chrono::milliseconds(140);
  const auto facts = chain.ask("auto");
  REQUIRE(facts);
  CHECK((*facts)->probe == "gdb");
  REQUIRE(chain.notices.size() == 1);
  CHECK(chain.notices[0].code == "python-probe-gdb");
  CHECK(chain.notices[0].text.find("layout of 3.16 is not known") != std::string::npos);
  CHECK(chain.notices[0].effect.find("140 ms") != std::string::npos);
  CHECK(chain.asked() == "110");
}

TEST_CASE("probe chain: gdb never freezes a process whose memory is closed", "[python][chain]") {
  const auto kind = GENERATE(ErrorKind::denied, ErrorKind::interrupted, ErrorKind::failed);
  Chain chain;
  chain.memory.error = failure(kind, "not permitted", "run as uid 33");
  const auto facts = chain.ask("auto");
  REQUIRE(facts);
  CHECK((*facts)->probe == "path");
  CHECK(chain.asked() == "101");
  REQUIRE(chain.notices.size() == 1);
  CHECK(chain.notices[0].code == "python-probe-path");
  CHECK(chain.notices[0].text.find("not permitted") != std::string::npos);
  CHECK(chain.notices[0].try_ == "run as uid 33");
}

TEST_CASE("probe chain: one notice names both that failed", "[python][chain]") {
  Chain chain;
  chain.memory.error = failure(ErrorKind::unsupported, "layout not known");
  chain.gdb.error = failure(ErrorKind::missing_tool, "no such program on this machine");
  const auto facts = chain.ask("auto");
  REQUIRE(facts);
  CHECK((*facts)->probe == "path");
  REQUIRE(chain.notices.size() == 1);
  CHECK(chain.notices[0].text.find("memory: layout not known; gdb: no such program") !=
        std::string::npos);
}

TEST_CASE("probe chain: PyPy is read by paths at once", "[python][chain]") {
  Chain chain;
  chain.found = Interpreter{Implementation::pypy, "3.9", "/usr/lib/libpypy3.9-c.so", {}};
  const auto facts = chain.ask("auto");
  REQUIRE(facts);
  CHECK((*facts)->probe == "path");
  CHECK(chain.asked() == "001");
  CHECK(chain.notices.size() == 1);
}

TEST_CASE("probe chain: no Python means no facts and no notice", "[python][chain]") {
  const std::string choice = GENERATE("auto", "memory", "gdb", "path", "none");
  Chain chain;
  chain.found = Interpreter{};
  const auto facts = chain.ask(choice);
  REQUIRE(facts);
  CHECK_FALSE(*facts);
  CHECK(chain.notices.empty());
  CHECK(chain.asked() == "000");
}

TEST_CASE("probe chain: closed memory without a trace of Python is no Python", "[python][chain]") {
  Chain chain;
  chain.found = failure(ErrorKind::denied, "not permitted");
  chain.path.error = failure(ErrorKind::unsupported, "no Python runs in it");
  SECTION("it looks like none") {
    const auto facts = chain.ask("auto");
    REQUIRE(facts);
    CHECK_FALSE(*facts);
    CHECK(chain.notices.empty());
  }
  SECTION("names say Python") {
    chain.path.error.reset();
    const auto facts = chain.ask("auto");
    REQUIRE(facts);
    CHECK((*facts)->probe == "path");
    CHECK(chain.notices.size() == 1);
  }
}

TEST_CASE("probe chain: the probe asked for by name is the only one", "[python][chain]") {
  Chain chain;
  SECTION("its facts") {
    const auto facts = chain.ask("gdb");
    REQUIRE(facts);
    CHECK((*facts)->probe == "gdb");
    CHECK(chain.asked() == "010");
  }
  SECTION("its error") {
    chain.gdb.error = failure(ErrorKind::missing_tool, "no such program on this machine");
    const auto facts = chain.ask("gdb");
    REQUIRE_FALSE(facts);
    CHECK(facts.error().kind == ErrorKind::missing_tool);
    CHECK(chain.asked() == "010");
  }
  CHECK(chain.notices.empty());
}

TEST_CASE("probe chain: none asks nothing", "[python][chain]") {
  Chain chain;
  const auto facts = chain.ask("none");
  REQUIRE(facts);
  CHECK_FALSE(*facts);
  CHECK(chain.asked() == "000");
}

TEST_CASE("probe chain: a name that is no probe is an error of usage", "[python][chain]") {
  Chain chain;
  const auto facts = chain.ask("magic");
  REQUIRE_FALSE(facts);
  CHECK(facts.error().kind == ErrorKind::usage);
  CHECK(chain.asked() == "000");
}

TEST_CASE("probe chain: where nothing looks like Python, no probe is asked", "[python][chain]") {
  test::FakeTarget fake;
  ProbeInput input;
  input.target = fake.target();
  Chain chain;
  const auto facts = probe_recognized(input,
                                      find_interpreter(input),
                                      "auto",
                                      {&chain.memory, &chain.gdb, &chain.path},
                                      chain.notices);
  REQUIRE(facts);
  CHECK_FALSE(*facts);
  CHECK(chain.asked() == "000");
}
