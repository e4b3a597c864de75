#include "calls/argument_text.hpp"

#include "calls/value_text.hpp"
#include "support/catch.hpp"

#include <bit>
#include <string>
#include <vector>

using namespace tracso::calls;

namespace {

std::string at_call(const std::string& prototype,
                    const CallEvent& call,
                    std::size_t text_bytes = 32) {
  const auto parsed = Prototypes::parse(
      "set open: O_RDONLY=0/3 O_WRONLY=1/3 O_CREAT=0100 O_CLOEXEC=02000000\n"
      "set whence: SEEK_SET=0 SEEK_END=2\n" +
      prototype);
  REQUIRE(parsed);
  return arguments_at_call(call, parsed->find("f"), {text_bytes}).before;
}

CallEvent call_of(std::vector<std::uint64_t> integers, std::vector<Piece> pieces = {}) {
  CallEvent call;
  for (std::size_t i = 0; i < integers.size(); ++i) {
    if (i < tracso_argument_registers) {
      call.call.integer[i] = integers[i];
    } else {
      call.call.stack[i - tracso_argument_registers] = integers[i];
      call.call.stack_words = i - tracso_argument_registers + 1;
    }
  }
  call.pieces = std::move(pieces);
  return call;
}

Piece piece(std::uint8_t of, const std::string& text, std::uint8_t state = tracso_piece_whole) {
  return {of, state, text};
}

}  // namespace

TEST_CASE("arguments: foreign bytes come out escaped", "[calls]") {
  CHECK(quoted("plain", false) == "\"plain\"");
  CHECK(quoted("a\"b\\c", false) == R"("a\"b\\c")");
  CHECK(quoted("\n\t\r", false) == R"("\n\t\r")");
  CHECK(quoted(std::string("\0", 1) + "1", false) == R"("\0001")");
  CHECK(quoted("\x1b[31m", false) == R"("\33[31m")");
  CHECK(quoted("\xff", false) == R"("\377")");
  CHECK(quoted("gr\xc3\xbc\xc3\x9f", false) == "\"gr\xc3\xbc\xc3\x9f\"");
  CHECK(quoted("\xe2\x80\xae", false).find("\xe2\x80\xae") == std::string::npos);  // right to left
  CHECK(quoted("abc", true) == "\"abc\"...");
  CHECK(quoted("ab\xc3", true) == "\"ab\"...");  // half a character
  CHECK(quoted("ab\xc3", false) == R"("ab\303")");
}

TEST_CASE("arguments: by role", "[calls]") {
  CHECK(at_call("int f(int, uint, long, ulong)",
                call_of({0xffffffffU, 0xffffffffU, ~std::uint64_t{0}, ~std::uint64_t{0}})) ==
        "-1, 4294967295, -1, 18446744073709551615");
  CHECK(at_call("int f(int)", call_of({0xdead00000005})) == "5");  // the upper half is nobody's
  CHECK(at_call("int f(hex, hex32, oct, char, char, char)",
                call_of({255, 0xff00000010, 0644, 'x', '\'', 0x1b})) ==
        R"(0xff, 0x10, 0644, 'x', '\'', '\33')");
  CHECK(at_call("int f(ptr, ptr)", call_of({0, 0x5000})) == "nil, 0x5000");
  CHECK(at_call("int f(char)", call_of({0xffffffff})) == "-1");
  CHECK(at_call("int f(str, str, str)",
                call_of({1, 2, 0}, {piece(0, "x"), piece(1, "", tracso_piece_fault)})) ==
        "\"x\", 0x2, nil");
  CHECK(at_call("int f(enum:whence, enum:whence)", call_of({2, 77})) == "SEEK_END, 77");
  CHECK(at_call("int f(flags:open, mode?)", call_of({0, 0644})) == "O_RDONLY");
  CHECK(at_call("int f(flags:open, mode?)", call_of({0101, 0644})) == "O_WRONLY|O_CREAT, 0644");
  CHECK(at_call("int f(flags:open)", call_of({02000000})) == "O_RDONLY|O_CLOEXEC");
  CHECK(at_call("int f(flags:open)", call_of({0x40000001})) == "O_WRONLY|0x40000000");
  CHECK(arguments_at_call(call_of({1, 65535, 0x7fff00000000, ~std::uint64_t{0}, 9}), nullptr, {})
            .before == "1, 65535, 0x7fff00000000, -1");
}

TEST_CASE("arguments: doubles have registers of their own, then comes the stack", "[calls]") {
  auto call = call_of({1, 2, 3, 4, 5, 6, 7, 8});
  call.call.floating[0] = std::bit_cast<std::uint64_t>(1.5);
  call.call.floating[1] = std::bit_cast<std::uint32_t>(0.25F);
  CHECK(at_call("int f(int, double, int, float, int, int, int, int, int, int, int)", call) ==
        "1, 1.500000, 2, 0.250000, 3, 4, 5, 6, 7, 8, ?");
}

TEST_CASE("arguments: a format tells what follows", "[calls]") {
  CHECK(
      at_call("int f(fmt)",
              call_of({1, 42, 2, 'c', 0x101, 5}, {piece(0, "%d %s%%%5c %hhx"), piece(2, "txt")})) ==
      "\"%d %s%%%5c %hhx\", 42, \"txt\", 'c', 0x1");
  CHECK(at_call("int f(fmt)", call_of({1, 3, 7}, {piece(0, "%*d")})) == "\"%*d\", 3, 7");
  auto doubles = call_of({1}, {piece(0, "%f %g")});
  doubles.call.floating[0] = std::bit_cast<std::uint64_t>(3.75);
  doubles.call.floating[1] = std::bit_cast<std::uint64_t>(-1.0);
  CHECK(at_call("int f(fmt)", doubles) == "\"%f %g\", 3.750000, -1.000000");
  CHECK(at_call("int f(fmt)", call_of({1, 2, 3, 4, 5, 6, 7}, {piece(0, "%d%d%d%d%d%d%d")})) ==
        "\"%d%d%d%d%d%d%d\", 2, 3, 4, 5, 6, 7, ?");
  CHECK(at_call("int f(fmt)", call_of({1, 2}, {piece(0, "%2$d %1$d")})) == "\"%2$d %1$d\", ...");
  CHECK(at_call("int f(fmt)", call_of({1, 2}, {piece(0, "%")})) == "\"%\", ...");
  CHECK(at_call("int f(fmt)", call_of({1, 2}, {piece(0, "%Lf %d")})) == "\"%Lf %d\", ...");
  CHECK(at_call("int f(fmt)", call_of({1, 2}, {piece(0, "long %d format")}), 4) ==
        "\"long\"..., 2");
  CHECK(at_call("int f(fmt)", call_of({5}, {piece(0, "", tracso_piece_fault)})) == "0x5");
}

TEST_CASE("arguments: what the function fills in comes with the return", "[calls]") {
  const auto parsed = Prototypes::parse("long f(int, +buf:ret, size)");
  REQUIRE(parsed);
  const auto* prototype = parsed->find("f");
  const auto call = call_of({3, 0x1000, 100});
  const auto before = arguments_at_call(call, prototype, {});
  CHECK(before.before == "3");
  CHECK(before.more);
  CallEvent result;
  result.result.integer = 4;
  result.pieces = {piece(1, "abc\n")};
  CHECK(arguments_at_return(call, result, prototype, {}) == R"(, "abc\n", 100)");
  CHECK(result_text(nullptr, result, prototype, {}) == "4");
  result.pieces.clear();
  CHECK(arguments_at_return(call, result, prototype, {}) == ", 0x1000, 100");
}

TEST_CASE("arguments: results", "[calls]") {
  const auto parsed =
      Prototypes::parse("void a()\ndouble b()\nstr c()\nptr d()\nint e()\nfloat f()");
  REQUIRE(parsed);
  CallEvent result;
  result.result.floating = std::bit_cast<std::uint64_t>(0.5);
  CHECK(result_text(nullptr, result, parsed->find("a"), {}) == "<void>");
  CHECK(result_text(nullptr, result, parsed->find("b"), {}) == "0.500000");
  CHECK(result_text(nullptr, result, parsed->find("c"), {}) == "nil");
  CHECK(result_text(nullptr, result, parsed->find("d"), {}) == "0");
  CHECK(result_text(nullptr, result, nullptr, {}) == "0");
  result.result.integer = 0xffffffff;
  result.pieces = {piece(tracso_piece_result, "text")};
  CHECK(result_text(nullptr, result, parsed->find("c"), {}) == "\"text\"");
  CHECK(result_text(nullptr, result, parsed->find("e"), {}) == "-1");
  CHECK(result_text(nullptr, result, nullptr, {}) == "0xffffffff");
}
