#include "loader/tokens.hpp"

#include "support/catch.hpp"

namespace tracso::loader {
namespace {

const TokenValues values{"/opt/app", "lib/x86_64-linux-gnu", "haswell"};

std::vector<std::string> directories(std::string_view text, std::string_view separators = ":") {
  std::vector<std::string> out;
  for (const auto& element : split_search_path(text, separators, values)) {
    out.push_back(element.dropped ? "dropped" : element.directory);
  }
  return out;
}

}  // namespace

TEST_CASE("tokens: each is replaced with and without braces, anywhere", "[loader][tokens]") {
  CHECK(expand_tokens("$ORIGIN/lib", values) == "/opt/app/lib");
  CHECK(expand_tokens("${ORIGIN}/../$LIB", values) == "/opt/app/../lib/x86_64-linux-gnu");
  CHECK(expand_tokens("/x/$PLATFORM-${LIB}", values) == "/x/haswell-lib/x86_64-linux-gnu");
}

TEST_CASE("tokens: a longer identifier or an open brace is literal text", "[loader][tokens]") {
  for (const auto* text :
       {"$ORIGINAL/lib", "$ORIGIN_x", "$LIBS", "${ORIGIN/lib", "$", "a$", "$$", "${}", "$origin"}) {
    CHECK(expand_tokens(text, values) == text);
    CHECK_FALSE(has_token(text));
  }
  CHECK(expand_tokens("$$ORIGIN", values) == "$/opt/app");
  CHECK(has_token("x/$PLATFORM"));
}

TEST_CASE("tokens: one without a value drops the text", "[loader][tokens]") {
  CHECK(expand_tokens("/x/$PLATFORM", {"/o", "lib", ""}) == std::nullopt);
  CHECK(expand_tokens("$ORIGIN", {"", "lib", ""}) == std::nullopt);
}

TEST_CASE("tokens: AT_SECURE takes $ORIGIN as the whole first component only", "[loader][tokens]") {
  const TokenRules rules{TokenTrust::first_component, nullptr};
  CHECK(expand_tokens("$ORIGIN/x", values, rules) == "/opt/app/x");
  CHECK(expand_tokens("$ORIGIN", values, rules) == "/opt/app");
  CHECK(expand_tokens("/a/$ORIGIN", values, rules) == std::nullopt);
  CHECK(expand_tokens("${ORIGIN}x", values, rules) == std::nullopt);
}

TEST_CASE("tokens: AT_SECURE takes the program's $ORIGIN under system directories only",
          "[loader][tokens]") {
  const std::vector<std::string> trusted{"/lib/", "/usr/lib/"};
  const TokenRules rules{TokenTrust::trusted_directories, &trusted};
  CHECK(expand_tokens("$ORIGIN/../lib", {"/usr/bin", "lib", ""}, rules) == "/usr/bin/../lib");
  CHECK(expand_tokens("$ORIGIN/../lib", {"/opt/bin", "lib", ""}, rules) == std::nullopt);
  CHECK(expand_tokens("$ORIGIN/../../evil", {"/usr/lib", "lib", ""}, rules) == std::nullopt);
  CHECK(expand_tokens("/opt/lib", {"/opt/bin", "lib", ""}, rules) == "/opt/lib");
}

TEST_CASE("search path: slashes at the end go, dots and dots stay", "[loader][tokens]") {
  CHECK(directories("/a//:/b/../c/:/") == std::vector<std::string>{"/a/", "/b/../c/", "/"});
}

TEST_CASE("search path: an empty element is the working directory, an empty text no path",
          "[loader][tokens]") {
  CHECK(directories("/a:") == std::vector<std::string>{"/a/", ""});
  CHECK(directories(":/a") == std::vector<std::string>{"", "/a/"});
  CHECK(directories("/a::/b::") == std::vector<std::string>{"/a/", "", "/b/"});
  CHECK(directories("").empty());
}

TEST_CASE("search path: repeated directories are left out, positions stay", "[loader][tokens]") {
  const auto elements = split_search_path("/a:/b:/a/:/c", ":", values);
  REQUIRE(elements.size() == 3);
  CHECK(elements[2].directory == "/c/");
  CHECK(elements[2].position == 4);
}

TEST_CASE("search path: a semicolon separates only where it is a separator", "[loader][tokens]") {
  CHECK(directories("/a;/b", ":;") == std::vector<std::string>{"/a/", "/b/"});
  CHECK(directories("/a;/b", ":") == std::vector<std::string>{"/a;/b/"});
}

TEST_CASE("search path: an element whose token has no value is marked dropped",
          "[loader][tokens]") {
  const auto elements = split_search_path("/x/$PLATFORM:/b", ":", {"/o", "lib", ""});
  REQUIRE(elements.size() == 2);
  CHECK(elements[0].dropped);
  CHECK(elements[0].written == "/x/$PLATFORM");
  CHECK(elements[1].directory == "/b/");
}

TEST_CASE("absolute path: a relative one is put behind the working directory", "[loader][tokens]") {
  CHECK(absolute_path("/x", "/home") == "/x");
  CHECK(absolute_path("x/y", "/home") == "/home/x/y");
  CHECK(absolute_path("x", "/") == "/x");
}

}  // namespace tracso::loader
