#include "render/text/wrap.hpp"

#include "base/text.hpp"
#include "render/text/columns.hpp"
#include "render/text/markdown.hpp"
#include "support/catch.hpp"

using namespace tracso;

TEST_CASE("wrap: lines end at blanks, further ones hang", "[render][text]") {
  CHECK(wrapped("one two three", {0, 0, 2}) == "one two three");
  CHECK(wrapped("one two three", {13, 0, 2}) == "one two three");
  CHECK(wrapped("one two three", {8, 0, 2}) == "one two\n  three");
  CHECK(wrapped("one two three", {8, 4, 2}) == "one\n  two\n  three");
  CHECK(wrapped("日本 日本", {6, 0, 0}) == "日本\n日本");
  CHECK(wrapped("", {5, 0, 2}).empty());
}

TEST_CASE("wrap: a word longer than any line stays whole", "[render][text]") {
  CHECK(wrapped("at /usr/lib/long/path now", {10, 0, 2}) == "at\n  /usr/lib/long/path\n  now");
  CHECK(wrapped("/usr/lib/long", {5, 0, 2}) == "/usr/lib/long");
}

TEST_CASE("cut: the end goes, and an ellipsis says so", "[render][text]") {
  CHECK(cut_end("abcdef", 6, true) == "abcdef");
  CHECK(cut_end("abcdef", 4, true) == "abc…");
  CHECK(cut_end("abcdef", 5, false) == "ab...");
  CHECK(cut_end("abcdef", 2, false) == "ab");
  CHECK(cut_end("日本語", 5, true) == "日本…");
  CHECK(cut_end("abc", 0, true).empty());
}

TEST_CASE("cut: a line of pieces is cut over all of them", "[render][text]") {
  const auto cut = [](std::size_t columns) {
    Line line;
    line.add("abc").add("def", Style::red).add("ghi");
    line.cut(columns, true);
    CHECK(line.width() <= std::max<std::size_t>(columns, 9));
    return line.paint(false);
  };
  CHECK(cut(9) == "abcdefghi");
  CHECK(cut(8) == "abcdefg…");
  CHECK(cut(6) == "abcde…");
  CHECK(cut(4) == "abc…");
  CHECK(cut(1) == "…");
}

TEST_CASE("guide: Markdown becomes text", "[render][text]") {
  const std::string text = markdown_text(
      "# Title\n\nSome `code` and a [link](there.md), **bold**\nin one paragraph.\n\n"
      "- first item\n  goes on\n- second\n\n```\n  as it is\n```\n\n"
      "| code | meaning |\n|---|---|\n| 0 | done |\n| a\\|b | two |\n",
      {0, false});
  CHECK(text ==
        "Title\n\nSome code and a link, bold in one paragraph.\n\n"
        "- first item goes on\n- second\n\n      as it is\n\n"
        "code: meaning\n  0  done\n  a|b  two\n");
}

TEST_CASE("guide: paragraphs fit the terminal", "[render][text]") {
  const std::string text =
      markdown_text("- one two three four five six\n\n| a | b c d e f g h i j k |\n", {16, false});
  for (const auto line : split(text, '\n')) {
    CHECK(display_width(line) <= 24);
  }
  CHECK(text.starts_with("- one two three\n  four five six\n"));
}
