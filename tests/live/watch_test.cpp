// `tracso watch` and `tracso diff` on real processes.

#include "base/text.hpp"
#include "commands/watch_frame.hpp"
#include "commands/watch_state.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/pty.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace tracso::test {
namespace {

using Json = nlohmann::json;

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    REQUIRE(end != std::string::npos);  // every line is whole
    lines.push_back(Json::parse(text.substr(at, end - at), nullptr, false));
    REQUIRE(lines.back().is_object());
    at = end + 1;
  }
  return lines;
}

std::size_t count(const std::vector<Json>& lines, const char* key, const char* value) {
  std::size_t found = 0;
  for (const Json& line : lines) {
    found += line.value(key, "") == value ? 1 : 0;
  }
  return found;
}

constexpr const char* busy = R"(
import os, sys, threading, time
print('ready', flush=True)
keep = []
while True:
    keep.append(open('/etc/passwd'))
    time.sleep(0.05)
    if len(keep) == 10:
        import ctypes, sqlite3
        threading.Thread(target=threading.Event().wait, name='late', daemon=True).start()
)";

TEST_CASE("watch: JSON Lines where there is no terminal, with what happened", "[live][watch]") {
  Child child({"/usr/bin/python3", "-c", busy});
  REQUIRE(child.line() == "ready");
  const ProgramRun ran =
      run_tracso({"watch", std::to_string(child.pid()), "--interval", "0.1", "--for", "4"});
  INFO(ran.err);
  CHECK(ran.status == 0);
  const auto lines = lines_of(ran.out);
  CHECK(count(lines, "kind", "sample") >= 10);
  CHECK(count(lines, "event", "descriptor-opened") >= 10);
  CHECK(count(lines, "event", "library-loaded") >= 1);
  CHECK(count(lines, "event", "thread-started") == 1);
  REQUIRE(lines.back().at("kind") == "end");
  CHECK(lines.back().at("reason") == "the time is over");
  CHECK(lines.back().contains("seconds_to_descriptor_limit"));  // whether it grows steadily is the
                                                                // machine's mood
  std::size_t fds = 0;
  for (const Json& line : lines) {
    if (line.at("kind") == "sample") {
      CHECK(line.at("fds").get<std::size_t>() >= fds);
      fds = line.at("fds").get<std::size_t>();
      CHECK(line.at("rss").get<std::uint64_t>() > 0);
    }
  }
}

TEST_CASE("watch: a process that ends meanwhile", "[live][watch]") {
  Child child({"/bin/sh", "-c", "echo ready; sleep 1"});
  REQUIRE(child.line() == "ready");
  const ProgramRun ran =
      run_tracso({"watch", std::to_string(child.pid()), "--interval", "0.1", "--for", "30"});
  CHECK(ran.status == 3);
  CHECK(lines_of(ran.out).back().at("reason") == "the process has ended");
  CHECK(run_tracso({"watch", "999999999"}).status == 3);
}

TEST_CASE("watch: a reader of the stream that stalls costs lines, not the watcher's time",
          "[live][watch]") {
  const TemporaryFolder folder;
  const std::string path = folder / "stalled.sock";
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(static_cast<char*>(address.sun_path), path.c_str());
  REQUIRE(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(listener, 1) == 0);  // nobody accepts, nobody reads
  Child child(
      {"/usr/bin/python3", "-c", "import sys; print('ready', flush=True); sys.stdin.read()"});
  REQUIRE(child.line() == "ready");
  const ProgramRun ran = run_tracso({"watch",
                                     std::to_string(child.pid()),
                                     "--interval",
                                     "0.01",
                                     "--for",
                                     "2",
                                     "--stream",
                                     "unix:" + path});
  CHECK(ran.status == 0);
  CHECK(lines_of(ran.out).back().at("kind") == "end");
  ::close(listener);
  CHECK(run_tracso({"watch",
                    std::to_string(child.pid()),
                    "--for",
                    "1",
                    "--stream",
                    "unix:" + (folder / "none.sock")})
            .status != 0);
}

TEST_CASE("watch: full screen on a terminal, q ends it", "[live][watch]") {
  Child child({"/usr/bin/python3", "-c", busy});
  REQUIRE(child.line() == "ready");
  PtyProgram terminal({tracso_binary(), "watch", std::to_string(child.pid()), "--interval", "0.2"},
                      {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "TRACSO_NO_STATE=1"});
  REQUIRE(terminal.wait_for("resident"));
  REQUIRE(terminal.wait_for("descriptor-opened"));
  terminal.type("q");
  CHECK(terminal.finish() == 0);
}

TEST_CASE(
    "watch: stopped and continued behind its back it leaves the shell its terminal, and draws "
    "all of it in the foreground",
    "[live][watch]") {
  Child child({"/usr/bin/python3", "-c", busy});
  REQUIRE(child.line() == "ready");
  const TemporaryFolder folder;
  const std::string stream = folder / "stream", number = folder / "pid";
  PtyProgram shell({"/bin/bash", "--norc", "--noprofile", "-i"},
                   {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "TRACSO_NO_STATE=1"});
  shell.type("sh -c 'echo $$ >" + number + "; exec " + std::string(tracso_binary()) + " watch " +
             std::to_string(child.pid()) + " --interval 0.1 --stream " + stream + "'\n");
  REQUIRE(shell.wait_for("resident"));
  REQUIRE(shell.wait_for("descriptor-opened"));
  const pid_t pid = std::stoi(read_file(number));
  REQUIRE(::kill(pid, SIGSTOP) == 0);
  REQUIRE(shell.wait_for("Stopped"));
  const auto looks = [&] {
    const std::string text = read_file(stream);
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto look_on = [&] {
    const auto wanted = looks() + 20;
    for (int i = 0; i < 600 && looks() < wanted; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    REQUIRE(looks() >= wanted);
  };
  REQUIRE(::kill(pid, SIGCONT) == 0);
  look_on();  // what it was about to write when it was stopped has come
  shell.type("echo fir''st\n");
  REQUIRE(shell.wait_for("first"));
  const std::size_t before = shell.output().size();
  look_on();
  shell.type("echo wo''rd\n");
  REQUIRE(shell.wait_for("word"));
  INFO(shell.output().substr(before));
  CHECK_FALSE(contains(shell.output().substr(before), "resident"));
  CHECK_FALSE(contains(shell.output().substr(before), "descriptor"));
  shell.type("fg\n");
  CHECK(shell.wait_for("resident"));
  shell.type("q");
  CHECK(shell.wait_for("too few looks"));
  shell.type("exit 7\n");
  CHECK(shell.finish() == 7);
}

TEST_CASE("watch: no word of the screen is cut where it could stand on the next line",
          "[live][watch]") {
  const TemporaryFolder folder;
  const std::string name(90, 'n');
  Child child({"/usr/bin/python3",
               "-c",
               "import socket, sys\nprint('ready', flush=True); sys.stdin.readline()\n"
               "L = socket.socket(); L.bind(('127.0.0.1', 0)); L.listen()\n"
               "f = open(sys.argv[1], 'w'); print('open', flush=True); sys.stdin.read()",
               folder / name});
  REQUIRE(child.line() == "ready");
  const auto state = WatchState::open(child.pid(), false);
  REQUIRE(state);
  REQUIRE((*state)->look());
  child.write("\n");
  REQUIRE(child.line() == "open");
  std::this_thread::sleep_for(std::chrono::seconds(1));  // between two looks at descriptors
  REQUIRE((*state)->look());
  const auto shown = [&](std::size_t columns) {
    std::string text;
    for (const auto& line : watch_frame(**state, {40, columns}, true, "").lines) {
      std::string whole;
      for (const auto& piece : line) {
        whole += piece.text;
      }
      INFO(whole);
      CHECK(display_width(whole) <= columns);
      text += whole + "\n";
    }
    return text;
  };
  const std::string usual = shown(80);
  std::string words;
  for (const auto word : split_words(usual, " \n")) {
    words += std::string(word) + " ";
  }
  INFO(words);
  CHECK(contains(words, "6 at memory by use are needed, one every 5 s "));
  CHECK(contains(words, "(listening, 0 to accept) "));
  CHECK(contains(words, "\xe2\x80\xa6nnn"));            // no room for it on any line
  CHECK(contains(shown(127), "\xe2\x80\xa6/" + name));  // of its folder there is a part
  CHECK(contains(shown(200), "/" + name));
  for (const std::size_t columns : {1UL, 5UL, 20UL, 31UL, 45UL, 300UL}) {
    shown(columns);
  }
  // Where there is no room for all events, the newest stays.
  const auto all = watch_frame(**state, {60, 45}, true, "").lines;
  const auto fewer = watch_frame(**state, {all.size() - 1, 45}, true, "").lines;
  REQUIRE_FALSE(fewer.empty());
  CHECK(fewer.back().front().text == all.back().front().text);
}

TEST_CASE("diff: two saved traces, and one with what the process has become", "[live][diff]") {
  const TemporaryFolder folder;
  Child child({"/usr/bin/python3",
               "-c",
               "import sys; print('ready', flush=True); sys.stdin.readline(); import sqlite3; "
               "print('done', flush=True); sys.stdin.read()"});
  REQUIRE(child.line() == "ready");
  const std::string pid = std::to_string(child.pid());
  REQUIRE(run_tracso({"--json", pid, "-o", folder / "old.json"}).status == 0);
  const ProgramRun same = run_tracso({"diff", folder / "old.json", folder / "old.json"});
  CHECK(same.status == 0);
  CHECK(contains(same.out, "No difference"));
  child.write("\n");
  REQUIRE(child.line() == "done");
  const ProgramRun text = run_tracso({"diff", folder / "old.json", pid});
  CHECK(text.status == 0);
  CHECK(contains(text.out, "libsqlite3"));
  const ProgramRun gated =
      run_tracso({"diff", folder / "old.json", pid, "--json", "--fail-on", "libs>0"});
  CHECK(gated.status == 1);
  const Json document = Json::parse(gated.out, nullptr, false);
  REQUIRE(document.is_object());
  CHECK(document.at("kind") == "diff");
  CHECK(document.at("added").size() >= 2);
  CHECK(run_tracso({"diff", "/no/such.json", pid}).status == 2);
}

}  // namespace
}  // namespace tracso::test
