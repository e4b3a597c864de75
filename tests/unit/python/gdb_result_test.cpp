#include "python/gdb_probe_result.hpp"
#include "support/catch.hpp"

using namespace tracso;
using namespace tracso::python;

namespace {

std::string field(std::string_view text) {
  return std::to_string(text.size()) + ":" + std::string(text);
}

std::string answer(std::string_view rows) {
  return "tracso 1 " + field("3.11.2 (main, Mar 13 2023) [GCC 12.2.0]") + std::string(rows);
}

}  // namespace

TEST_CASE("gdb result: name, file and origin of every module, in order", "[python][gdb]") {
  const auto result = parse_gdb_result(
      answer(field("sys") + "-" + field("built-in") + field("ssl") + field("/x/ssl.py") + "-"));
  REQUIRE(result);
  CHECK(result->version == "3.11.2");
  REQUIRE(result->modules.size() == 2);
  CHECK(result->modules[0] == PythonModule{"sys", std::nullopt, "built-in"});
  CHECK(result->modules[1] == PythonModule{"ssl", "/x/ssl.py", ""});
}

TEST_CASE("gdb result: any byte may stand in a name or a path", "[python][gdb]") {
  const std::string name = "odd\n\t:-\"5:";
  const auto result = parse_gdb_result(answer(field(name) + field("/x/new\nline") + "-"));
  REQUIRE(result);
  REQUIRE(result->modules.size() == 1);
  CHECK(result->modules[0] == PythonModule{name, "/x/new\nline", ""});
}

TEST_CASE("gdb result: a key that is no text is no module", "[python][gdb]") {
  const auto result = parse_gdb_result(answer("-" + field("/x/a.py") + "-" + field("b") + "--"));
  REQUIRE(result);
  REQUIRE(result->modules.size() == 1);
  CHECK(result->modules[0].name == "b");
}

TEST_CASE("gdb result: an empty file is a file, one with a NUL is none", "[python][gdb]") {
  const auto result = parse_gdb_result(
      answer(field("a") + field("") + "-" + field("b") + field(std::string("/x\0y", 4)) + "-"));
  REQUIRE(result);
  REQUIRE(result->modules.size() == 2);
  CHECK(result->modules[0].file == "");
  CHECK_FALSE(result->modules[1].file);
}

TEST_CASE("gdb result: a surrogate escape is the byte it stands for", "[python][gdb]") {
  CHECK(bytes_of_surrogates("/x/bad\xed\xb3\xbf.so") == "/x/bad\xff.so");
  CHECK(bytes_of_surrogates("\xed\xb2\x80") == "\x80");
  CHECK(bytes_of_surrogates("\xed\xb2\xbf\xed\xb3\x80") == "\xbf\xc0");
  CHECK(bytes_of_surrogates("caf\xc3\xa9 \xe4\xb8\xad") == "caf\xc3\xa9 \xe4\xb8\xad");
  CHECK(bytes_of_surrogates("\xed\xa0\x80") == "\xed\xa0\x80");  // another lone surrogate stays
  CHECK(bytes_of_surrogates("\xed\xb2") == "\xed\xb2");
}

TEST_CASE("gdb result: the version may be missing or of a development build", "[python][gdb]") {
  CHECK(parse_gdb_result("tracso 1 -")->version.empty());
  CHECK(parse_gdb_result("tracso 1 " + field("3.14.0a1+ (heads/main)"))->version == "3.14.0a1");
}

TEST_CASE("gdb result: broken forms are refused", "[python][gdb]") {
  for (const std::string& text : {std::string(),
                                  std::string("tracso 2 -"),
                                  std::string("tracso 1 "),
                                  std::string("tracso 1 5:3.1"),
                                  answer("3:sys"),
                                  answer("3:sys-"),
                                  answer("3:sys--x"),
                                  answer("99999999999999999999:sys--"),
                                  answer("18446744073709551615:sys--"),
                                  answer("-1:x--"),
                                  answer(":--"),
                                  answer("12345678901234567890123:x")}) {
    INFO(text);
    const auto result = parse_gdb_result(text);
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == ErrorKind::malformed);
  }
}
