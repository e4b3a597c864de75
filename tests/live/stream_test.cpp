// --stream with readers that stall, leave or want another form: the process that is watched, and
// tracso, wait for none of them.

#include "os/stream_sink.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tracso::test {
namespace {

using Json = nlohmann::json;

// A reader that listens and, until it is told to, takes nothing.
class Reader {
 public:
  explicit Reader(const std::string& path)
      : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(static_cast<char*>(address.sun_path), path.c_str());
    REQUIRE(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener_, 1) == 0);
  }

  ~Reader() {
    ::close(connection_);
    ::close(listener_);
  }

  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// The next whole line; empty: the other end has gone.
  std::string line() {
    if (connection_ < 0) {
      connection_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    }
    std::size_t end = 0;
    while ((end = pending_.find('\n')) == std::string::npos) {
      char buffer[65536];
      const ssize_t count = ::read(connection_, buffer, sizeof buffer);
      if (count <= 0) {
        return "";
      }
      pending_.append(buffer, static_cast<std::size_t>(count));
    }
    std::string out = pending_.substr(0, end);
    pending_.erase(0, end + 1);
    return out;
  }

 private:
  int listener_ = -1, connection_ = -1;
  std::string pending_;
};

TEST_CASE("stream: who does not read costs lines and no time; who reads again gets whole lines",
          "[live][stream]") {
  const TemporaryFolder folder;
  const std::string path = folder / "stalled.sock";
  Reader reader(path);
  auto sink = os::StreamSink::open("unix:" + path);
  REQUIRE(sink);
  const std::string filler(60'000, 'x');
  std::uint64_t sent = 0;
  while ((*sink)->dropped() == 0) {
    REQUIRE(sent < 1000);  // 60 MB: it keeps 1 MB and what the socket takes
    CHECK((*sink)->push("{\"n\":" + std::to_string(sent++) + ",\"filler\":\"" + filler + "\"}"));
  }
  CHECK(sent > os::StreamSink::most / filler.size());
  const std::uint64_t kept = sent - (*sink)->dropped();
  for (std::uint64_t n = 0; n < kept; ++n) {
    const Json line = Json::parse(reader.line(), nullptr, false);
    REQUIRE(line.is_object());
    REQUIRE(line.at("n") == n);
    (*sink)->push("{\"n\":" + std::to_string(kept + n) + "}");  // which also writes what waited
  }
  CHECK((*sink)->dropped() == sent - kept);
}

// Opens other files all the time, thousands of them: every look has much to tell. Each round is
// counted where the test can see it.
constexpr const char* restless = R"(
import itertools, mmap, os, resource, sys
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
n = min(3000, hard - 100)
resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, n + 100), hard))
count = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 8)
files = [os.open(p, os.O_RDONLY) for p in ('/dev/null', '/dev/zero', '/dev/full', '/dev/urandom')]
fds = [os.dup(files[0]) for _ in range(n)]
print('ready', flush=True)
for round in itertools.count(1):
    for fd in fds: os.dup2(files[round % 4], fd)
    count[:8] = round.to_bytes(8, 'little')
)";

std::uint64_t rounds(const std::string& file) {
  const std::string bytes = read_file(file);
  std::uint64_t count = 0;
  std::memcpy(&count, bytes.data(), std::min(bytes.size(), sizeof count));
  return count;
}

TEST_CASE("stream: a stalled reader stops neither the watched process nor the watcher",
          "[live][stream]") {
  const TemporaryFolder folder;
  const std::string path = folder / "stalled.sock";
  write_file(folder / "rounds", std::string(8, '\0'));
  Reader reader(path);
  Child target({"/usr/bin/python3", "-c", restless, folder / "rounds"});
  REQUIRE(target.line() == "ready");
  Child watcher({"/bin/sh",
                 "-c",
                 "exec \"$0\" watch \"$1\" --interval 0.02 --stream \"unix:$2\" 2>\"$3\"",
                 tracso_binary(),
                 std::to_string(target.pid()),
                 path,
                 folder / "said"},
                {"TRACSO_NO_STATE=1"});
  // Three times what is kept, all of it on standard output as well: nobody has taken it from the
  // socket.
  const std::uint64_t rounds_before = rounds(folder / "rounds");
  std::size_t bytes = 0;
  while (bytes < 3 * os::StreamSink::most) {
    const auto line = watcher.line();
    REQUIRE(line);
    bytes += line->size() + 1;
  }
  CHECK(rounds(folder / "rounds") > rounds_before);
  // Whoever reads again is told how much is missing.
  std::uint64_t dropped = 0;
  std::size_t lines = 0;
  while (dropped == 0 && ++lines < 1'000'000) {
    const std::string text = reader.line();
    REQUIRE_FALSE(text.empty());
    const Json line = Json::parse(text, nullptr, false);
    REQUIRE(line.is_object());
    dropped = line.value("dropped", std::uint64_t{0});
    watcher.line();
  }
  CHECK(dropped > 0);
  ::kill(watcher.pid(), SIGINT);
  while (watcher.line()) {
  }
  CHECK(watcher.wait() == 0);
  CHECK(contains(read_file(folder / "said"), "lines of --stream were dropped"));
}

TEST_CASE("stream: a command under stat ends as it would, whoever does not read",
          "[live][stream]") {
  const TemporaryFolder folder;
  const std::string path = folder / "stalled.sock";
  const Reader reader(path);
  const ProgramRun ran = run_tracso({"stat",
                                     "--json",
                                     "--stream",
                                     "unix:" + path,
                                     "/usr/bin/python3",
                                     "-c",
                                     "import time; time.sleep(0.5); raise SystemExit(7)"});
  CHECK(ran.status == 7);
  CHECK(Json::parse(ran.out, nullptr, false).is_object());
}

TEST_CASE("stream: JSON Lines, one array, or lines for people", "[live][stream]") {
  const TemporaryFolder folder;
  Child child(
      {"/usr/bin/python3", "-c", "import sys; print('ready', flush=True); sys.stdin.read()"});
  REQUIRE(child.line() == "ready");
  const auto written = [&](const std::string& format) {
    const std::string file = folder / format;
    const ProgramRun ran = run_tracso({"watch",
                                       std::to_string(child.pid()),
                                       "--interval",
                                       "0.05",
                                       "--for",
                                       "0.3",
                                       "--stream",
                                       file,
                                       "--stream-format",
                                       format});
    CHECK(ran.status == 0);
    CHECK(ran.out.starts_with("{"));  // standard output stays JSON Lines
    return read_file(file);
  };
  const Json all = Json::parse(written("json"), nullptr, false);
  REQUIRE(all.is_array());
  CHECK(all.front().at("kind") == "sample");
  CHECK(all.back().at("kind") == "end");
  const std::string text = written("text");
  CHECK(contains(text, "resident "));
  CHECK(contains(text, "the time is over; "));
  CHECK(text.find('{') == std::string::npos);
  CHECK(Json::parse(written("jsonl"), nullptr, false).is_discarded());  // more than one value
}

TEST_CASE("stream: one that breaks is told, and the watch goes on", "[live][watch][stream]") {
  Child child({"/bin/sh", "-c", "echo ready; read line"});
  REQUIRE(child.line() == std::optional<std::string>("ready"));
  const std::string pid = std::to_string(child.pid());
  const ProgramRun ran =
      run_tracso({"watch", pid, "--interval", "0.05", "--for", "0.3", "--stream", "/dev/full"});
  CHECK(ran.status == 0);
  CHECK(contains(ran.out, "\"kind\":\"end\""));
  CHECK(contains(ran.err, "nothing more goes to --stream /dev/full: no space left"));
  const ProgramRun full =
      run_tracso({"watch", pid, "--interval", "0.05", "--for", "0.3", "-o", "/dev/full"});
  CHECK(full.status == 2);
  CHECK(contains(full.err, "cannot write /dev/full: no space left"));
}

TEST_CASE("stream: a place that is not there is a slip", "[live][watch][stream]") {
  const std::string self = std::to_string(::getpid());
  for (const std::string place : {"/no-such-folder/x", "unix:/no-such-socket", "foo://bar"}) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"watch", self, "--stream", place},
          std::vector<std::string>{"stat", "--stream", place, "/bin/true"}}) {
      const ProgramRun ran = run_tracso(words);
      INFO(place << ": " << ran.err);
      CHECK(ran.status == 2);
      CHECK(contains(ran.err, "hint: "));
    }
  }
}

}  // namespace
}  // namespace tracso::test
