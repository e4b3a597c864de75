// tracso calls -F: what a program says of itself is what the lines show by a description of its
// functions; and where ltrace is there, it is the judge.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

using namespace tracso;
using test::contains;
using test::shell;
using test::Words;

namespace {

void write(const std::string& file, const std::string& text) {
  std::ofstream(file) << text;
}

constexpr const char* library = R"(
#include <string.h>
struct list; struct small { char text[6]; float number; }; struct counted;
int arr(int* a, int n) { return n; }
int walk(struct list* one) { return 1; }
int strs(const char* a, const char* b, int n) { return 2; }
float flt(float f, double d) { return f + d; }
int vals(struct small v, int x) { return x; }
int color(int c) { return c; }
int narrow(short c) { return c; }
int yes(int x) { return x; }
int bits(unsigned x) { return 0; }
int fill(int* p, char* text) { *p = 42; strcpy(text, "filled"); return 6; }
int zero(int* p) { return 0; }
int hide(int a, int b) { return a; }
struct small back(int x) { struct small v = {"back", 1.25f}; return v; }
char** names(char** p) { return p; }
int count(struct counted* d) { return 0; }
int octal(short v) { return v; }
int hexa(double d) { return 0; }
int one(char* p) { return 0; }
int print(const char* f, ...) { return 0; }
)";

constexpr const char* program = R"(
struct list { int v; struct list *next, *back; };
struct small { char text[6]; float number; };
struct counted { unsigned long n; int* p; };
int arr(int* a, int n); int walk(struct list*); int strs(const char*, const char*, int);
float flt(float f, double d); int vals(struct small v, int x); int color(int c);
int narrow(short c); int yes(int x); int bits(unsigned x); int fill(int* p, char* text);
int zero(int* p); int hide(int a, int b); struct small back(int); char** names(char** p);
int count(struct counted* d); int octal(short v); int hexa(double d); int one(char* p);
int print(const char* f, ...);
int main(void) {
  int a[6] = {10, 11, 12, 13, 14, 15};
  arr(a, 6); arr(a, 3); arr(0, 1);
  struct list l[6] = {{9}, {8}, {7}, {6}, {5}, {4}};
  for (int i = 0; i < 5; i++) { l[i].next = &l[i + 1]; l[i + 1].back = &l[i]; }
  walk(l);
  strs("abcdef", "ghijkl", 3);
  flt(1.5f, 2.25);
  struct small v = {"hello", 2.5f};
  vals(v, 7);
  color(1); color(5); narrow(2); yes(0); yes(3);
  bits(0xb8); bits(0xfffffffe); bits(0);
  int o = 0; char t[10];
  fill(&o, t);
  int z[4] = {1, 2, 0, 3};
  zero(z);
  hide(1, 2);
  back(3);
  char* ns[4] = {"one", "two", 0, "x"};
  names(ns);
  struct counted d = {3, a};
  count(&d);
  octal(8); hexa(1.5); one("c"); print("%d %s", 4, "five");
  return 0;
}
)";

constexpr const char* configuration = R"(
; functions of a test
int arr(array(int, arg2)*, int);
typedef list = struct;
typedef list = struct(int, list*, list*);
int walk(list*);
int strs(string, string[arg3], int);
float flt(float, double);
typedef small = struct(string(array(char, 6)), float);
int vals(small, int);
typedef colors = enum(RED, GREEN=1, BLUE);
int color(colors);
int narrow(enum[short](ONE=1,TWO));
bool(int) yes(bool(int));
int bits(bitvec(uint));
int fill(+int*, +string);
int zero(array(int, zero)*);
int hide(hide(int), int);
small back(int);
array(string, zero)* names(array(string,zero)*);
typedef counted = struct(ulong, array(int, elt1)*);
int count(counted*);
oct(short) octal(oct(short));
int hexa(hex(double));
int one(char*);
int print(format);
)";

struct Built {
  std::string folder, file, configuration;
};

Built built() {
  Built made{test::scratch_folder(), "", ""};
  write(made.folder + "/library.c", library);
  write(made.folder + "/program.c", program);
  made.configuration = made.folder + "/test.conf";
  write(made.configuration, configuration);
  made.file = made.folder + "/described";
  shell(
      fmt::format("cd {0} && gcc -w -O1 -fno-builtin -fPIC -shared library.c -o libdescribed.so && "
                  "gcc -w -O0 -fno-builtin program.c -o described -L. -ldescribed "
                  "-Wl,-rpath,'$ORIGIN'",
                  made.folder));
  return made;
}

// Without the spaces that align results, and without calls that start and end the process.
Words calls_in(const std::string& text) {
  Words lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto line = text.substr(at, end - at);
    at = end + 1;
    for (auto gap = line.find("  ="); gap != std::string::npos; gap = line.find("  =")) {
      line.erase(gap, 1);
    }
    if (!line.starts_with("__") && !line.starts_with("+++")) {
      lines.push_back(line);
    }
  }
  return lines;
}

Words traced(const Built& made, const Words& options) {
  const auto file = made.folder + "/lines.txt";
  Words words{"calls", "-o", file};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(made.file);
  const auto run = test::run_tracso(words);
  INFO(run.err);
  CHECK(run.status == 0);
  return calls_in(test::read_file(file));
}

}  // namespace

TEST_CASE("calls configuration: shown as described, from inside and from outside",
          "[live][calls]") {
  const auto made = built();
  const Words expected{
      "arr([ 10, 11, 12, 13... ], 6) = 6",
      "arr([ 10, 11, 12 ], 3) = 3",
      "arr(nil, 1) = 1",
      "walk({ 9, { 8, { 7, { 6, ..., ... }, recurse^ }, recurse^ }, nil }) = 1",
      R"(strs("abcdef", "ghi", 3) = 2)",
      "flt(1.500000, 2.250000) = 3.750000",
      R"(vals({ "hello\0", 2.500000 }, 7) = 7)",
      "color(GREEN) = 1",
      "color(5) = 5",
      "narrow(TWO) = 2",
      "yes(false) = false",
      "yes(true) = true",
      "bits(<3-5,7>) = 0",
      "bits(~<0>) = 0",
      "bits(<>) = 0",
      R"(fill(42, "filled") = 6)",
      "zero([ 1, 2 ]) = 0",
      "hide(2) = 1",
      R"(back(3) = { "back\0\0", 1.250000 })",
      R"(names([ "one", "two" ]) = [ "one", "two" ])",
      "count({ 3, [ 10, 11, 12 ] }) = 0",
      "octal(010) = 010",
      "hexa(0x1.8p+0) = 0",
      "one('c') = 0",
      R"(print("%d %s", 4, "five") = 0)",
  };
  const Words options{"-F", made.configuration};
  CHECK(traced(made, options) == expected);
  CHECK(traced(made, {"-F", made.configuration, "--engine", "ptrace"}) == expected);
  const auto judge = test::run_program({"/bin/sh",
                                        "-c",
                                        fmt::format("command -v ltrace >/dev/null && ltrace -F {} "
                                                    "-o {}/ltrace.txt {}",
                                                    made.configuration,
                                                    made.folder,
                                                    made.file)});
  if (judge.status == 0) {
    CHECK(calls_in(test::read_file(made.folder + "/ltrace.txt")) == expected);
  } else {
    WARN("ltrace is not here to judge");
  }
}

TEST_CASE("calls configuration: -A, several files, and what stands in none", "[live][calls]") {
  const auto made = built();
  const auto two = made.folder + "/two.conf";
  write(two, "int color(counted*);\nint arr(addr, hex(int));\n");
  const auto lines = traced(made, {"-F", made.configuration, "-F", two, "-A", "2"});
  const auto has = [&](const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  CHECK(has("walk({ 9, { 8, ..., ... }, nil }) = 1"));
  CHECK(has("arr(nil, 0x1) = 1"));  // the last description counts
  CHECK(has("color(0x1) = 1"));     // a type of the first file, a pointer to nowhere
}

TEST_CASE("calls configuration: what is wrong is said, with its place", "[live][calls]") {
  const auto made = built();
  const auto wrong = made.folder + "/wrong.conf";
  write(wrong, "int color(colour);\nint octal(oct(short));\n");
  const auto run = test::run_tracso({"calls", "-F", wrong, "-e", "octal+color@MAIN", made.file});
  INFO(run.err);
  CHECK(run.status == 0);
  CHECK(contains(run.err, "wrong.conf:1: 'colour' is no type that is known; the line is skipped"));
  CHECK(contains(run.err, "octal(010)"));
  const auto none = test::run_tracso({"calls", "-F", made.folder + "/none.conf", made.file});
  CHECK(none.status == 2);
  CHECK(contains(none.err, "none.conf: no such file"));
  CHECK(contains(none.err, "hint: -F takes a file of lines such as"));
  const auto directory = test::run_tracso({"calls", "-F", made.folder, made.file});
  CHECK(directory.status == 2);
  CHECK(contains(directory.err, "is a directory"));
  CHECK(contains(directory.err, "hint: -F takes a file of lines such as"));
  shell("head -c 5000000 /dev/zero | tr '\\0' ' ' > " + made.folder + "/large.conf");
  const auto large = test::run_tracso({"calls", "-F", made.folder + "/large.conf", made.file});
  CHECK(large.status == 2);
  CHECK(contains(large.err, "it is larger than 4 MB"));
  const auto foreign = test::run_tracso({"calls", "-F", test::tracso_binary(), made.file});
  CHECK(foreign.status == 2);
  write(made.folder + "/text.conf", [] {
    std::string text;
    for (int i = 0; i < 2000; ++i) {
      text += "no line of it\n";
    }
    return text;
  }());
  const auto text = test::run_tracso({"calls", "-F", made.folder + "/text.conf", made.file});
  CHECK(text.status == 2);
  CHECK(contains(text.err, "1000 of its lines are not understood"));
  const auto table = test::run_tracso({"calls", "-c", "-F", made.configuration, made.file});
  CHECK(table.status == 2);
  CHECK(contains(table.err, "-F is about lines"));
}

TEST_CASE("calls configuration: ltrace's own file is understood", "[live][calls]") {
  const auto made = built();
  bool any = false;
  for (const char* file : {"/etc/ltrace.conf", "/usr/share/ltrace/libc.so.conf"}) {
    if (test::run_program({"/bin/test", "-r", file}).status != 0) {
      continue;
    }
    any = true;
    const auto run = test::run_tracso({"calls", "-F", file, "-e", "octal@MAIN", made.file});
    INFO(run.err);
    CHECK(run.status == 0);
    CHECK_FALSE(contains(run.err, "skipped"));
  }
  if (!any) {
    WARN("ltrace's files are not here");
  }
}

TEST_CASE("calls configuration: strings of C++ by mangled names", "[live][calls]") {
  const auto folder = test::scratch_folder();
  write(folder + "/greet.cpp", R"(#include <string>
#include <string_view>
int greet(const std::string& name, std::string_view how) { return (int)(name.size() + how.size()); }
int bad(const std::string* name) { return 1; }
)");
  write(folder + "/main.cpp", R"(#include <string>
#include <string_view>
int greet(const std::string& name, std::string_view how);
int bad(const std::string* name);
int main() {
  greet("short", "view");
  greet(std::string(40, 'x'), "");
  bad((std::string*)8);
  bad(nullptr);
  return 0;
}
)");
  write(folder + "/cpp.conf",
        "int "
        "_Z5greetRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt17basic_string_viewIcS2_E"
        "(std_string, std_string_view);\n"
        "int _Z3badPKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(std_string);\n");
  shell(
      fmt::format("cd {0} && g++ -O1 -fPIC -shared greet.cpp -o libgreet.so && "
                  "g++ -O1 main.cpp -o main -L. -lgreet -Wl,-rpath,'$ORIGIN'",
                  folder));
  const auto run = test::run_tracso(
      {"calls", "-C", "-F", folder + "/cpp.conf", "-e", "_Z*@MAIN", folder + "/main"});
  INFO(run.err);
  CHECK(contains(run.err, R"(("short", "view") )"));
  CHECK(contains(run.err, "(\"" + std::string(32, 'x') + "\"..., \"\") "));
  CHECK(contains(run.err, "(0x8) "));
  CHECK(contains(run.err, "(nil) "));
}
