#include "cli/options.hpp"

#include "cli/cost_options.hpp"
#include "support/catch.hpp"

#include <unistd.h>

namespace tracso {
namespace {

using Words = std::vector<std::string>;

TraceRequest trace_request(const Words& words) {
  const auto parsed = parse_options(words);
  if (const auto* leave = std::get_if<Leave>(&parsed)) {
    FAIL(leave->err);
  }
  return std::get<TraceRequest>(std::get<Request>(parsed));
}

Leave leave(const Words& words) {
  const auto parsed = parse_options(words);
  REQUIRE(std::holds_alternative<Leave>(parsed));
  return std::get<Leave>(parsed);
}

TEST_CASE("options: digits are a PID, anything else is a file", "[cli]") {
  CHECK(std::get<PidSource>(trace_request({"4192"}).source).pid == 4192);
  CHECK(std::get<FileSource>(trace_request({"./123"}).source).path == "./123");
  CHECK(std::get<FileSource>(trace_request({"/usr/bin/gdb"}).source).path == "/usr/bin/gdb");
  CHECK(leave({"99999999999"}).status == 2);
  CHECK(leave({"0"}).status == 2);
}

TEST_CASE("options: everything behind --run belongs to the command", "[cli]") {
  const auto request =
      trace_request({"--json", "--run", "python3", "--version", "--why", "x", "-o", "y"});
  CHECK(std::get<RunSource>(request.source).argv ==
        Words{"python3", "--version", "--why", "x", "-o", "y"});
  CHECK(request.output.form == "json");
  CHECK_FALSE(request.why);
  CHECK(std::get<RunSource>(trace_request({"--run", "--", "ls"}).source).argv == Words{"ls"});
}

TEST_CASE("options: an option of ours behind --run is explained, not run", "[cli]") {
  const Leave slip = leave({"--run", "--json", "python3"});
  CHECK(slip.status == 2);
  CHECK(slip.err.find("tracso --json --run CMD") != std::string::npos);
  CHECK(leave({"--run"}).status == 2);
  CHECK(leave({"--run", "-o"}).status == 2);
}

TEST_CASE("options: the form follows the extension", "[cli]") {
  CHECK(trace_request({"1", "-o", "x.dot"}).output.form == "dot");
  CHECK(trace_request({"1", "-o", "x.gv"}).output.form == "dot");
  CHECK(trace_request({"1", "-o", "x.SVG"}).output.image == "svg");
  CHECK(trace_request({"1", "-o", "x.json"}).output.form == "json");
  CHECK(trace_request({"1", "-o", "x.csv"}).output.form == "csv");
  CHECK(trace_request({"1", "-o", "x.txt"}).output.form == "report");
  CHECK(trace_request({"1", "-o", "x.txt", "--tree"}).output.form == "tree");
  CHECK(trace_request({"1", "-o", "a.dot/x"}).output.form == "report");
}

TEST_CASE("options: empty and impossible values are refused", "[cli]") {
  for (const Words& words : {Words{"calls", "--limit", "-1", "true"},
                             Words{"calls", "-o", "", "true"},
                             Words{"calls", "-l", "", "true"},
                             Words{"1", "--bindings="},
                             Words{"--at", "exit", "1"},
                             Words{""}}) {
    INFO(words.front() << " " << leave(words).err);
    CHECK(leave(words).status == 2);
  }
  CHECK(leave({"1", "--bindings="}).err.find("--bindings is empty") != std::string::npos);
  CHECK(leave({""}).err.find("TARGET is empty") != std::string::npos);
  CHECK(trace_request({"--at", "exit", "--run", "ls"}).gates.empty());
  const auto runs = parse_cost_options({"stat", "--runs", "0", "true"});
  CHECK(std::get<Leave>(*runs).err.find("--runs '0' is not a number from 1") != std::string::npos);
  CHECK(leave({"calls", "-h"}).out.find(" CMD [ARG...]") != std::string::npos);
  CHECK(leave({"help", "costs"}).out.size() > 1000);
}

TEST_CASE("options: a file is not called after a form that its answer does not have", "[cli]") {
  const auto refusal = [](const Words& words) {
    const auto cost = parse_cost_options(words);
    if (cost) {
      const auto* left = std::get_if<Leave>(&*cost);
      return left != nullptr ? *left : Leave{};
    }
    const auto parsed = parse_options(words);
    const auto* left = std::get_if<Leave>(&parsed);
    return left != nullptr ? *left : Leave{};
  };
  for (const Words& words : {Words{"diff", "a", "b", "-o", "x.svg"},
                             Words{"stat", "-o", "st.html", "true"},
                             Words{"stat", "-o", "st.csv", "true"},
                             Words{"fds", "1", "-o", "fd.html"},
                             Words{"fds", "1", "--csv", "-o", "fd.json"},
                             Words{"watch", "1", "-o", "w.HTML"},
                             Words{"dump", "1", "-o", "x.csv"},
                             Words{"dump", "1", "-o", "x.jsonl"},
                             Words{"calls", "-o", "x.html", "true"},
                             Words{"calls", "--csv", "-o", "x.json", "true"},
                             Words{"1", "--tree", "-o", "t.svg"},
                             Words{"1", "--tree", "-o", "t.csv"},
                             Words{"1", "--findings", "-o", "f.svg"},
                             Words{"1", "--unused", "-o", "x.html"},
                             Words{"1", "--bindings", "-o", "x.csv"},
                             Words{"1", "--files", "-o", "x.json"},
                             Words{"1", "--bindings", "--json", "-o", "x.html"},
                             Words{"--who", "N", "-o", "w.html"},
                             Words{"1", "--as-child", "sh", "-o", "w.dot"},
                             Words{"1", "--csv", "-o", "x.json"},
                             Words{"1", "--json", "-o", "x.html"},
                             Words{"1", "--why", "libc", "-o", "x.csv"},
                             Words{"record", "1", "-o", "x.json"},
                             Words{"--from", "d.json", "-o", "r.tar.gz"},
                             Words{"1", "-o", "x.jpg"}}) {
    const Leave left = refusal(words);
    INFO(words.front() << " " << words.back() << ": " << left.err);
    CHECK(left.status == 2);
    CHECK(left.err.find("that answer has no such form") != std::string::npos);
    CHECK(left.err.find(" is written as ") != std::string::npos);
  }
  for (const Words& words : {Words{"diff", "a", "b", "-o", "x.json"},
                             Words{"diff", "a", "b", "-o", "x.txt"},
                             Words{"stat", "-o", "a.svg/st", "true"},
                             Words{"fds", "1", "-o", "fd.csv"},
                             Words{"watch", "1", "-o", "w.jsonl"},
                             Words{"watch", "1", "-o", "tcp://10.0.0.1:80/x.html"},
                             Words{"dump", "1", "--json", "-o", "x.jsonl"},
                             Words{"calls", "--csv", "-o", "x.csv", "true"},
                             Words{"1", "--tree", "-o", "t.log"},
                             Words{"1", "--json", "-o", "x"},
                             Words{"1", "--why", "libc", "-o", "x.svg"},
                             Words{"1", "--unused", "-o", "x.json"},
                             Words{"record", "1", "-o", "x.tgz"},
                             Words{"record", "1", "-o", "x.json/"},
                             Words{"record", "1", "-o", "x.1"},
                             Words{"1", "-o", "/dev/stdout"},
                             Words{"1", "-o", "libssl.so.3"}}) {
    const Leave left = refusal(words);
    INFO(words.front() << " " << words.back() << ": " << left.err);
    CHECK(left.status == 0);
  }
}

TEST_CASE("options: what an answer has no use for is refused, not dropped", "[cli]") {
  for (const Words& words : {Words{"--who", "libc", "--fail-on", "libs>1"},
                             Words{"--who", "libc", "--deny", "*"},
                             Words{"--who", "libc", "--children"},
                             Words{"--who", "libc", "--pick"},
                             Words{"--as-child", "sh", "1", "--fail-on", "libs>1"},
                             Words{"--as-child", "sh", "1", "--deny", "*"},
                             Words{"--explain", "dup-openmp", "1"},
                             Words{"--explain", "list", "--fail-on", "libs>1"},
                             Words{"--explain", "list", "--deny", "*"},
                             Words{"--explain", "list", "--json"},
                             Words{"--explain", "list", "--run", "true"},
                             Words{"--json", "fds", "1"},
                             Words{"--json", "diff", "a", "b"},
                             Words{"--fail-on", "libs>1", "record", "1", "-o", "x"},
                             Words{"4192", "dump", "1"}}) {
    const Leave left = leave(words);
    INFO(words.front() << " " << words.back() << ": " << left.err);
    CHECK(left.status == 2);
    CHECK(left.out.empty());
    CHECK(left.err.find("hint: ") != std::string::npos);
  }
  CHECK(leave({"--explain", "list", "--color", "never"}).status == 0);
  CHECK(
      std::holds_alternative<Request>(parse_options({"--timeout", "9", "record", "1", "-o", "x"})));
}

TEST_CASE("options: calls are counted of a process, for lists of libraries", "[cli]") {
  CHECK(trace_request({"1", "--calls", "2.5"}).calls == std::chrono::milliseconds(2500));
  CHECK(trace_request({"1", "--calls", "1", "--csv"}).calls);
  CHECK(trace_request({"1", "--calls", "1", "-o", "x.json"}).calls);
  CHECK_FALSE(trace_request({"1"}).calls);
  for (const Words& words : {Words{"--calls", "1"},
                             Words{"/bin/true", "--calls", "1"},
                             Words{"--calls", "1", "--run", "true"},
                             Words{"--calls", "1", "--from", "x.json"},
                             Words{"1", "--calls", "0"},
                             Words{"1", "--calls", "nan"},
                             Words{"1", "--calls", "inf"},
                             Words{"1", "--calls", "0x1"},
                             Words{"1", "--calls", "x"},
                             Words{"1", "--calls", "1", "--tree"},
                             Words{"1", "--calls", "1", "--findings"},
                             Words{"1", "--calls", "1", "--why", "libc"},
                             Words{"1", "--calls", "1", "--unused"},
                             Words{"1", "--calls", "1", "-o", "x.svg"},
                             Words{"1", "--calls", "1", "-o", "x.html"}}) {
    const Leave left = leave(words);
    INFO(words.back() << ": " << left.err);
    CHECK(left.status == 2);
    CHECK(left.err.find("hint: ") != std::string::npos);
  }
}

TEST_CASE("options: forms exclude each other, and so do targets", "[cli]") {
  CHECK(leave({"1", "--json", "--csv"}).status == 2);
  CHECK(leave({"1", "--from", "x.json"}).status == 2);
  CHECK(leave({"1", "--run", "ls"}).status == 2);
  CHECK(leave({"--root", "/x", "1"}).status == 2);
  CHECK(leave({"--at", "idle", "1"}).status == 2);
}

TEST_CASE("options: without a target an answer comes from the last trace, nothing at all is usage",
          "[cli]") {
  CHECK(std::holds_alternative<LastSource>(trace_request({"--why", "libssl"}).source));
  CHECK(std::holds_alternative<LastSource>(trace_request({"--tree"}).source));
  if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {
    CHECK(std::holds_alternative<PickSource>(trace_request({}).source));
    return;
  }
  const Leave bare = leave({});
  CHECK(bare.status == 2);
  CHECK(bare.err.find("Usage: tracso") != std::string::npos);
  CHECK(bare.out.empty());
}

TEST_CASE("options: the picker's options imply it", "[cli]") {
  const auto source = [](const Words& words) {
    return std::get<PickSource>(trace_request(words).source);
  };
  CHECK(source({"--pick"}).mode == PickSource::Mode::textual);
  CHECK(source({"--pick-py"}).python_only);
  CHECK(source({"--pick-mode", "plain"}).mode == PickSource::Mode::plain);
  CHECK_FALSE(source({"--pick-mode", "curses"}).python_only);
  CHECK(trace_request({"--pick", "--json"}).output.form == "json");
  CHECK(leave({"--pick", "1"}).status == 2);
  CHECK(leave({"--pick", "--run", "ls"}).status == 2);
  CHECK(leave({"--pick-mode", "fancy"}).status == 2);
}

TEST_CASE("options: an empty word is a slip, not an answer to another question", "[cli]") {
  for (const Words& words : {Words{""},
                             Words{"1", "-o", ""},
                             Words{"--why", ""},
                             Words{"--from", ""},
                             Words{"--root", "", "/bin/ls"},
                             Words{"record", "1", "-o", ""},
                             Words{"record", "", "-o", "x"}}) {
    const Leave seen = leave(words);
    CHECK(seen.status == 2);
    CHECK(seen.err.find("is empty") != std::string::npos);
  }
}

TEST_CASE("options: gates take one word each", "[cli]") {
  const auto request = trace_request(
      {"--deny", "libgdal*", "--fail-on", "libs>3,resident>1M", "--deny", "libx*", "42"});
  CHECK(request.denied == Words{"libgdal*", "libx*"});
  CHECK(request.gates.size() == 2);
  CHECK(request.costs);
  CHECK(std::get<PidSource>(request.source).pid == 42);
  const Leave wrong = leave({"--fail-on", "nonsense", "42"});
  CHECK(wrong.status == 2);
  CHECK(wrong.err.find("finding>=warning") != std::string::npos);
}

TEST_CASE("options: a baseline measures memory, and its tolerances need one", "[cli]") {
  const auto request = trace_request(
      {"--baseline", "b.json", "--fail-on-regression", "10%", "--tolerance", "rss=5%+1MB", "42"});
  CHECK(request.baseline.compare == "b.json");
  CHECK_FALSE(request.baseline.save);
  CHECK(request.costs);
  REQUIRE(request.baseline.tolerances.named.size() == 1);
  CHECK(request.baseline.tolerances.bytes);
  CHECK(std::get<PidSource>(request.source).pid == 42);
  CHECK(std::holds_alternative<LastSource>(trace_request({"--save-baseline", "b.json"}).source));
  CHECK(leave({"--fail-on-regression", "10%", "42"}).status == 2);
  CHECK(leave({"--baseline", "b.json", "--tolerance", "size=1", "42"}).status == 2);
  CHECK(leave({"--baseline", "", "42"}).status == 2);
}

TEST_CASE("options: findings are a form, and each can be explained", "[cli]") {
  CHECK(trace_request({"--findings", "1"}).output.form == "findings");
  CHECK(leave({"--findings", "--tree", "1"}).status == 2);
  CHECK(leave({"--why", "x", "--findings", "1"}).status == 2);
  CHECK(leave({"--explain", "dup-openmp"}).status == 0);
  CHECK(leave({"--explain", "dup-openm"}).err.find("dup-openmp") != std::string::npos);
}

TEST_CASE("options: an unknown option is named, and the close one with it", "[cli]") {
  const Leave typo = leave({"--jsn", "1"});
  CHECK(typo.status == 2);
  CHECK(typo.err.find("unknown option '--jsn'") != std::string::npos);
  CHECK(typo.err.find("--json") != std::string::npos);
}

TEST_CASE("options: numbers and choices are checked", "[cli]") {
  CHECK(leave({"--timeout", "x", "1"}).status == 2);
  CHECK(leave({"--timeout", "0", "1"}).status == 2);
  CHECK(leave({"--depth", "-1", "1"}).status == 2);
  CHECK(leave({"--probe", "magic", "1"}).status == 2);
  CHECK(leave({"--at", "soon", "--run", "ls"}).status == 2);
  CHECK(trace_request({"--timeout", "0.5", "1"}).timeout == std::chrono::milliseconds(500));
  const auto run = std::get<RunSource>(trace_request({"--at", "2.5", "--run", "ls"}).source);
  CHECK(run.at == RunSource::Moment::seconds);
  CHECK(run.after == std::chrono::milliseconds(2500));
}

TEST_CASE("options: --limit rules all tables, 0 means all", "[cli]") {
  const auto render = trace_request({"1", "--limit", "0"}).output.render;
  CHECK(render.limit_packages == 0);
  CHECK(render.limit_libraries == 0);
  CHECK(trace_request({"1"}).output.render.limit_packages == 10);
}

TEST_CASE("options: record wants a process and a place", "[cli]") {
  const auto parsed = parse_options({"record", "42", "-o", "x.tar.gz"});
  REQUIRE(std::holds_alternative<Request>(parsed));
  const auto request = std::get<RecordRequest>(std::get<Request>(parsed));
  CHECK(request.pid == 42);
  CHECK(request.destination == "x.tar.gz");
  CHECK(leave({"record", "42"}).status == 2);
  CHECK(leave({"record", "x", "-o", "y"}).status == 2);
}

TEST_CASE("options: help and version leave with 0 on stdout", "[cli]") {
  CHECK(leave({"-h"}).status == 0);
  CHECK(leave({"--help"}).out.find("Examples:") != std::string::npos);
  CHECK(leave({"--version"}).out.find("tracso ") == 0);
  CHECK(leave({"record", "--help"}).out.find("DEST") != std::string::npos);
}

TEST_CASE("options: hostile words come back escaped", "[cli]") {
  CHECK(leave({"--x\x1b[2Jx"}).err.find('\x1b') == std::string::npos);
  CHECK(leave({"--at", "\x1b]0;x\x07", "--run", "ls"}).err.find('\x1b') == std::string::npos);
}

}  // namespace
}  // namespace tracso
