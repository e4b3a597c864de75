#include "pick/frame.hpp"

#include "base/text.hpp"
#include "support/catch.hpp"

#include <algorithm>

using namespace tracso;
using namespace tracso::pick;
using tracso::proc::ProcessEntry;

namespace {

std::vector<ProcessEntry> some() {
  return {
      {4192, "www-data", 48'234'496, "python3", "python3 app.py", "3.11", "docker 0123456789ab"},
      {7, "root", 1024, "evil", "evil \x1b[2J\n name", "", ""},
      {8, "ana", 512, "wide", std::string(30, 'x') + " 日本語日本語日本語日本語日本語", "", ""}};
}

Frame drawn(Picker& picker, Size size, Look look = Look::full, const Preview* preview = nullptr) {
  picker.set_height(list_height(size, look));
  return draw(picker, size, look, true, preview);
}

std::string text_of(const FrameLine& line) {
  std::string out;
  for (const Span& span : line) {
    out += span.text;
  }
  return out;
}

std::string text_of(const Frame& frame) {
  std::string out;
  for (const FrameLine& line : frame.lines) {
    out += text_of(line) + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("frame: no line is wider than the screen, at any size", "[pick]") {
  Picker picker(some());
  picker.set_filter("e");
  const Preview preview{{std::string(300, 'f')}, {std::string(300, 'w')}};
  for (std::size_t columns = 1; columns <= 200; columns += columns < 12 ? 1 : 7) {
    for (const std::size_t rows : {1U, 2U, 5U, 16U, 24U, 60U}) {
      for (const Look look : {Look::full, Look::compact}) {
        const Frame frame = drawn(picker, {rows, columns}, look, &preview);
        CHECK(frame.lines.size() == rows);
        for (const FrameLine& line : frame.lines) {
          CHECK(display_width(text_of(line)) <= columns);
        }
        CHECK(frame.cursor_column < columns);
      }
    }
  }
}

TEST_CASE("frame: columns, order and the selected line at 80 columns", "[pick]") {
  Picker picker(some());
  const Frame frame = drawn(picker, {20, 80});
  CHECK(text_of(frame.lines[1]) == "     PID  USER            RSS▼  PYTHON    COMMAND");
  CHECK(text_of(frame.lines[2])
            .starts_with("    4192  www-data     46.0 MB  3.11      python3 app.py"));
  CHECK(frame.lines[2].front().paint == Paint::selected);
  CHECK(display_width(text_of(frame.lines[2])) == 80);
  CHECK(frame.lines[3].front().paint == Paint::plain);
}

TEST_CASE("frame: hostile names come out escaped", "[pick]") {
  Picker picker(some());
  const std::string text = text_of(drawn(picker, {24, 120}));
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("evil \\x1b[2J\\n name") != std::string::npos);
}

TEST_CASE("frame: the preview says that it is coming, then what it found", "[pick]") {
  Picker picker(some());
  CHECK(text_of(drawn(picker, {24, 80})).find("looking ...") != std::string::npos);
  const Preview preview{{"31 libraries, 478.0 MB of files"}, {"two OpenMP runtimes"}};
  const std::string text = text_of(drawn(picker, {24, 80}, Look::full, &preview));
  CHECK(text.find("31 libraries") != std::string::npos);
  CHECK(text.find("! two OpenMP runtimes") != std::string::npos);
  CHECK(text_of(drawn(picker, {24, 80}, Look::compact, &preview)).find("31 lib") ==
        std::string::npos);
}

TEST_CASE("frame: what is typed stays in view, its end first", "[pick]") {
  Picker picker(some());
  picker.set_filter(std::string(100, 'a') + "bcd");
  const Frame frame = drawn(picker, {24, 40});
  CHECK(text_of(frame.lines[0]).find("abcd") != std::string::npos);
  CHECK(text_of(frame).find("no process matches") != std::string::npos);
}
