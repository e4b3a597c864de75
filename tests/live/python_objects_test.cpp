// Python objects by type and lines of tracemalloc, counted from outside, against what each Python
// of this machine says of itself; and the parts of resident memory, with injected amounts.

#include "python/traced_lines.hpp"
#include "python/tracked_objects.hpp"
#include "support/catch.hpp"
#include "support/flipping_process.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace tracso::test {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t megabyte = 1024 * 1024;
constexpr const char* system_python = "/usr/bin/python3";

// Counts its own objects twice, so that what the counting makes is there the second time, prints
// "type number bytes" a line, and rests. Two generations and the frozen ones have something.
constexpr const char* counts_itself = R"(
import gc, os, sys
class Marker:
    def __init__(self): self.a, self.b = 1, []
class Slotted:
    __slots__ = ("x",)
markers = [Marker() for _ in range(1000)]
slotted = [Slotted() for _ in range(500)]
for s in slotted: s.x = s
grown = [list(range(n)) for n in range(300)]
dicts = [dict.fromkeys(range(n), markers) for n in range(0, 400, 7)]
sets = [set(range(n)) for n in range(0, 400, 7)] + [frozenset(range(n)) for n in range(0, 90, 7)]
tuples = [(markers,) * n for n in range(200)]
gc.collect()
if FREEZE: gc.freeze()
gc.collect(1)
gc.disable()
young = [[n] for n in range(2000)]
names, numbers, sizes = {}, {}, {}
def count():
    numbers.clear(); sizes.clear()
    for o in gc.get_objects():
        t = type(o)
        n = names.get(t)
        if n is None:
            n = names[t] = t.__name__ if t.__module__ == "builtins" else t.__module__ + "." + t.__name__
        numbers[n] = numbers.get(n, 0) + 1
        sizes[n] = sizes.get(n, 0) + sys.getsizeof(o)
    del o
count(); count()
text = "".join("%s %d %d\n" % (n, numbers[n], sizes[n]) for n in sorted(numbers))
sys.stdout.write(text + "frozen %d 0\nready\n" % gc.get_freeze_count())
sys.stdout.flush()
os.read(0, 1)
)";

struct Truth {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> types;
  std::int64_t frozen = 0;
};

Truth truth_of(Child& child) {
  Truth truth;
  for (auto line = child.line(); line && *line != "ready"; line = child.line()) {
    const auto bytes = line->rfind(' ');
    const auto number = line->rfind(' ', bytes - 1);
    REQUIRE(number != std::string::npos);
    const std::string name = line->substr(0, number);
    const std::int64_t count = std::atoll(line->c_str() + number);
    if (name == "frozen") {
      truth.frozen = count;
    } else {
      truth.types[name] = {count, std::atoll(line->c_str() + bytes)};
    }
  }
  return truth;
}

std::map<std::string, std::pair<std::int64_t, std::int64_t>> by_type(const TrackedObjects& found) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> types;
  for (const TypeTotal& total : found.types) {
    types[total.type] = {static_cast<std::int64_t>(total.objects),
                         static_cast<std::int64_t>(total.bytes)};
  }
  return types;
}

std::string with_freeze(const char* script, bool freeze) {
  return std::string("FREEZE = ") + (freeze ? "True" : "False") + script;
}

bool keeps_lists(const Python& python) {
  return python.label.find("free-threaded") == std::string::npos &&
         python.label.compare(0, 4, "3.15") != 0;
}

TEST_CASE("python objects: every type of every Python is counted as it counts itself",
          "[live][python][objects]") {
  for (const Python& python : pythons()) {
    INFO(python.label << " " << python.program);
    Child child({python.program, "-c", with_freeze(counts_itself, false)});
    const Truth truth = truth_of(child);
    REQUIRE(truth.types.at("__main__.Marker").first == 1000);
    REQUIRE(child.rests());
    const auto target = live_target(child.pid());
    REQUIRE(target);
    const auto found = python::TrackedObjectReader(target->input).read();
    if (!keeps_lists(python)) {
      REQUIRE_FALSE(found);
      CHECK(found.error().kind == ErrorKind::unsupported);
      continue;
    }
    REQUIRE(found);
    CHECK_FALSE(found->youngest_moved);
    CHECK(found->stopped.count() == 0);
    const auto ours = by_type(*found);
    // 3.12 begins with frozen tuples of its own.
    std::int64_t all = truth.frozen;
    for (const auto& [name, counted] : truth.types) {
      INFO(name);
      all += counted.first;
      const auto it = ours.find(name);
      REQUIRE(it != ours.end());
      // What holds the count itself (a frame, an iterator) came or went with it.
      const std::int64_t frozen = name == "tuple" ? truth.frozen : 0;
      CHECK(std::abs(it->second.first - counted.first - frozen) <= 3);
    }
    CHECK(std::abs(static_cast<std::int64_t>(found->objects) - all) <= 20);
    for (const char* exact :
         {"__main__.Marker", "__main__.Slotted", "set", "frozenset", "function", "module"}) {
      INFO(exact);
      CHECK(ours.at(exact) == truth.types.at(exact));
    }
    for (const char* near : {"list", "tuple", "dict"}) {
      INFO(near);
      if (near != std::string("tuple") || truth.frozen == 0) {
        CHECK(std::abs(ours.at(near).second - truth.types.at(near).second) <= 4096);
      }
    }
  }
}

TEST_CASE("python objects: types without a name, and with names of thousands of characters",
          "[live][python][objects]") {
  Child child({system_python,
               "-c",
               "import os\n"
               "kinds = {type('', (), {}): 7, type('L' * 5000, (), {}): 11,"
               " type('\u20ac' * 2000, (), {}): 13}\n"
               "things = [kind() for kind, number in kinds.items() for _ in range(number)]\n"
               "print('ready', flush=True)\nos.read(0, 1)"});
  REQUIRE(child.line() == "ready");
  REQUIRE(child.rests());
  const auto target = live_target(child.pid());
  REQUIRE(target);
  const auto found = python::TrackedObjectReader(target->input).read();
  REQUIRE(found);
  const auto ours = by_type(*found);
  std::string euros;
  for (int i = 0; i < 85; ++i) {  // whole ones of 256 bytes
    euros += "\u20ac";
  }
  CHECK(ours.at("__main__.(no name)").first == 7);
  CHECK(ours.at("__main__." + std::string(256, 'L') + "...").first == 11);
  CHECK(ours.at("__main__." + euros + "...").first == 13);
  CHECK(ours.count("(unreadable)") == 0);
}

TEST_CASE("python objects: frozen ones count, gc.get_objects leaves them out",
          "[live][python][objects]") {
  Child child({system_python, "-c", with_freeze(counts_itself, true)});
  const Truth truth = truth_of(child);
  REQUIRE(truth.frozen > 1000);
  REQUIRE(child.rests());
  const auto target = live_target(child.pid());
  REQUIRE(target);
  const auto found = python::TrackedObjectReader(target->input).read();
  REQUIRE(found);
  CHECK(by_type(*found).at("__main__.Marker").first == 1000);
  std::int64_t all = truth.frozen;
  for (const auto& [name, counted] : truth.types) {
    all += counted.first;
  }
  CHECK(std::abs(static_cast<std::int64_t>(found->objects) - all) <= 20);
}

// Bits of all that is read flip: no crash, no hang, and nothing that is no error or answer.
TEST_CASE("python objects: memory that lies does no harm", "[live][python][objects]") {
  Child child({system_python, "-X", "tracemalloc", "-c", with_freeze(counts_itself, false)});
  truth_of(child);
  REQUIRE(child.rests());
  const auto target = live_target(child.pid());
  REQUIRE(target);
  int refused = 0;
  for (unsigned seed = 1; seed <= 24; ++seed) {
    INFO("seed " << seed);
    const FlippingProcess process(
        *target->input.target.process,
        seed,
        std::uint64_t{1} << (9 + seed % 12),
        seed % 2 == 0 ? FlippingProcess::Damage::lasting : FlippingProcess::Damage::changing);
    ProbeInput input = target->input;
    input.target.process = &process;
    input.timeout = std::chrono::milliseconds(1000);
    const auto start = std::chrono::steady_clock::now();
    const auto objects = python::TrackedObjectReader(input).read();
    const auto lines = python::read_traced_lines(input);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
    refused += objects ? 0 : 1;
    CHECK((!objects || objects->objects < 1'000'000));
    CHECK((!lines || lines->lines.size() < 1'000'000));
  }
  CHECK(refused > 0);
}

// Threads make and drop objects as fast as they can; a thousand stay what they are.
TEST_CASE("python objects: counted in a process that never rests, held for it if need be",
          "[live][python][objects]") {
  Child child({system_python,
               "-c",
               "import gc, sys, threading\n"
               "class Marker: pass\n"
               "markers = [Marker() for _ in range(1000)]\n"
               "gc.collect()\n"
               "def churn():\n"
               "    while True: [[n] for n in range(50)]\n"
               "for _ in range(2): threading.Thread(target=churn, daemon=True).start()\n"
               "print('ready', flush=True)\n"
               "sys.stdin.read()"});
  REQUIRE(child.line() == "ready");
  for (int i = 0; i < 5; ++i) {
    const ProgramRun ran =
        run_tracso({"stat", "--json", "--attribution=objects", "-p", std::to_string(child.pid())});
    INFO(ran.out << ran.err);
    REQUIRE(ran.status == 0);
    const Json types = Json::parse(ran.out).at("attribution").at("tracked_objects").at("types");
    const auto marker = std::find_if(types.begin(), types.end(), [](const Json& type) {
      return type.at("type") == "__main__.Marker";
    });
    REQUIRE(marker != types.end());
    CHECK(marker->at("objects").at("after") == 1000);
    CHECK(marker->at("objects").at("before").is_null());
  }
}

// 98 blocks of 64 KB at one line, in one of its functions; the rest of the table is its own.
constexpr const char* traces_itself = R"(
import os, sys, tracemalloc
def keep():
    return bytes(65536)
kept = [keep() for _ in range(98)]
line = [s for s in tracemalloc.take_snapshot().statistics("lineno") if s.traceback[0].filename == "<string>" and s.traceback[0].lineno == 4][0]
sys.stdout.write("%d\n%d\n%d\nready\n" % (line.count, line.size, tracemalloc.get_traced_memory()[0]))
sys.stdout.flush()
os.read(0, 1)
)";

TEST_CASE("python objects: lines of tracemalloc, as the program itself has them",
          "[live][python][objects]") {
  int read = 0;
  for (const Python& python : pythons()) {
    INFO(python.label << " " << python.program);
    Child child({python.program, "-X", "tracemalloc", "-c", traces_itself});
    const auto blocks = child.line(), bytes = child.line(), traced = child.line();
    REQUIRE(traced);
    REQUIRE(child.line() == "ready");
    REQUIRE(child.rests());
    const auto target = live_target(child.pid());
    REQUIRE(target);
    const auto found = python::read_traced_lines(target->input);
    if (!found) {
      // Stripped before 3.12, or newer than what is known; never a table of something else.
      CHECK(found.error().kind == ErrorKind::unsupported);
      const bool odd = contains(python.label, "debug") || contains(python.label, "free-threaded");
      for (const char* known : {"3.12.", "3.13.", "3.14."}) {
        CHECK((odd || !python.label.starts_with(known)));
      }
      continue;
    }
    ++read;
    std::int64_t all = 0;
    const LineTotal* line = nullptr;
    for (const LineTotal& one : found->lines) {
      all += static_cast<std::int64_t>(one.bytes);
      line = one.file == "<string>" && one.line == 4 ? &one : line;
    }
    REQUIRE(line != nullptr);
    // One small block of the interpreter's own (a frame that it keeps) comes and goes with a call.
    CHECK(line->blocks >= 98);
    CHECK(std::abs(static_cast<std::int64_t>(line->blocks) - std::atoll(blocks->c_str())) <= 1);
    CHECK(std::abs(static_cast<std::int64_t>(line->bytes) - std::atoll(bytes->c_str())) <= 512);
    CHECK(std::abs(all - std::atoll(traced->c_str())) <= 64 * 1024);
  }
  if (read == 0) {
    WARN("NOT TRIED: no Python here has a table of tracemalloc that can be read");
  }
}

TEST_CASE("python objects: where tracemalloc does not run that is said",
          "[live][python][objects]") {
  int said = 0;
  for (const Python& python : pythons()) {
    INFO(python.label << " " << python.program);
    Child child({python.program, "-c", "print('ready', flush=True); input()"});
    REQUIRE(child.line() == "ready");
    const auto target = live_target(child.pid());
    REQUIRE(target);
    const auto found = python::read_traced_lines(target->input);
    REQUIRE_FALSE(found);
    // A release whose table has moved is not known, and says that.
    const bool unknown = contains(found.error().reason, "is not known");
    CHECK(unknown != contains(found.error().reason, "does not run"));
    CHECK(found.error().kind == (unknown ? ErrorKind::unsupported : ErrorKind::not_found));
    said += unknown ? 0 : 1;
  }
  CHECK(said > 0);
}

}  // namespace
}  // namespace tracso::test
