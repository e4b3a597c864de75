#include "base/text.hpp"

#include "base/result.hpp"
#include "base/sizes.hpp"
#include "support/catch.hpp"

namespace tracso {
namespace {

TEST_CASE("printable: nothing that a terminal would act on passes", "[base][text]") {
  CHECK(printable("plain /a/b.so") == "plain /a/b.so");
  CHECK(printable("\x1b[31mred\x1b[0m") == "\\x1b[31mred\\x1b[0m");
  CHECK(printable("a\nb\tc\r") == "a\\nb\\tc\\x0d");
  CHECK(printable("\xff\xfe") == "\\xff\\xfe");
  CHECK(printable("caf\xc3\xa9") == "caf\xc3\xa9");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\xc2\\x9b31m");  // C1 CSI
  CHECK(printable("\xe2\x80\xae"
                  "evil") ==
        "\\xe2\\x80\\xae"
        "evil");  // right-to-left override
  CHECK(printable("\x7f") == "\\x7f");
}

TEST_CASE("utf8: overlong forms, surrogates and cut sequences are not UTF-8", "[base][text]") {
  CHECK(is_utf8("h\xc3\xa9"));
  CHECK_FALSE(is_utf8("\xc0\xaf"));
  CHECK_FALSE(is_utf8("\xed\xa0\x80"));
  CHECK_FALSE(is_utf8("\xe2\x82"));
  CHECK_FALSE(is_utf8("\xf5\x80\x80\x80"));
  CHECK(to_utf8("a\xff"
                "b") ==
        "a\xEF\xBF\xBD"
        "b");
}

TEST_CASE("display width: wide characters take two columns, combining ones none", "[base][text]") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\xe6\x97\xa5\xe6\x9c\xac") == 4);
  CHECK(display_width("e\xcc\x81") == 1);
}

TEST_CASE("split keeps empty pieces, split_words does not", "[base][text]") {
  CHECK(split("a::b", ':') == std::vector<std::string_view>{"a", "", "b"});
  CHECK(split("", ':') == std::vector<std::string_view>{""});
  CHECK(split_words(" a:b  c ", " :") == std::vector<std::string_view>{"a", "b", "c"});
  CHECK(split_words("   ", " ").empty());
}

TEST_CASE("base name and directory follow the path, not the disk", "[base][text]") {
  CHECK(base_name("/a/b.so") == "b.so");
  CHECK(base_name("b.so") == "b.so");
  CHECK(directory_of("/a/b.so") == "/a");
  CHECK(directory_of("/b.so") == "/");
  CHECK(directory_of("b.so").empty());
}

TEST_CASE("glob: star, question mark and brackets match whole names", "[base][text]") {
  CHECK(glob_match("lib*.so*", "libssl.so.3"));
  CHECK_FALSE(glob_match("lib*.so", "libssl.so.3"));
  CHECK(glob_match("lib[a-c]?.so", "libbx.so"));
  CHECK_FALSE(glob_match("lib[!a-c]?.so", "libbx.so"));
  CHECK(glob_match("*", ""));
  CHECK(glob_match("a[", "a["));
  const std::string many(5000, 'a');
  CHECK_FALSE(glob_match("*a*a*a*a*a*a*b", many));
}

TEST_CASE("did you mean: close names first, far ones never", "[base][text]") {
  const std::vector<std::string> names{"libssl.so.3", "libcrypto.so.3", "libz.so.1"};
  CHECK(did_you_mean("libsll.so.3", names).front() == "libssl.so.3");
  CHECK(did_you_mean("crypto", names) == std::vector<std::string>{"libcrypto.so.3"});
  CHECK(did_you_mean("completely-else", names).empty());
  const std::vector<std::string> options{"--by", "--who", "--why"};
  CHECK(did_you_mean("--wyh", options).front() == "--why");  // changed places
}

TEST_CASE("counted: one has no plural", "[base][text]") {
  CHECK(counted(0, "lib") == "0 libs");
  CHECK(counted(1, "lib") == "1 lib");
  CHECK(counted(2, "lib") == "2 libs");
  CHECK(counted(1, "process", "processes") == "1 process");
  CHECK(counted(18446744073709551615U, "process", "processes") == "18446744073709551615 processes");
}

TEST_CASE("numbers: the whole text or nothing", "[base][text]") {
  CHECK(parse_unsigned("42") == 42U);
  CHECK_FALSE(parse_unsigned("42x"));
  CHECK_FALSE(parse_unsigned(""));
  CHECK_FALSE(parse_unsigned("-1"));
  CHECK_FALSE(parse_unsigned("99999999999999999999"));
  CHECK(parse_decimal("0.5") == 0.5);
  CHECK_FALSE(parse_decimal("-1"));
  CHECK_FALSE(parse_decimal("nan"));
  CHECK_FALSE(parse_decimal("inf"));
  CHECK_FALSE(parse_decimal("infinity"));
}

TEST_CASE("sizes: 1024-based, one decimal, two from GB on, never 1024.0", "[base][sizes]") {
  CHECK(size_text(0) == "0 B");
  CHECK(size_text(1023) == "1023 B");
  CHECK(size_text(1024) == "1.0 KB");
  CHECK(size_text(207053) == "202.2 KB");
  CHECK(size_text(456969421) == "435.8 MB");
  CHECK(size_text(1024ULL * 1024 - 1) == "1.0 MB");
  CHECK(size_text(1342177280) == "1.25 GB");
  constexpr std::uint64_t giga = 1ULL << 30, tera = 1ULL << 40;
  CHECK(size_text(1023 * giga) == "1023.00 GB");
  CHECK(size_text(tera - 1) == "1.00 TB");
  CHECK(size_text(20 * tera + tera / 2) == "20.50 TB");
  CHECK(size_text(UINT64_MAX) == "16777216.00 TB");
  CHECK(parse_size("2T") == 2 * tera);
  CHECK(parse_size("1.5 TiB") == 1536 * giga);
  CHECK(parse_size("500M") == 500ULL * 1024 * 1024);
  CHECK(parse_size("1.5k") == 1536U);
  CHECK(parse_size("10 MB") == 10ULL * 1024 * 1024);
  using Two = std::pair<std::string, std::string>;
  constexpr std::uint64_t mega = 1ULL << 20;
  CHECK(told_apart(mega, 3 * mega) == Two("1.0 MB", "3.0 MB"));
  CHECK(told_apart(mega, mega + 41000) == Two("1.00 MB", "1.04 MB"));
  CHECK(told_apart(mega, mega + 4096) == Two("1.000 MB", "1.004 MB"));
  CHECK(told_apart(mega, mega + 1) == Two("1048576 B", "1048577 B"));
  CHECK(told_apart(mega, mega) == Two("1.0 MB", "1.0 MB"));
  CHECK_FALSE(parse_size("M"));
  CHECK_FALSE(parse_size("5X"));
}

TEST_CASE(
    "errors: one sentence with subject and reason, the hint on its own line, foreign text escaped",
    "[base][result]") {
  const Error error{ErrorKind::denied,
                    "read memory map",
                    "/proc/1/\x1b[2Jmaps",
                    "permission denied",
                    "run as root"};
  CHECK(
      sentence(error) ==
      "tracso: cannot read memory map /proc/1/\\x1b[2Jmaps: permission denied\nhint: run as root");
  CHECK(errno_error(2, "open", "x").kind == ErrorKind::not_found);
  CHECK(errno_error(13, "open", "x").reason == "permission denied");
}

}  // namespace
}  // namespace tracso
