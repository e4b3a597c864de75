// `tracso stat --sample` on spikes of known height, and `tracso fds --rate` on known rates.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace tracso::test {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t megabyte = 1024 * 1024;
constexpr const char* system_python = "/usr/bin/python3";

// Two spikes of 64 and of 32 MB, each held for 100 ms; between and behind them nothing.
constexpr const char* spikes = R"(
import mmap, time
def spike(megabytes):
    held = mmap.mmap(-1, megabytes << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    held.write(b"x" * (megabytes << 20))
    time.sleep(0.1)
    held.close()
time.sleep(0.2)
spike(64)
time.sleep(0.4)
spike(32)
time.sleep(0.2)
)";

Json parsed(const ProgramRun& ran) {
  INFO(ran.out << ran.err);
  REQUIRE(ran.status == 0);
  Json all = Json::parse(ran.out, nullptr, false);
  REQUIRE(all.is_object());
  return all;
}

TEST_CASE("stat --sample: two spikes are two hills, with their height and their time",
          "[live][stat][sample]") {
  const Json all =
      parsed(run_tracso({"stat", "--json", "--sample", "5", system_python, "-c", spikes}));
  const Json& samples = all.at("samples");
  REQUIRE(samples.is_object());
  CHECK(samples.at("asked_ns") == 5'000'000);
  CHECK(samples.at("count").get<int>() >= 20);
  const auto peak = samples.at("anonymous").at("bytes").get<std::uint64_t>();
  // The block that is written and the bytes that are written to it.
  CHECK(peak >= 64 * megabyte);
  CHECK(peak <= 2 * 64 * megabyte + 32 * megabyte);
  CHECK(samples.at("resident").at("bytes").get<std::uint64_t>() >= peak);
  CHECK(samples.at("resident").at("bytes").get<std::uint64_t>() <=
        all.at("memory").at("peak").get<std::uint64_t>() + 2 * megabyte);
  int hills = 0;
  bool high = false;
  for (const Json& interval : samples.at("intervals")) {
    const bool now = interval.at("anonymous").get<std::uint64_t>() >= 30 * megabyte;
    hills += now && !high ? 1 : 0;
    high = now;
  }
  CHECK(hills == 2);
  CHECK_FALSE(high);
}

TEST_CASE("stat --sample: of a running process for a while; the words for people",
          "[live][stat][sample]") {
  Child child({system_python,
               "-c",
               std::string("print('ready', flush=True)\nwhile True:") +
                   " import time; x = bytearray(16 << 20); time.sleep(.05); "
                   "del x; time.sleep(.05)"});
  REQUIRE(child.line() == "ready");
  const std::string pid = std::to_string(child.pid());
  const ProgramRun ran = run_tracso({"stat", "-p", pid, "--sample", "2", "--for", "0.5"});
  INFO(ran.out << ran.err);
  CHECK(ran.status == 0);
  CHECK(contains(ran.out, "samples"));
  CHECK(contains(ran.out, "the longest gap was"));
  CHECK(contains(ran.out, "its peak"));
  CHECK(run_tracso({"stat", "-p", pid, "--sample", "2"}).status == 2);
  CHECK(run_tracso({"stat", "--sample", "0", "/bin/true"}).status == 2);
  CHECK(run_tracso({"stat", "--sample", "often", "/bin/true"}).status == 2);
}

// Writes 100 KB ten times a second to a file, takes as much from a TCP connection to itself, and
// fills a pipe with 200 bytes each time.
constexpr const char* rates = R"(
import os, socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
out = socket.create_connection(listener.getsockname())
into, _ = listener.accept()
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
reader, writer = os.pipe()
event = os.eventfd(0) if hasattr(os, "eventfd") else None
print(file, out.fileno(), into.fileno(), reader, event, flush=True)
piece = b"x" * 100_000
begin = time.monotonic()
n = 0
while True:
    os.write(file, piece)
    out.sendall(piece)
    left = len(piece)
    while left: left -= len(into.recv(left))
    os.write(writer, b"y" * 200)
    n += 1
    time.sleep(max(0, begin + n / 10 - time.monotonic()))
)";

Json of_fd(const Json& all, int fd) {
  for (const Json& one : all.at("descriptors")) {
    if (one.at("fd") == fd) {
      return one.at("per_second");
    }
  }
  return nullptr;
}

bool is_near(const Json& rate, double wanted) {
  if (!rate.is_number()) {
    return false;
  }
  UNSCOPED_INFO(rate << " must be near " << wanted);
  // A tick more or less in 20, and what a busy machine lets slip.
  return rate.get<double>() > wanted * 0.8 && rate.get<double>() < wanted * 1.15;
}

TEST_CASE("fds --rate: of a file, of both ends of a connection, and what is not visible",
          "[live][fds][rate]") {
  const TemporaryFolder folder;
  Child child({system_python, "-c", rates, folder / "written"});
  const auto line = child.line();
  REQUIRE(line);
  int file = 0, out = 0, into = 0, pipe = 0, event = 0;
  REQUIRE(std::sscanf(line->c_str(), "%d %d %d %d %d", &file, &out, &into, &pipe, &event) >= 4);
  const std::string pid = std::to_string(child.pid());
  const Json all = parsed(run_tracso({"fds", pid, "--rate", "2", "--json"}));
  CHECK(is_near(of_fd(all, file).at("position"), 1e6));
  CHECK(of_fd(all, file).at("received").is_null());
  CHECK(is_near(of_fd(all, out).at("sent"), 1e6));
  CHECK(of_fd(all, out).at("received") == 0.0);
  CHECK(is_near(of_fd(all, into).at("received"), 1e6));
  CHECK(is_near(of_fd(all, pipe).at("queue"), 2000));
  CHECK(of_fd(all, pipe).at("received").is_null());
  if (event > 0) {
    CHECK(of_fd(all, event).is_null());
  }
  const ProgramRun text = run_tracso({"fds", pid, "--rate", "0.3"});
  CHECK(contains(text.out, "traffic not visible"));
  CHECK(contains(text.out, "rate not visible"));
  CHECK(contains(run_tracso({"fds", pid, "--rate", "0.1", "--csv"}).out, "position_per_second"));
  CHECK_FALSE(contains(run_tracso({"fds", pid, "--csv"}).out, "position_per_second"));
  CHECK(parsed(run_tracso({"fds", pid, "--json"})).at("descriptors")[0].at("per_second").is_null());
  CHECK(run_tracso({"fds", pid, "--rate", "0"}).status == 2);
}

TEST_CASE("stat: options behind the command are its own, and that is said where it fails",
          "[live][stat]") {
  const ProgramRun failed = run_tracso({"stat", "/bin/sleep", "0.01", "--max-rss", "10M"});
  CHECK(failed.status == 1);
  CHECK(contains(failed.err, "--max-rss stands behind the command"));
  CHECK_FALSE(contains(run_tracso({"stat", "--", "/bin/sleep", "x", "--max-rss"}).err, "behind"));
  CHECK_FALSE(contains(run_tracso({"stat", "/bin/echo", "--max-rss"}).err, "behind"));
  CHECK_FALSE(contains(run_tracso({"stat", "/bin/sleep", "--json"}).err, "behind"));
}

TEST_CASE("costs: -v of fds, watch and diff says what is decided, on stderr", "[live][fds]") {
  Child child({"/bin/sleep", "100"});
  const std::string pid = std::to_string(child.pid());
  const ProgramRun fds = run_tracso({"fds", pid, "-v", "--json"});
  CHECK(Json::parse(fds.out, nullptr, false).is_object());
  CHECK(contains(fds.err, "pidfd_getfd"));
  const ProgramRun watch = run_tracso({"watch", pid, "-v", "--for", "0.3", "--interval", "0.1"});
  CHECK(contains(watch.err, "every 100 ms"));
  CHECK(contains(watch.err, "looks in"));
  const ProgramRun diff = run_tracso({"diff", pid, pid, "-v"});
  CHECK(contains(diff.err, "a process, "));
}

TEST_CASE("watch: the end comes last, also by its time", "[live][watch]") {
  Child child({"/bin/sleep", "100"});
  const ProgramRun ran =
      run_tracso({"watch", std::to_string(child.pid()), "--for", "1.2", "--interval", "1"});
  std::int64_t last = 0, age = 0;
  std::string kind;
  std::size_t at = 0;
  while (at < ran.out.size()) {
    const auto end = ran.out.find('\n', at);
    const Json line = Json::parse(ran.out.substr(at, end - at), nullptr, false);
    REQUIRE(line.is_object());
    CHECK(line.at("time_ns").get<std::int64_t>() >= last);
    last = line.at("time_ns").get<std::int64_t>();
    kind = line.at("kind");
    if (kind == "sample") {  // classes are looked at once in that time
      CHECK(line.at("class_age_ns").get<std::int64_t>() >= age);
      age = line.at("class_age_ns").get<std::int64_t>();
      CHECK(age <= last);
    }
    at = end + 1;
  }
  CHECK(kind == "end");
  CHECK(last >= 1'200'000'000);
  CHECK(age >= 900'000'000);
}

// A recording has no symbol tables: what the process' findings rest on them is not new.
TEST_CASE("diff: of a recording and its process no finding by symbols appears", "[live][diff]") {
  const Workshop shop;
  shop.write("a.c", "int f(void) { return 1; }");
  shop.write("b.c", "int f(void) { return 2; }");
  shop.write("m.c",
             "#include <stdio.h>\nint f(void);\nint main(void) { printf(\"ready %d\\n\", f()); "
             "fflush(stdout); getchar(); return 0; }");
  REQUIRE(
      shop.run("gcc -shared -fPIC a.c -o liba.so && gcc -shared -fPIC b.c -o libb.so && "
               "gcc m.c -o m -Wl,--no-as-needed -L. -la -lb -Wl,-rpath,$PWD"));
  Child child({shop.path("m")});
  REQUIRE(child.line() == "ready 1");
  const std::string pid = std::to_string(child.pid());
  REQUIRE(run_tracso({"record", pid, "-o", shop.path("it.tar.gz")}).status == 0);
  const Json plain = parsed(run_tracso({"diff", pid, pid, "--json"}));
  CHECK(plain.at("notices").empty());
  const Json told = parsed(run_tracso({"diff", shop.path("it.tar.gz"), pid, "--json"}));
  INFO(told.dump(1));
  CHECK(told.at("findings").at("appeared").empty());
  CHECK(told.at("findings").at("gone").empty());
  CHECK(contains(told.at("notices").dump(), "symbols-not-compared"));
}

// A recording holds nothing of the heap, but what of it is Python's.
TEST_CASE("diff: of a recording and its process Python's memory has not moved elsewhere",
          "[live][diff]") {
  const Workshop shop;
  Child child({"/usr/bin/python3",
               "-c",
               "x = [object() for _ in range(600000)]\nprint('ready', flush=True)\ninput()"});
  REQUIRE(child.line() == "ready");
  REQUIRE(child.rests());
  const std::string pid = std::to_string(child.pid());
  const std::string recording = shop.path("it.tar.gz");
  REQUIRE(run_tracso({"record", pid, "-o", recording}).status == 0);
  const Json told = parsed(run_tracso({"diff", recording, pid, "--json"}));
  CHECK(told.at("notices").dump().find("heap") == std::string::npos);
  const Json& before = told.at("memory").at("before").at("by_class");
  const Json& after = told.at("memory").at("after").at("by_class");
  CHECK(after.at("python").at("resident").get<std::uint64_t>() > 600000 * 16);
  for (const char* one : {"python", "heap", "other", "stacks"}) {
    INFO(one << " " << before.at(one).dump() << " " << after.at(one).dump());
    CHECK(before.at(one).at("resident") == after.at(one).at("resident"));
  }
}

}  // namespace
}  // namespace tracso::test
