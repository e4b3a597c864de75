#include "calls/ltrace_config.hpp"

#include "calls/argument_text.hpp"
#include "calls/capture_rules.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

using namespace tracso::calls;

namespace {

// Memory of a made-up process: what the agent would copy of it for a call.
class Process {
 public:
  std::uint64_t put(const std::string& bytes) {
    const auto address = next_;
    next_ += 0x1000;
    memory_.emplace_back(address, bytes);
    return address;
  }

  static std::string word(std::uint64_t value, std::size_t size = 8) {
    std::string bytes(size, '\0');
    std::memcpy(bytes.data(), &value, size);
    return bytes;
  }

  std::string at(std::uint64_t address, std::size_t count) const {
    for (const auto& [start, bytes] : memory_) {
      if (address >= start && address < start + bytes.size()) {
        return bytes.substr(address - start, count);
      }
    }
    return "";
  }

 private:
  std::uint64_t next_ = 0x10000;
  std::vector<std::pair<std::uint64_t, std::string>> memory_;
};

// As agent/capture.c follows nodes.
void capture(const Process& process,
             const Prototype& prototype,
             const CallEvent& call,
             bool after,
             CallEvent& into) {
  for (std::size_t i = 0; i < prototype.nodes.size(); ++i) {
    const auto& node = prototype.nodes[i];
    if (((node.kind & tracso_capture_after) != 0) != after) {
      continue;
    }
    std::uint64_t from = 0;
    if (node.from < tracso_argument_registers) {
      from = call.call.integer[node.from];
    } else if (node.from == tracso_node_result) {
      from = into.result.integer;
    } else {
      const auto* parent =
          into.piece(static_cast<std::uint8_t>(tracso_piece_node + node.from - tracso_node_first));
      if (parent != nullptr && node.offset + 8U <= parent->bytes.size()) {
        std::memcpy(&from, parent->bytes.data() + node.offset, 8);
      }
    }
    if (from == 0) {
      continue;
    }
    auto bytes = process.at(from, node.bytes == 0 ? 32 : node.bytes);
    if ((node.kind & tracso_capture_kind) == tracso_capture_text) {
      bytes = bytes.substr(0, bytes.find('\0'));
    }
    const auto state = process.at(from, 1).empty() ? tracso_piece_fault : tracso_piece_whole;
    into.pieces.push_back({static_cast<std::uint8_t>(tracso_piece_node + i),
                           static_cast<std::uint8_t>(state),
                           std::move(bytes)});
  }
}

struct Config {
  Prototypes prototypes;
  std::vector<ConfigProblem> problems;

  explicit Config(const std::string& text, std::size_t elements = 4) {
    LtraceConfig config(prototypes, elements);
    problems = config.add(text);
  }

  const Prototype& only() const {
    REQUIRE(problems.empty());
    const auto* found = prototypes.find("f");
    REQUIRE(found != nullptr);
    return *found;
  }
};

std::string shown(const std::string& text,
                  const std::vector<std::uint64_t>& words,
                  const Process& process = {},
                  std::size_t elements = 4) {
  const Config config(text, elements);
  const Prototype& prototype = config.only();
  CallEvent call;
  std::copy(words.begin(), words.end(), std::begin(call.call.integer));
  capture(process, prototype, call, false, call);
  return arguments_at_call(call, &prototype, {32, elements}).before;
}

std::string problem(const std::string& line) {
  const Config config(line);
  REQUIRE(config.problems.size() == 1);
  CHECK(config.prototypes.size() == 0);
  return config.problems.front().reason;
}

}  // namespace

TEST_CASE("ltrace configuration: numbers by their lenses", "[calls]") {
  CHECK(shown("int f(int, uint, short, char, long);", {~0ULL, ~0ULL, 0x1ffff, 'x', ~0ULL}) ==
        "-1, 4294967295, -1, 'x', -1");
  CHECK(shown("int f(hex(uint), oct(short), octal, addr, void*);", {255, 8, 0644, 0x5000, 0}) ==
        "0xff, 010, 0644, 0x5000, nil");
  CHECK(shown("int f(bool(int), bool(char));", {2, 0x100}) == "true, false");
  CHECK(shown("int f(enum(RED, GREEN=5, BLUE), enum(A,B), enum[short](NO=-1));",
              {6, 77, 0x1ffff}) == "BLUE, 77, NO");
  CHECK(shown("int f(bitvec(uint), bitvec(uint), bitvec(uint), bitvec(uint));",
              {0xb8, 0xfffffffe, 0, 0xffffffff}) == "<3-5,7>, ~<0>, <>, ~<>");
  CHECK(shown("int f(hide(int), int, hide(int));", {1, 2, 3}) == "2");
  CHECK(shown("int f(int, ...);", {1, 2}) == "1, ...");
  CHECK(shown("typedef number = hex(int);\nint f(number);   ; why", {16}) == "0x10");
}

TEST_CASE("ltrace configuration: arrays and texts as long as something says", "[calls]") {
  Process process;
  std::string numbers;
  for (std::uint64_t i = 10; i < 16; ++i) {
    numbers += Process::word(i, 4);
  }
  const auto at = process.put(numbers);
  const std::string line = "int f(array(int, arg2)*, int);";
  CHECK(shown(line, {at, 6}, process) == "[ 10, 11, 12, 13... ], 6");
  CHECK(shown(line, {at, 6}, process, 2) == "[ 10, 11... ], 6");
  CHECK(shown(line, {at, 3}, process) == "[ 10, 11, 12 ], 3");
  CHECK(shown(line, {at, 0}, process) == "[], 0");
  CHECK(shown("int f(array(int, 1000000));", {at}, process) == "[ 10, 11, 12, 13... ]");
  CHECK(shown("int f(array(int, 1000000)*);", {at}, process, 2) == "[ 10, 11... ]");
  CHECK(shown(line, {at, 0xffffffff}, process) == "[], -1");  // a failure's number
  CHECK(shown(line, {8, 3}, process) == "0x8, 3");
  CHECK(shown(line, {0, 3}, process) == "nil, 3");
  const auto ends = process.put(Process::word(1, 4) + Process::word(2, 4) + Process::word(0, 4));
  CHECK(shown("int f(array(int, zero));", {ends}, process) == "[ 1, 2 ]");
  CHECK(shown("int f(array(int, zero(1)));", {ends}, process) == "[ 1 ]");
  const auto text = process.put(std::string("abc\0def", 7));
  CHECK(shown("int f(string, string[arg3], int);", {text, text, 5}, process) ==
        R"(0x12000, "abc\0d", 5)");  // a plain text is copied by its register
  CHECK(shown("int f(string2, int);", {text, 2}, process) == R"("ab", 2)");
  CHECK(shown("int f(string(array(char, zero(6))*));", {text}, process) == R"("abc")");
  CHECK(shown("int f(char*);", {text}, process) == "'a'");
  CHECK(shown("int f(bitvec(array(char, 2))*);", {process.put("\x03\x01")}, process) == "<0-1,8>");
  const auto names = process.put(Process::word(text) + Process::word(text) + Process::word(0));
  CHECK(shown("int f(array(string, zero));", {names}, process) == R"([ "abc", "abc" ])");
}

TEST_CASE("ltrace configuration: structures, also those that lead to themselves", "[calls]") {
  Process process;
  std::vector<std::uint64_t> at;
  const std::uint64_t first = 0x10000;
  for (std::uint64_t i = 0; i < 6; ++i) {
    at.push_back(process.put(Process::word(9 - i) +
                             Process::word(i == 5 ? 0 : first + (i + 1) * 0x1000) +
                             Process::word(i == 0 ? 0 : first + (i - 1) * 0x1000)));
  }
  const std::string line =
      "typedef list = struct;\n"
      "typedef list = struct(int, list*, list*);\nint f(list*);";
  CHECK(shown(line, {at[0]}, process) ==
        "{ 9, { 8, { 7, { 6, ..., ... }, recurse^ }, recurse^ }, nil }");
  CHECK(shown(line, {at[0]}, process, 1) == "{ 9, ..., nil }");
  CHECK(shown(line, {16}, process) == "0x10");
  const auto numbers = process.put(Process::word(7, 4) + Process::word(8, 4));
  const auto counted = process.put(Process::word(2) + Process::word(numbers));
  CHECK(shown("int f(struct(ulong, array(int, elt1)*)*);", {counted}, process) ==
        "{ 2, [ 7, 8 ] }");
  const auto mixed =
      process.put(std::string("hi\0\0\0\0\0\0", 8) + Process::word(process.put("to\0")));
  CHECK(shown("int f(struct(string(array(char, 6)), string)*);", {mixed}, process) ==
        R"({ "hi\0\0\0\0", "to" })");
  CHECK(shown("int f(struct(int, char), int);", {0x4100000005, 9}) == "{ 5, 'A' }, 9");
}

TEST_CASE("ltrace configuration: what a function fills in, and results", "[calls]") {
  Process process;
  const auto number = process.put(Process::word(42, 4));
  const auto text = process.put("filled in");
  const Config config(
      "string f(+int*, +string[retval]);\n"
      "struct(int, int) pair(void);\n"
      "struct(long, long, long) large(int);\n"
      "array(int, 2)* some();\nbool(int) yes();");
  const Prototype& prototype = config.only();
  CallEvent call;
  call.call.integer[0] = number;
  call.call.integer[1] = text;
  CHECK(arguments_at_call(call, &prototype, {}).before.empty());
  CHECK(arguments_at_call(call, &prototype, {}).more);
  CallEvent result;
  result.kind = tracso_event_return;
  result.result.integer = 6;
  capture(process, prototype, call, true, result);
  CHECK(arguments_at_return(call, result, &prototype, {}) == R"(42, "filled")");

  const auto* pair = config.prototypes.find("pair");
  REQUIRE(pair != nullptr);
  result.result.integer = 0x200000001;
  CHECK(result_text(&call, result, pair, {}) == "{ 1, 2 }");

  const auto* large = config.prototypes.find("large");
  REQUIRE(large != nullptr);
  CallEvent of_large;
  of_large.call.integer[0] = process.put(Process::word(1) + Process::word(2) + Process::word(3));
  of_large.call.integer[1] = 77;  // the hidden pointer comes first
  CallEvent returned;
  returned.result.integer = of_large.call.integer[0];
  capture(process, *large, of_large, true, returned);
  CHECK(arguments_at_call(of_large, large, {}).before == "77");
  CHECK(result_text(&of_large, returned, large, {}) == "{ 1, 2, 3 }");

  CHECK(result_text(&call, result, config.prototypes.find("yes"), {}) == "true");
}

TEST_CASE("ltrace configuration: std::string and std::string_view of libstdc++", "[calls]") {
  Process process;
  const auto text = process.put(std::string("with\0zero", 9));
  const auto object = process.put(Process::word(text) + Process::word(9));
  const std::string line = "int f(std_string, std_string_view);";
  CHECK(shown(line, {object, 4, text}, process) == R"("with\0zero", "with")");
  CHECK(shown(line, {8, 0, 0}, process) == R"(0x8, nil)");
  const auto wrong = process.put(Process::word(16) + Process::word(9));
  CHECK(shown(line, {wrong, 3, 16}, process) == "0x12000, 0x10");
  const auto absurd = process.put(Process::word(text) + Process::word(~0ULL));
  CHECK(shown(line, {absurd, 2, text}, process) == R"(0x13000, "wi")");
}

TEST_CASE("ltrace configuration: lines that are not understood are told and left out", "[calls]") {
  CHECK(problem("int f(in);") == "'in' is no type that is known");
  CHECK(problem("int f(int") == "a ')' is missing at the end of the line");
  CHECK(problem("int f(int x);") == "a ')' is missing before 'x);'");
  CHECK(problem("int (int);") == "the name of a function is missing");
  CHECK(problem("int f(format, int);") == "format is the last argument");
  CHECK(problem("int f(string[argx]);") == "'argx' is no length");
  CHECK(problem("int f(array(char, -5)*);") == "a length cannot be negative");
  CHECK(problem("int f(string[-1]);") == "a length cannot be negative");
  CHECK(problem("int f(array(int, 300000000)*);") == "an array of more than 1 GiB");
  CHECK(problem("int f(array(array(int, 100000), 100000)*);") == "an array of more than 1 GiB");
  CHECK(problem("typedef a = struct(int, array(char, 65536));") ==
        "a structure of more than 64 KiB or 256 fields");
  CHECK(problem("int f(hex(string));") == "hex() is of an integer type");
  CHECK(problem("int f(enum());") == "a name is missing before '));'");
  CHECK(problem("typedef = int;") == "typedef NAME = TYPE;");
  CHECK(problem("int f(void, int);") == "an argument of a type without a size");
  CHECK(problem("int f(\x1b[31m);").find('\x1b') == std::string::npos);
  std::string deep = "int f(";
  for (int i = 0; i < 20; ++i) {
    deep += "array(";
  }
  CHECK(problem(deep) == "types within types within types, more than 16 deep");
  const Config config("; a comment\n\nint good(int);\nbad\nint better(int)\n");
  REQUIRE(config.problems.size() == 1);
  CHECK(config.problems.front().line == 4);
  CHECK(config.prototypes.size() == 2);
  std::string none;
  for (int i = 0; i < 5000; ++i) {
    none += "no line of it\n";
  }
  CHECK(Config(none).problems.size() == LtraceConfig::most_problems);
  const Config itself("typedef a = struct;\ntypedef a = struct(int, a);\nint f(a);");
  CHECK(itself.problems.size() == 2);
}
