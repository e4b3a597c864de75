#include "pick/plain.hpp"

#include "support/catch.hpp"

using namespace tracso::pick;
using tracso::proc::ProcessEntry;

namespace {

struct Asked {
  PlainAnswer answer;
  std::string printed;
};

Asked ask(std::vector<std::string> lines) {
  std::vector<ProcessEntry> entries;
  for (std::int32_t pid = 101; pid <= 150; ++pid) {
    entries.push_back({pid, "ana", static_cast<std::uint64_t>(pid), "p", "program", "", ""});
  }
  entries.push_back({7, "root", 1, "evil", "evil\x1b[2J", "3.11", ""});
  Asked asked;
  std::size_t next = 0;
  PlainOptions options;
  options.print = [&](const std::string& text) { asked.printed += text; };
  options.read = [&]() -> std::optional<std::string> {
    return next < lines.size() ? std::optional(lines[next++]) : std::nullopt;
  };
  asked.answer = choose_plainly(entries, options);
  return asked;
}

}  // namespace

TEST_CASE("plain picker: a small number is of the list, a larger one a pid", "[pick]") {
  CHECK(ask({"1"}).answer.pid == 150);
  CHECK(ask({" 30 \n"}).answer.pid == 121);
  CHECK(ask({"103"}).answer.pid == 103);
  CHECK(ask({"1"}).printed.find("... and 21 more") != std::string::npos);
}

TEST_CASE("plain picker: words filter, and what matches nothing is said", "[pick]") {
  const Asked asked = ask({"evil", "1"});
  CHECK(asked.answer.pid == 7);
  CHECK(asked.printed.find('\x1b') == std::string::npos);
  const Asked none = ask({"99999", "xyz", "1"});
  CHECK(none.answer.pid == 150);
  CHECK(none.printed.find("nothing here matches '99999'") != std::string::npos);
}

TEST_CASE("plain picker: an empty line declines, the end of input is told apart", "[pick]") {
  CHECK(ask({""}).answer.end == PlainEnd::declined);
  CHECK(ask({}).answer.end == PlainEnd::no_answer);
  CHECK(ask({"xyz"}).answer.end == PlainEnd::no_answer);
}
