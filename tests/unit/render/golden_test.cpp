// Every form of every case, kept as files under tests/golden.
#include "support/golden.hpp"

#include "base/text.hpp"
#include "support/catch.hpp"
#include "support/render_cases.hpp"

#include <fmt/format.h>

#include <functional>
#include <set>

namespace tracso::test {
namespace {

struct Case {
  const char* name;
  std::function<Trace()> trace;
  std::vector<const char*> forms;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"everything", everything, {"report", "findings", "tree", "json", "csv", "dot"}},
      {"hostile", hostile, {"report", "findings", "tree", "json", "csv", "dot"}},
      {"missing", file_with_missing, {"report", "tree", "json", "csv", "dot"}},
      {"cycle", cyclic, {"report", "tree", "csv", "dot"}},
      {"preload", preloaded, {"report", "tree", "csv", "dot"}},
      {"static", statically_linked, {"report", "tree", "csv"}},
      {"many", [] { return many(1000); }, {"report"}},
      {"crowded", [] { return many(90); }, {"tree", "dot"}}};
  return all;
}

// The number of the release is not what these files are about.
std::string without_version(std::string text) {
  constexpr std::string_view key = "\"version\": \"";
  const std::size_t at = text.find(key);
  if (at != std::string::npos && text.starts_with("{\n  \"schema\"")) {
    const std::size_t begin = at + key.size();
    text.replace(begin, text.find('"', begin) - begin, "VERSION");
  }
  return text;
}

std::string difference(const std::string& name, std::string text) {
  return golden_difference(name, without_version(std::move(text)));
}

}  // namespace

TEST_CASE("golden: the report of the sample looks as the scripts know it", "[render][golden]") {
  const Sample made = sample();
  RenderOptions options;
  const auto report = [&] {
    return make_renderer("report", options)->trace(made.trace, made.summary).value();
  };
  CHECK(difference("sample/report", report()) == "");
  options.unicode = false;
  CHECK(difference("sample/report-ascii", report()) == "");
  options.unicode = true;
  options.costs = true;
  CHECK(difference("sample/report-costs", report()) == "");
  options.costs = false;
  options.color = true;
  CHECK(difference("sample/report-color", report()) == "");
  options.color = false;
  options.width = 72;
  CHECK(difference("sample/report-72-columns", report()) == "");
}

TEST_CASE("golden: ranked by memory, the report also says what all memory is for",
          "[render][golden]") {
  Sample made = sample();
  RenderOptions options;
  const auto report = [&] {
    return make_renderer("report", options)->trace(made.trace, made.summary).value();
  };
  made.summary.by = ByteKind::resident;
  CHECK(difference("sample/report-memory", report()) == "");
  made.summary.by = ByteKind::private_bytes;
  options.width = 60;
  CHECK(difference("sample/report-memory-60-columns", report()) == "");
}

// "1 libs": a number that was not looked at before its word was chosen; empty: there is none.
std::string plural_of_one(std::string_view text) {
  const std::set<std::string_view> fine{"process", "address", "class", "less", "ms", "is", "has"};
  const auto words = split_words(text, " \n\"()[],:;");
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string_view next = words[i + 1];
    const bool word =
        next.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
    if (words[i] == "1" && word && next.ends_with('s') && !fine.contains(next)) {
      return fmt::format("1 {}", next);
    }
  }
  return "";
}

TEST_CASE("golden: every form of every case", "[render][golden]") {
  CHECK(plural_of_one("(1 libs)") == "1 libs");
  for (const Case& one : cases()) {
    for (const char* form : one.forms) {
      const std::string text = rendered(form, one.trace());
      CHECK(difference(fmt::format("{}/{}", one.name, form), text) == "");
      CHECK(plural_of_one(text) == "");
    }
  }
}

TEST_CASE("golden: limits and depth", "[render][golden]") {
  RenderOptions options;
  options.limit_packages = 2;
  options.limit_libraries = 3;
  options.limit_orphans = 1;
  CHECK(difference("many/report-small", rendered("report", many(1000), options)) == "");
  options.depth = 2;
  CHECK(difference("everything/tree-depth-2", rendered("tree", everything(), options)) == "");
  CHECK(difference("everything/dot-depth-1", rendered("dot", everything(), {.depth = 1})) == "");
  CHECK(difference("cycle/tree-ascii", rendered("tree", cyclic(), {.unicode = false})) == "");
}

TEST_CASE("golden: why tells the answer first, then how it was found", "[render][golden]") {
  const auto why = [](const char* name, const Trace& trace, const char* query) {
    CHECK(difference(std::string(name) + "/why-" + query, why_rendered("report", trace, query)) ==
          "");
  };
  why("everything", everything(), "libdnn.so.9");
  why("everything", everything(), "libplugin.so");
  why("everything", everything(), "libgone.so.7");
  why("everything", everything(), "libssl");
  why("everything", everything(), "libc.so.6");
  why("everything", everything(), "libssk.so.3");
  why("missing", file_with_missing(), "libnowhere.so.7");
  why("missing", file_with_missing(), "libver.so.1");
  why("preload", preloaded(), "libmymalloc.so.2");
  why("preload", preloaded(), "libjemalloc");
  why("cycle", cyclic(), "libtwo");
  why("hostile", hostile(), "gone");
  why("crowded", many(90), "libc.so.6");
  CHECK(difference("everything/why-json", why_rendered("json", everything(), "libdnn")) == "");
  CHECK(difference("everything/why-dot", why_rendered("dot", everything(), "libdnn")) == "");
  CHECK(difference("everything/why-csv", why_rendered("csv", everything(), "libdnn")) == "");
}

}  // namespace tracso::test
