#include "base/text.hpp"
#include "cli/options.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"

#include <set>

namespace tracso {
namespace {

using Words = std::vector<std::string>;

Leave leave(const Words& words) {
  const auto parsed = parse_options(words);
  REQUIRE(std::holds_alternative<Leave>(parsed));
  return std::get<Leave>(parsed);
}

std::string note(const Words& words) {
  const auto parsed = parse_options(words);
  REQUIRE(std::holds_alternative<Request>(parsed));
  return std::get<TraceRequest>(std::get<Request>(parsed)).note;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Every "--word" of a text, roff's "\-" read as a minus.
std::set<std::string> options_in(std::string text) {
  for (auto at = text.find("\\-"); at != std::string::npos; at = text.find("\\-", at)) {
    text.erase(at, 1);
  }
  std::set<std::string> found;
  const std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789-";
  for (auto at = text.find("--"); at != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_not_of(letters, at), text.size());
    if (end > at + 2 && text[at + 2] != '-') {
      found.insert(text.substr(at, end - at));
    }
    at = text.find("--", end);
  }
  return found;
}

}  // namespace

TEST_CASE("help: five groups, every option in one of them", "[cli][help]") {
  const std::string help = leave({"--help"}).out;
  for (const char* group : {"What to look at:",
                            "What to print:",
                            "How to look:",
                            "Gates for continuous integration:",
                            "Other:",
                            "Subcommands:"}) {
    INFO(group);
    CHECK(has(help, group));
  }
  CHECK(has(help, "--run CMD..."));
  CHECK(has(help, "--pick-mode MODE"));
  CHECK_FALSE(has(help, "Options:"));
  for (const auto line : split(help, '\n')) {
    INFO(line);
    CHECK(display_width(line) <= 80);
  }
}

TEST_CASE("help: each command tells its usage, options and examples within 80 columns",
          "[cli][help]") {
  for (const std::string command : {"stat", "calls", "dump", "fds", "watch", "diff", "record"}) {
    const std::string help = leave({command, "-h"}).out;
    INFO(help);
    CHECK(has(help, "\n\nUsage: tracso " + command + " [options] "));
    CHECK(has(help, "\n  -h, --help                  this text\n"));
    CHECK(has(help, "\n\nExamples:\n  tracso "));
    CHECK_FALSE(has(help, "[OPTIONS]"));
    for (const auto line : split(help, '\n')) {
      INFO(line);
      const bool typed = line.starts_with("  tracso ");  // is not broken
      CHECK((typed || display_width(line) <= 80));
    }
  }
  CHECK(has(leave({"stat", "-h"}).out, "\n       tracso stat [options] -p PID\n"));
  CHECK(has(leave({"calls", "-h"}).out, "\n       tracso calls [options] -p PID [-d SECONDS]\n"));
}

TEST_CASE("help: the manual page and --help know the same options", "[cli][help]") {
  const std::string manual = test::read_file(test::tests_file("../docs/tracso.1"));
  const std::size_t begin = manual.find(".SH OPTIONS");
  REQUIRE(begin != std::string::npos);
  std::set<std::string> known;
  for (const std::string& name : known_options()) {
    if (name.starts_with("--")) {
      known.insert(name);
      INFO(name << " is not in docs/tracso.1");
      CHECK(options_in(manual).contains(name));
    }
  }
  const std::set<std::string> others{"--tree"};
  for (const std::string& name : options_in(manual.substr(begin))) {
    INFO(name << " of docs/tracso.1 is no option");
    CHECK((known.contains(name) || others.contains(name)));
  }
}

TEST_CASE("help: topics are printed, findings explained, commands described", "[cli][help]") {
  const std::string topics = leave({"help"}).out;
  for (const char* topic : {"attribution", "findings", "exit-status", "completions", "record"}) {
    CHECK(has(topics, topic));
    CHECK(leave({"help", topic}).status == 0);
    CHECK(leave({"help", topic}).out.size() > 100);
  }
  for (const char* command : {"  stat ", "  calls -h ", "  dump -h ", "  fds ", "  record "}) {
    CHECK(has(topics.substr(topics.find("the options of a command")), command));
  }
  CHECK(has(leave({"help", "exit-status"}).out, "126, 127"));
  CHECK(has(leave({"help", "dup-openmp"}).out, "OpenMP"));
  CHECK(has(leave({"help", "completions-bash"}).out, "complete -F"));
  const Leave unknown = leave({"help", "atribution"});
  CHECK(unknown.status == 2);
  CHECK(has(unknown.err, "did you mean attribution?"));
}

TEST_CASE("slips: two targets, and an option that a command lacks", "[cli][help]") {
  const Leave two = leave({"4192", "4193"});
  CHECK(two.status == 2);
  CHECK(has(two.err, "one TARGET at a time: '4193' is a second one"));
  CHECK(has(two.err, "tracso diff OLD NEW"));
  const Leave why = leave({"why", "libssl"});
  CHECK(has(why.err, "there is no command 'why'"));
  CHECK(has(why.err, "it is an option: tracso --why"));
  CHECK(has(leave({"--wyh", "libssl"}).err, "did you mean --why"));
  CHECK(has(leave({"record", "4192"}).err,
            "record needs --output DEST\nhint: tracso record 4192 -o case.tar.gz\n"));
}

TEST_CASE("slips: a command that is none is told apart from a file", "[cli][help]") {
  const Leave two = leave({"recrod", "4192"});
  CHECK(two.status == 2);
  CHECK(has(two.err, "did you mean tracso record?"));
  CHECK(has(leave({"records", "4192", "-o", "x"}).err, "did you mean tracso record?"));
  CHECK(has(leave({"recod"}).err, "did you mean tracso record?"));
  // The value of an option is no command.
  CHECK(has(leave({"--by", "foo", "4192"}).err, "foo' is not"));
  CHECK(has(leave({"--color", "foo", "4192"}).err, "foo' is not"));
  CHECK(std::holds_alternative<Request>(parse_options({"./recod"})));
  CHECK(std::holds_alternative<Request>(parse_options({"quite-another-file"})));
}

TEST_CASE("slips: a command where --run is missing", "[cli][help]") {
  const auto hint = [](std::vector<std::string> words) {
    const Leave left = leave(std::move(words));
    CHECK(left.status == 2);
    return left.err.substr(left.err.find("hint: "));
  };
  CHECK(hint({"sh", "-c", "exit 1"}) == "hint: did you mean: tracso --run sh -c 'exit 1'\n");
  CHECK(hint({"run", "nosuch", "-c", "it's"}) ==
        "hint: did you mean: tracso --run nosuch -c 'it'\\''s'\n");
  CHECK(hint({"--findings", "sh", "x.sh"}) ==
        "hint: did you mean: tracso --findings --run sh x.sh\n");
  CHECK(hint({"ls"}) == "hint: did you mean: tracso --run ls\n");
  CHECK(has(hint({"nosuchprogram", "-c"}), "lists the options"));
  // A value of an option, and a file, are none.
  CHECK_FALSE(has(hint({"--output", "sh", "--nothing"}), "--run"));
  CHECK_FALSE(has(hint({"/bin/sh", "-c"}), "--run"));
}

TEST_CASE("slips: --why without a library says how it is asked", "[cli][help]") {
  const Leave alone = leave({"--why"});
  CHECK(alone.status == 2);
  CHECK(has(alone.err, "--why is to be followed by a library"));
  CHECK(has(alone.err, "tracso --why libssl.so.3"));
  CHECK(has(leave({"4192", "--why"}).err, "tracso --why libssl.so.3"));
  CHECK_FALSE(has(leave({"4192", "--by"}).err, "--why"));
}

TEST_CASE("slips: options of a command have their own neighbours", "[cli][help]") {
  CHECK(has(leave({"record", "1", "-o", "x", "--prob", "path"}).err, "did you mean --probe?"));
}

TEST_CASE("slips: what other tools call -p, --pid and -d is translated", "[cli][help]") {
  for (const Words& words : {Words{"-p", "4192"}, Words{"--pid", "4192"}, Words{"--pid=4192"}}) {
    CHECK(has(leave(words).err, "hint: the process stands by itself: tracso 4192\n"));
  }
  for (const std::string command : {"dump", "fds", "watch", "record"}) {
    CHECK(has(leave({command, "-p", "4192"}).err, "by itself: tracso " + command + " 4192"));
  }
  CHECK(has(leave({"stat", "-p", "4192", "-d", "3"}).err, "hint: for how long: --for SECONDS\n"));
  CHECK(has(leave({"-d", "3", "4192"}).err,
            "hint: for how long calls are counted: --calls SECONDS\n"));
  CHECK(has(leave({"dump", "4192", "-d", "3"}).err,
            "hint: how many looks, and how far apart: --count N --interval SECONDS\n"));
  CHECK_FALSE(has(leave({"record", "4192", "-d", "3"}).err, "how"));
  CHECK(has(leave({"calls", "-p", "4192", "--for", "3"}).err, "hint: for how long: -d SECONDS\n"));
  CHECK(has(leave({"diff", "-p", "4192"}).err, "by itself: tracso diff 4192 4193"));
  CHECK(has(leave({"--for", "1", "4192"}).err, "--calls SECONDS"));
  // Every other letter is as close as the next one.
  CHECK(has(leave({"dump", "-q", "4192"}).err, "hint: 'tracso dump -h' lists the options\n"));
  CHECK(has(leave({"-q"}).err, "hint: 'tracso -h' lists the options\n"));
}

TEST_CASE("slips: options that CMD takes away are noticed", "[cli][help]") {
  CHECK(has(note({"--run", "python3", "x.py", "--why", "libssl"}), "'--why' stands behind"));
  CHECK(has(note({"--run", "python3", "x.py", "--tree"}), "--tree"));
  CHECK(note({"--why", "libssl", "--run", "python3", "--why", "x"}).empty());
  CHECK(note({"--run", "make", "--version", "--output", "x", "-o", "y"}).empty());
  CHECK(note({"--run", "ls"}).empty());
  CHECK_FALSE(has(note({"--run", "x", "--why=\x1b[2J"}), "\x1b"));
}

TEST_CASE("completion: options, values, commands and what lies on this machine",
          "[cli][complete]") {
  const auto completed = [](Words words) {
    words.insert(words.begin(), "__complete");
    return leave(words).out;
  };
  CHECK(completed({"--why"}) == "--why\tthe origin of a library: a soname, a path or a prefix\n");
  CHECK(completed({"--color", ""}) == "auto\nalways\nnever\n");
  CHECK(completed({"--probe", "m"}) == "memory\n");
  CHECK(has(completed({"rec"}), "record\t"));
  CHECK(has(completed({"record", "1", "--"}), "--timeout\t"));
  CHECK_FALSE(has(completed({"record", "1", "--"}), "--tree"));
  CHECK(completed({"-o", ""}) == ":file\n");
  CHECK(completed({"--run", "py"}) == ":command\n");
  CHECK(completed({"--run", "python3", "--wh"}) == ":file\n");
  CHECK(has(completed({"--explain", "dup"}), "dup-openmp\t"));
  CHECK(has(completed({""}), ":file\n"));
}

}  // namespace tracso
