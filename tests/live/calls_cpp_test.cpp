// tracso calls of C++ functions: arguments by their names alone are what the program itself says,
// or are not claimed to be known.

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

namespace {

using Words = std::vector<std::string>;

constexpr const char* header = R"(#include <string>
#include <string_view>
int plain(int, const char*, double, bool, const std::string&);
int narrow(unsigned char, short, char, long, unsigned long long, float);
int view(std::string_view, int);
std::string made(int, const char*);
std::string other(const std::string&);
int far(int, int, int, int, int, int, const char*, int);
int unknown(int, struct Pair, int);
struct Pair { int one, two; };
template <class T> int shown(T, const char*);
extern template int shown<int>(int, const char*);
struct Box {
  Box(int, const char*);
  ~Box();
  Box& operator=(const Box&);
  int get(const std::string&) const;
  int set(int);
  int value = 0;
};
)";

constexpr const char* library = R"(#include "api.hpp"
#include <cstdio>
// What it was given, as the lines have it.
int plain(int a, const char* b, double c, bool d, const std::string& e) {
  printf("plain(%d, \"%s\", %f, %s, \"%s\")\n", a, b, c, d ? "true" : "false", e.c_str());
  return a;
}
int narrow(unsigned char a, short b, char c, long d, unsigned long long e, float f) {
  printf("narrow(%d, %d, '%c', %ld, %llu, %f)\n", a, b, c, d, e, f);
  return 0;
}
int view(std::string_view a, int b) {
  printf("view(\"%.*s\", %d)\n", (int)a.size(), a.data(), b);
  return 0;
}
std::string made(int a, const char* b) {
  printf("made(%d, \"%s\")\n", a, b);
  return std::string(40, 'r');
}
std::string other(const std::string& a) { return a + "!"; }
int far(int a, int b, int c, int d, int e, int f, const char*, int h) { return h; }
int unknown(int a, Pair b, int c) { return c; }
template <class T> int shown(T a, const char* b) {
  printf("shown<int>(%d, \"%s\")\n", a, b);
  return a;
}
template int shown<int>(int, const char*);
Box::Box(int a, const char* b) : value(a) {
  printf("Box::Box(%p, %d, \"%s\")\n", (void*)this, a, b);
}
Box::~Box() { printf("Box::~Box(%p)\n", (void*)this); }
Box& Box::operator=(const Box& a) {
  printf("Box::operator=(%p, %p)\n", (void*)this, (const void*)&a);
  return *this;
}
int Box::get(const std::string& a) const {
  printf("Box::get(%p, \"%s\")\n", (const void*)this, a.c_str());
  return value;
}
int Box::set(int a) { return value = a; }
)";

constexpr const char* program = R"(#include "api.hpp"
int main() {
  plain(-3, "text", 2.5, true, "a string");
  plain(0, "", -0.25, false, std::string(20, 'x'));
  narrow(300, (short)70000, 'q', -1, 1ull << 63, 1.5f);
  view("viewed and more", 5);
  view(std::string_view("viewed and more", 6), 6);
  made(7, "seven");
  other("ambiguous");
  far(1, 2, 3, 4, 5, 6, "on the stack", 8);
  unknown(1, Pair{2, 3}, 4);
  shown<int>(9, "template");
  Box box(5, "label"), second(6, "second");
  box = second;
  box.get("key");
  box.set(11);
  return 0;
}
)";

std::string built() {
  const auto folder = test::scratch_folder();
  std::ofstream(folder + "/api.hpp") << header;
  std::ofstream(folder + "/api.cpp") << library;
  std::ofstream(folder + "/main.cpp") << program;
  const auto run =
      test::run_program({"/bin/sh",
                         "-c",
                         fmt::format("cd {} && g++ -w -O1 -fPIC -shared api.cpp -o libapi.so && "
                                     "g++ -w -O1 main.cpp -o main -L. -lapi -Wl,-rpath,'$ORIGIN'",
                                     folder)});
  INFO(run.err);
  REQUIRE(run.status == 0);
  return folder + "/main";
}

Words lines_of(const std::string& text) {
  Words lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// "_Z5plainiPKc(1) = 2" as the program would say it: the function's name for the mangled one.
std::string as_said(std::string line) {
  constexpr std::string_view caller = "main->";
  line.erase(0, line.starts_with(caller) ? caller.size() : 0);
  for (const auto& [mangled, name] : {std::pair<std::string, std::string>{"_Z5plain", "plain"},
                                      {"_Z6narrow", "narrow"},
                                      {"_Z4view", "view"},
                                      {"_Z4made", "made"},
                                      {"_Z5shownIiE", "shown<int>"},
                                      {"_ZN3BoxC", "Box::Box"},
                                      {"_ZN3BoxD", "Box::~Box"},
                                      {"_ZN3BoxaS", "Box::operator="},
                                      {"_ZNK3Box3get", "Box::get"}}) {
    if (line.starts_with(mangled)) {
      return name + line.substr(line.find('('));
    }
  }
  return line;
}

}  // namespace

TEST_CASE("calls of C++: arguments by the name are those that the program says", "[live][calls]") {
  const auto file = built();
  for (const Words& engine : {Words{}, Words{"--engine", "ptrace"}}) {
    Words words{"calls", "-o", file + ".txt", "-e", "_Z*@MAIN"};
    words.insert(words.end(), engine.begin(), engine.end());
    words.push_back(file);
    const auto run = test::run_tracso(words);
    INFO(run.err);
    REQUIRE(run.status == 0);
    Words lines;
    for (const auto& line : lines_of(test::read_file(file + ".txt"))) {
      lines.push_back(as_said(line));
    }
    const auto said = lines_of(run.out);
    CHECK(said.size() == 13);
    for (const auto& call : said) {
      INFO(call << "\nof\n" << test::read_file(file + ".txt"));
      CHECK(std::any_of(
          lines.begin(), lines.end(), [&](const auto& line) { return line.starts_with(call); }));
    }
  }
}

TEST_CASE("calls of C++: what a name does not say is not claimed", "[live][calls]") {
  const auto file = built();
  const auto run = test::run_tracso({"calls", "-e", "_Z*@MAIN", file});
  INFO(run.err);
  // It may be the place of the result that comes first, or the argument that is returned.
  CHECK_FALSE(contains(run.err, "\"ambiguous\""));
  CHECK(contains(run.err, "_Z3fariiiiiiPKci(1, 2, 3, 4, 5, 6, 0x"));  // copied are registers
  CHECK(contains(run.err, "_Z7unknowni4Pairi(1, ...)"));
  CHECK_FALSE(contains(run.err, "_ZN3Box3setEi(11)"));
  CHECK(contains(run.err, "_ZN3Box3setEi("));
}

TEST_CASE("calls of C++: no pointer is followed into nothing", "[live][calls]") {
  const auto folder = test::scratch_folder();
  std::ofstream(folder + "/lib.cpp") << "#include <string>\n"
                                        "int text(const char*) { return 1; }\n"
                                        "int object(const std::string&) { return 2; }\n";
  std::ofstream(folder + "/main.cpp") << R"(#include <string>
int text(const char*);
int object(const std::string&);
int main() {
  text(nullptr);
  text((const char*)8);
  text((const char*)~0ul);
  object(*(std::string*)8);
  unsigned long broken[4] = {16, 5, 0, 0}, absurd[4] = {16, ~0ul, 0, 0};
  object(*(std::string*)broken);
  object(*(std::string*)absurd);
  return 0;
}
)";
  const auto compiled =
      test::run_program({"/bin/sh",
                         "-c",
                         fmt::format("cd {} && g++ -w -O1 -fPIC -shared lib.cpp -o libwrong.so && "
                                     "g++ -w -O1 main.cpp -o main -L. -lwrong -Wl,-rpath,'$ORIGIN'",
                                     folder)});
  INFO(compiled.err);
  REQUIRE(compiled.status == 0);
  const auto run = test::run_tracso({"calls", "-e", "_Z*@MAIN", folder + "/main"});
  INFO(run.err);
  CHECK(run.status == 0);
  CHECK(contains(run.err, "_Z4textPKc(nil)"));
  CHECK(contains(run.err, "_Z4textPKc(0x8)"));
  CHECK(contains(run.err, "_Z4textPKc(0xffffffffffffffff)"));
  CHECK(contains(run.err, "basic_stringIcSt11char_traitsIcESaIcEEE(0x8)"));
  CHECK(contains(run.err, "basic_stringIcSt11char_traitsIcESaIcEEE(0x7f"));
}
