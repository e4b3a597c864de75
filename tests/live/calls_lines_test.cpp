// tracso calls, each call with its arguments: what a program says it passes is what the lines show,
// whatever its pointers lead to, and the program notices nothing.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

using namespace tracso;
using test::contains;
using test::lines_of;
using test::shell;
using test::squeezed;
using test::trace_lines;
using test::Words;

namespace {

std::string built(const std::string& source, const std::string& options = "") {
  const auto folder = test::scratch_folder();
  const auto from = test::tests_file("live/calls");
  const auto name = source.substr(0, source.find('.'));
  shell(
      fmt::format("cd {0} && g++ -O2 -fPIC -shared {1}/library.cpp -o libfirst.so -pthread && "
                  "gcc -O1 -fno-builtin -U_FORTIFY_SOURCE -w {3} {1}/{2} -o {4} -L. "
                  "-Wl,--no-as-needed -lfirst -lm "
                  "-ldl -Wl,-rpath,'$ORIGIN' -pthread",
                  folder,
                  from,
                  source,
                  options,
                  name));
  return folder + "/" + name;
}

}  // namespace

TEST_CASE("calls lines: the values that the program says", "[live][calls]") {
  for (const std::string options : {"", "-Wl,-z,now", "-fno-plt", "-Wl,-z,lazy -no-pie"}) {
    INFO(options);
    const auto program = built("speaker.c", options);
    const auto native = test::run_program({program});
    const auto traced = trace_lines({}, {program});
    CHECK(traced.run.status == native.status);
    CHECK(traced.run.err == native.err);
    for (const auto& line : lines_of(traced.run.out)) {
      INFO(line);
      CHECK(traced.has(line));
    }
    CHECK(lines_of(traced.run.out).size() >= 13);
    CHECK(traced.has("exit(7 <no return ...>"));
    REQUIRE_FALSE(traced.lines.empty());
    CHECK(traced.lines.back() == "+++ exited (status 7) +++");
    CHECK_FALSE(traced.has("\x1b"));
  }
}

TEST_CASE("calls lines: -s, times, places, indents, columns", "[live][calls]") {
  const auto program = built("speaker.c");
  const auto cut = trace_lines({"-s", "4"}, {program});
  CHECK(cut.has("getenv(\"SPOK\"...) = \"a \\\"q\"..."));
  CHECK(cut.has(
      "snprintf(\"-42 \"..., 64, \"%d %\"..., -42, \"word\", 'x', 3.750000, 0xff, 1, 2, 3) = 25"));
  CHECK(trace_lines({"-s", "200"}, {program}).has("text that is longer than 32 bytes\""));
  const auto begins = [&](const Words& options, const std::string& form) {
    const auto traced = trace_lines(options, {program});
    const auto at = std::find_if(traced.lines.begin(), traced.lines.end(), [](const auto& line) {
      return contains(line, "getenv(");
    });
    REQUIRE(at != traced.lines.end());
    INFO(*at);
    // 9 stands for a digit.
    for (std::size_t i = 0; i < form.size(); ++i) {
      const bool digit = std::isdigit(static_cast<unsigned char>((*at)[i])) != 0;
      CHECK((form[i] == '9' ? digit : form[i] == (*at)[i]));
    }
    return *at;
  };
  begins({"-t"}, "99:99:99 getenv(");
  begins({"-tt"}, "99:99:99.999999 getenv(");
  begins({"-ttt"}, "9999999999.999999 getenv(");
  begins({"-r"}, "  9.999999 getenv(");
  CHECK(contains(begins({"-i"}, "[speaker+0x"), "] getenv("));
  CHECK(contains(begins({"-f"}, "[pid "), "] getenv("));
  const auto took = begins({"-T"}, "getenv(");
  CHECK(took.find("\"... <0.") != std::string::npos);
  CHECK(took.back() == '>');
  // In a file of its own: what the program writes to standard error may come within a line of ours.
  const auto file = test::scratch_folder() + "/aligned.txt";
  test::run_tracso({"calls", "-a", "60", "-e", "sqrt@MAIN", "-o", file, program});
  const auto line = lines_of(test::read_file(file));
  CHECK(std::any_of(line.begin(), line.end(), [](const auto& one) {
    return one.find("speaker->sqrt(0.250000)") == 0 && one.find("= 0.500000") == 59;
  }));
}

TEST_CASE("calls lines: filters, callers, what is inside", "[live][calls]") {
  const auto program = built("speaker.c");
  const auto only = trace_lines({"-e", "strlen@MAIN"}, {program});
  CHECK(only.count("(") == 2);  // and "+++ exited (status"
  CHECK(only.has("speaker->strlen("));
  const auto own = trace_lines({}, {program});
  CHECK_FALSE(own.has("->"));
  const auto none = test::run_tracso({"calls", "-e", "no_such", program});
  CHECK(none.status == 7);
  CHECK(contains(none.err, "no call was seen"));
}

TEST_CASE("calls lines: every call of every thread is there once", "[live][calls]") {
  const auto program = built("many_threads.c");
  const auto traced = trace_lines({"-e", "add_one"}, {program});
  CHECK(traced.run.status == 0);
  CHECK(traced.run.out == "threads done\n");
  CHECK(traced.run.err.empty());
  std::multiset<int> arguments;
  for (const auto& line : traced.lines) {
    const auto at = line.find("add_one(");
    if (at != std::string::npos) {
      arguments.insert(std::stoi(line.substr(at + 8)));
    }
  }
  CHECK(arguments.size() == 40U * 500U);
  CHECK(std::set<int>(arguments.begin(), arguments.end()).size() == 40U * 500U);
  CHECK(traced.has("[pid "));
  CHECK(traced.count(" = ") == 40 * 500);
}

TEST_CASE("calls lines: a full ring makes the program wait, or lines are counted as lost",
          "[live][calls]") {
  const auto program = built("storm.c");
  const auto all = trace_lines({"-e", "add_one@MAIN"}, {program, "60000"});
  CHECK(all.run.out == "1\n");
  CHECK(all.run.err.empty());
  CHECK(all.count("add_one(") == 60000);
  const auto dropped = trace_lines({"--drop", "-e", "add_one@MAIN"}, {program, "300000"});
  CHECK(dropped.run.out == "1\n");
  CHECK((dropped.count("add_one(") == 300000 ||
         contains(dropped.run.err, "calls and returns are missing")));
}

TEST_CASE("calls lines: signal handlers that call and jump", "[live][calls]") {
  const auto program = built("storm.c");
  const auto traced = trace_lines({"-e", "add_one@MAIN"}, {program, "60000", "signals"});
  CHECK(traced.run.status == 0);
  CHECK(traced.run.out == "1\n");
  const auto seen = traced.count("add_one(");
  CHECK(seen > 50000);
  CHECK((seen >= 60000 || contains(traced.run.err, "missing")));
}

TEST_CASE("calls lines: children with -f, none without", "[live][calls]") {
  const auto folder = test::scratch_folder();
  test::write_file(
      folder + "/forks.c",
      "#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
      "int main(void) { if (fork() == 0) { getenv(\"IN_CHILD\"); "
      "execlp(\"true\", \"true\", (char*)0); } wait(0); getenv(\"IN_PARENT\"); return 0; }\n");
  shell("cd " + folder + " && gcc -O1 -w forks.c -o forks");
  const auto alone = trace_lines({}, {folder + "/forks"});
  CHECK(alone.has("IN_PARENT"));
  CHECK_FALSE(alone.has("IN_CHILD"));
  const auto followed = trace_lines({"-f"}, {folder + "/forks"});
  CHECK(followed.has("IN_PARENT"));
  CHECK(followed.has("IN_CHILD"));
  CHECK(followed.has("execlp(\"true\", \"true\""));
  CHECK(followed.has("<... fork resumed> ) = 0"));
}

// A lazy slot is not bound before its first call, so the library behind it is not known then.
TEST_CASE("calls lines: the first call of a lazy slot passes the filter too", "[live][calls]") {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"-l", "nosuch*"}, {"--callee", "nosuch*"}, {"-e", "*@nosuch*"}}) {
    std::vector<std::string> all{"calls"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"/bin/cat", "/dev/null"});
    const auto ran = test::run_tracso(all);
    INFO(words.front() << ": " << ran.err);
    CHECK_FALSE(contains(ran.err, "->"));
    CHECK(contains(ran.err, "no library fits 'nosuch*'"));
  }
}

TEST_CASE("calls lines: how it ended, and what is refused", "[live][calls]") {
  const auto nowhere = test::run_tracso({"calls", "-o", "/no-such-folder/x", "/bin/true"});
  CHECK(nowhere.status == 2);
  CHECK(contains(nowhere.err, "the folder must be there"));
  const auto killed = test::run_tracso({"calls", "sh", "-c", "kill -TERM $$"});
  CHECK(killed.status == 128 + 15);
  CHECK(contains(killed.err, "+++ killed by SIGTERM +++"));
  for (const Words& option : {Words{"-d", "1"}, {"-L"}, {"-s", "100000"}}) {
    Words words{"calls"};
    words.insert(words.end(), option.begin(), option.end());
    words.push_back("true");
    const auto run = test::run_tracso(words);
    INFO(option.front() << run.err);
    CHECK(run.status == 2);
    CHECK(contains(run.err, option.front()));
    CHECK(contains(run.err, "hint: "));
  }
  CHECK(test::run_tracso({"calls", "-o", "/no/such/folder/file", "true"}).status != 0);
}

TEST_CASE("calls lines: a reader that goes away does not stop the program", "[live][calls]") {
  const auto program = built("storm.c");
  const auto run = test::run_program(
      {"/bin/sh",
       "-c",
       fmt::format("{{ {} calls -e add_one@MAIN {} 60000 2>&1 >&3 | head -n 1; }} 3>{}/gone.txt",
                   test::tracso_binary(),
                   program,
                   test::scratch_folder())});
  CHECK(contains(run.out, "add_one(0"));
  CHECK(test::read_file(test::scratch_folder() + "/gone.txt") == "1\n");
}

TEST_CASE("calls lines: constructs that a wrong trampoline breaks", "[live][calls]") {
  const auto folder = test::scratch_folder();
  const auto from = test::tests_file("live/calls");
  shell(fmt::format(
      "cd {0} && g++ -O2 -fPIC -shared {1}/library.cpp -o libfirst.so -pthread && "
      "gcc -O2 -fPIC -shared {1}/second.c -o libsecond.so -L. -lfirst -Wl,-rpath,'$ORIGIN' && "
      "gcc -O2 -fPIC -shared {1}/plugin.c -o libplugin.so && cp libplugin.so libplugin2.so",
      folder,
      from));
  for (const std::string source :
       {"constructs.c", "exceptions.cpp", "jumps.c", "children.c", "loading.c"}) {
    INFO(source);
    const auto program = folder + "/" + source.substr(0, source.find('.'));
    shell(
        fmt::format("cd {} && {} -O2 -w {}/{} -o {} -L. -Wl,--no-as-needed -lfirst -lsecond "
                    "-Wl,-rpath,'$ORIGIN' -pthread",
                    folder,
                    source.ends_with(".cpp") ? "g++" : "gcc",
                    from,
                    source,
                    program));
    const auto native = test::run_program({program});
    for (const Words& options : {Words{"-C"}, {"-e", "*", "-l", "libfirst*"}, {"-f", "-e", "*"}}) {
      const auto traced = trace_lines(options, {program});
      // With -f the variables that bring the agent stay, and children.c prints them.
      CHECK((traced.run.out == native.out || options.front() == "-f"));
      CHECK(traced.run.status == native.status);
      CHECK(traced.lines.size() > 5);
    }
  }
}

#ifndef __SANITIZE_ADDRESS__  // which needs more address space than the test leaves
TEST_CASE("calls lines: too little address space is said", "[live][calls]") {
  const auto program = built("speaker.c");
  const auto run = test::run_program(
      {"/bin/sh",
       "-c",
       "ulimit -v 3000000; exec " + test::tracso_binary() + " calls -e getenv@MAIN " + program});
  CHECK(run.status == 7);
  CHECK((contains(run.err, "getenv(\"SPOKEN\")") || contains(run.err, "could not be recorded")));
}
#endif

TEST_CASE("calls lines: lengths that are ints, below zero, or more than there is",
          "[live][calls]") {
  const auto folder = test::scratch_folder();
  // The library is not the real one: what counts is the function's name and what registers hold.
  test::write_file(folder + "/fake.c",
                   "int BIO_write(void* a, const void* b, int n) { return n; }\n"
                   "int BIO_read(void* a, void* b, int n) { return n < 3 ? -1 : 3; }\n");
  test::write_file(folder + "/lengths.c",
                   "int BIO_write(void*, const void*, long);\nint BIO_read(void*, void*, int);\n"
                   "int main(void) { char text[9] = \"abcdefgh\";\n"
                   "  BIO_write(0, text, 0x7700000004); BIO_write(0, text, -1);\n"
                   "  BIO_read(0, text, 5); BIO_read(0, text, 2); return 0; }\n");
  shell("cd " + folder +
        " && gcc -O1 -w -fPIC -shared fake.c -o libfake.so && gcc -O1 -w lengths.c -o lengths -L. "
        "-lfake -Wl,-rpath,'$ORIGIN'");
  const auto traced = trace_lines({}, {folder + "/lengths"});
  CHECK(traced.has("BIO_write(nil, \"abcd\", 4) = 4"));
  CHECK(traced.has("BIO_write(nil, 0x7f"));
  CHECK(traced.has("BIO_read(nil, \"abc\", 5) = 3"));
  CHECK(traced.has(", 2) = -1"));
}

TEST_CASE("calls lines: real programs say what they do natively", "[live][calls]") {
  for (const Words& command : {Words{"ls", "/usr"},
                               {"sort", "-r", "/etc/passwd"},
                               {"sh", "-c", "for i in 1 2 3; do echo $i; done; exit 7"},
                               {"perl", "-e", "print join(',', sort map { $_ * 2 } 1..50)"},
                               {"python3", "-c", "import json, zlib; print(json.dumps([1]))"}}) {
    if (test::run_program({"/bin/sh", "-c", "command -v " + command.front()}).status != 0) {
      continue;
    }
    INFO(command.front());
    const auto native = test::run_program(command);
    for (const Words& options : {Words{}, {"-e", "*"}}) {
      const auto traced = trace_lines(options, command);
      CHECK(traced.run.status == native.status);
      CHECK(traced.run.out == native.out);
      CHECK(traced.lines.size() > 3);
    }
  }
}

TEST_CASE("calls lines: ltrace writes the same", "[live][calls]") {
  if (test::run_program({"/bin/sh", "-c", "command -v ltrace"}).status != 0) {
    WARN("no ltrace here");
    return;
  }
  const auto folder = test::scratch_folder();
  test::write_file(
      folder + "/plain.c",
      "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
      "static int compare(const void* a, const void* b) {\n"
      "  return strcmp(*(char* const*)a, *(char* const*)b);\n}\n"
      "int main(void) {\n  char* words[] = {\"b\", \"a\"};\n  getenv(\"NO_SUCH_VARIABLE\");\n"
      "  puts(\"hello\");\n  printf(\"%d %f %s\\n\", 42, 3.75, \"x\");\n"
      "  strcmp(\"x\", \"y\");\n  qsort(words, 2, 8, compare);\n  exit(3);\n}\n");
  shell("cd " + folder + " && gcc -O0 -fno-builtin -w plain.c -o plain");
  const auto theirs =
      test::run_program({"ltrace", "-o", folder + "/ltrace.txt", folder + "/plain"});
  if (!contains(test::read_file(folder + "/ltrace.txt"), "+++ exited (status 3) +++")) {
    WARN("ltrace does not work here");
    return;
  }
  const auto mine = test::run_tracso({"calls", "-o", folder + "/tracso.txt", folder + "/plain"});
  CHECK(mine.status == 3);
  CHECK(mine.out == theirs.out);
  // Addresses differ from run to run.
  const auto comparable = [](const std::string& file) {
    std::string text;
    for (auto line : lines_of(test::read_file(file))) {
      line = squeezed(line);
      for (auto at = line.find("0x"); at != std::string::npos; at = line.find("0x", at + 1)) {
        line.erase(at + 2, line.find_first_not_of("0123456789abcdef", at + 2) - at - 2);
      }
      // ltrace looks at the PLT alone, through which these two do not go.
      if (!line.starts_with("__libc_start_main(") && !line.starts_with("__cxa_finalize(")) {
        text += line + "\n";
      }
    }
    return text;
  };
  CHECK(comparable(folder + "/tracso.txt") == comparable(folder + "/ltrace.txt"));
}
