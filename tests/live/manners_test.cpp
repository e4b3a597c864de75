// How tracso behaves towards the person in front of it: progress, widths, what was written, slips.

#include "base/text.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/pty.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"

#include <array>
#include <string>

namespace tracso::test {
namespace {

using Environment = std::vector<std::string>;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// A shell line at a terminal, where $T is tracso.
std::string at_terminal(const std::string& line, Environment more, unsigned short columns = 80) {
  Environment environment{"T=" + tracso_binary(),
                          "TERM=xterm-256color",
                          "LC_ALL=C.UTF-8",
                          "TRACSO_NO_STATE=1",
                          "NO_COLOR=1"};
  environment.insert(environment.end(), more.begin(), more.end());
  PtyProgram shell({"/bin/sh", "-c", line}, environment, 24, columns);
  CHECK(shell.finish() == 0);
  return shell.output();
}

}  // namespace

TEST_CASE("manners: what takes long says so in one line, and erases it", "[live][manners]") {
  const TemporaryFolder folder;
  const std::string document = folder / "doc.json";
  REQUIRE(run_tracso({"--json", "-o", document, "/bin/ls"}).status == 0);
  const std::string slow = "(sleep 1.5; cat " + document + ") | $T --from -";
  const std::string seen = at_terminal(slow, {});
  CHECK(has(seen, "\r\x1b[Ktracso: reading - ..."));
  const std::size_t erased = seen.rfind("\r\x1b[K");
  CHECK(seen.find("tracso \xc2\xb7 ls", erased) == erased + 4);  // the report follows at once
  CHECK_FALSE(has(at_terminal(slow, {"TERM=dumb"}), "reading"));
  CHECK_FALSE(has(at_terminal(slow + " 2>" + (folder / "err"), {}), "reading"));
  CHECK(read_file(folder / "err").empty());
}

TEST_CASE("manners: what waits for a process says for what and until when", "[live][manners]") {
  const TemporaryFolder folder;
  Child child({"/usr/bin/python3", "-c", "print('ready', flush=True); input()"});
  REQUIRE(child.line() == "ready");
  REQUIRE(child.rests());
  const std::string pid = std::to_string(child.pid());
  const std::string count = "$T calls -c -p " + pid + " -d 1";
  CHECK(has(at_terminal(count, {}, 200),
            "tracso: counting the calls of process " + pid + " for 1 s, or until Ctrl-C ..."));
  CHECK_FALSE(has(at_terminal(count + " 2>" + (folder / "err"), {}), "counting"));
  CHECK_FALSE(has(read_file(folder / "err"), "counting"));
  CHECK(has(at_terminal("$T calls -p " + pid + " -d 0.1", {}, 200),
            "tracso: attached to process " + pid + ", whose calls follow for 0.1 s, or until"));
  CHECK(has(at_terminal("$T stat -p " + pid + " --for 1", {}, 200),
            "between two looks at process " + pid + ", 1 s ..."));
  CHECK(has(at_terminal("$T fds " + pid + " --rate 1", {}, 200),
            "counting the bytes of process " + pid + " for 1 s ..."));
  // Without -d it waits for Ctrl-C, which a person has to know.
  PtyProgram endless({tracso_binary(), "calls", "-c", "-p", pid}, {"TERM=xterm"}, 24, 200);
  REQUIRE(endless.wait_for("counting the calls of process " + pid + " until Ctrl-C"));
  endless.type("\x03");
  CHECK(endless.finish() == 0);
}

TEST_CASE("manners: every line fits the terminal", "[live][manners]") {
  const Child python({"/usr/bin/python3", "-c", "import ssl, sys; sys.stdin.read()"});
  const std::string pid = std::to_string(python.pid());
  for (const unsigned short columns : std::array<unsigned short, 4>{40, 60, 80, 200}) {
    for (const std::string words : {"--by private ", "--by file ", "--tree "}) {
      const std::string seen = at_terminal("exec $T " + words + pid, {}, columns);
      for (auto line : split(seen, '\n')) {
        INFO(columns << " " << words << ": " << line);
        CHECK(display_width(trim(line)) <= columns);
      }
    }
    const std::string help = at_terminal("exec $T --help", {}, columns);
    for (const auto line : split(help, '\n')) {
      INFO(columns << ": " << line);
      CHECK((display_width(trim(line)) <= columns || has(std::string(line), "  tracso ")));
    }
  }
}

TEST_CASE("manners: no colour where it is not wanted, ASCII where no more is known",
          "[live][manners]") {
  const auto escapes = [](const std::string& text) {
    return has(text, "\x1b[3") || has(text, "\x1b[1m");
  };
  CHECK(escapes(at_terminal("exec $T /bin/ls", {"NO_COLOR="})));
  CHECK_FALSE(escapes(at_terminal("exec $T /bin/ls", {})));
  CHECK_FALSE(escapes(at_terminal("exec $T /bin/ls", {"NO_COLOR=", "TERM=dumb"})));
  CHECK(escapes(at_terminal("exec $T --color always /bin/ls", {})));
  for (const char c : at_terminal("exec $T --help; exec $T /bin/ls", {"LC_ALL=C"})) {
    CHECK(static_cast<unsigned char>(c) < 0x80U);
  }
}

TEST_CASE("manners: what was written is said on stderr", "[live][manners]") {
  const TemporaryFolder folder;
  for (const char* name : {"a.json", "a.csv", "a.txt", "a.dot"}) {
    const auto ran = run_tracso({"-o", folder / name, "/bin/ls"});
    CHECK(ran.out.empty());
    CHECK(ran.err == "tracso: wrote " + (folder / name) + "\n");
  }
  CHECK(run_tracso({"-o", "/dev/stdout", "/bin/ls"}).err.empty());
}

TEST_CASE("manners: options that the command takes are noticed before it runs", "[live][manners]") {
  const auto ran = run_tracso({"--run", "/bin/echo", "--why", "libc"});
  CHECK(ran.status == 0);
  CHECK(has(ran.err, "'--why' stands behind the command"));
  CHECK(has(ran.out, "--why libc\n"));
}

TEST_CASE("manners: a package is no library, and its own are named", "[live][manners]") {
  const TemporaryFolder folder;
  const std::string document = folder / "doc.json";
  REQUIRE(run_tracso({"--json", "-o", document, "--run", "/usr/bin/python3", "-c", "import ssl"})
              .status == 0);
  for (const char* query : {"py:_ssl", "_ssl"}) {
    const auto ran = run_tracso({"--from", document, "--why", query});
    INFO(ran.err << ran.out);
    const bool answered = ran.status == 0 && has(ran.out, "_ssl.so");  // a prefix of the library
    CHECK((answered || (ran.status == 1 && has(ran.err, "tracso --why _ssl.so"))));
  }
}

}  // namespace tracso::test
