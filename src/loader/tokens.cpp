#include "loader/tokens.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <unordered_set>

namespace tracso::loader {
namespace {

bool continues_identifier(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// Length of the token `name` at the start of `text` (behind the dollar sign); 0: it is not there.
std::size_t token_length(std::string_view text, std::string_view name) {
  const bool braces = text.starts_with('{');
  const std::string_view rest = braces ? text.substr(1) : text;
  if (!rest.starts_with(name)) {
    return 0;
  }
  const char next = rest.size() > name.size() ? rest[name.size()] : '\0';
  if ((braces && next != '}') || continues_identifier(next)) {
    return 0;
  }
  return name.size() + (braces ? 2 : 0);
}

struct Token {
  enum class Name : std::uint8_t { origin, lib, platform } name;
  std::size_t length;
};

std::optional<Token> token_at(std::string_view text) {
  if (const auto length = token_length(text, "ORIGIN")) {
    return Token{Token::Name::origin, length};
  }
  if (const auto length = token_length(text, "PLATFORM")) {
    return Token{Token::Name::platform, length};
  }
  if (const auto length = token_length(text, "LIB")) {
    return Token{Token::Name::lib, length};
  }
  return std::nullopt;
}

std::string_view value_of(Token::Name name, const TokenValues& values) {
  switch (name) {
    case Token::Name::origin:
      return values.origin;
    case Token::Name::lib:
      return values.lib;
    case Token::Name::platform:
      return values.platform;
  }
  return {};
}

// "/usr/x/../lib" -> "/usr/lib/", by text alone as the loader does it.
std::string normalized(std::string_view path) {
  std::vector<std::string_view> parts;
  for (const auto part : split_words(path, "/")) {
    if (part == "..") {
      if (!parts.empty()) {
        parts.pop_back();
      }
    } else if (part != ".") {
      parts.push_back(part);
    }
  }
  std::string text = "/";
  for (const auto part : parts) {
    text.append(part).push_back('/');
  }
  return text;
}

bool is_trusted(std::string_view path, const std::vector<std::string>* trusted) {
  const std::string text = normalized(path);
  return trusted != nullptr && std::any_of(trusted->begin(), trusted->end(), [&](const auto& d) {
           return text.starts_with(d);
         });
}

}  // namespace

bool has_token(std::string_view text) {
  for (auto at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
    if (token_at(text.substr(at + 1))) {
      return true;
    }
  }
  return false;
}

std::optional<std::string> expand_tokens(std::string_view text,
                                         const TokenValues& values,
                                         const TokenRules& rules) {
  std::string out;
  bool has_origin = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto token = text[at] == '$' ? token_at(text.substr(at + 1)) : std::nullopt;
    if (!token) {
      out.push_back(text[at++]);
      continue;
    }
    const std::size_t end = at + 1 + token->length;
    if (token->name == Token::Name::origin) {
      const bool whole_first = at == 0 && (end == text.size() || text[end] == '/');
      if (rules.trust != TokenTrust::all && !whole_first) {
        return std::nullopt;
      }
      has_origin = true;
    }
    const std::string_view value = value_of(token->name, values);
    if (value.empty()) {
      return std::nullopt;
    }
    out.append(value);
    at = end;
  }
  if (has_origin && rules.trust == TokenTrust::trusted_directories &&
      !is_trusted(out, rules.trusted)) {
    return std::nullopt;
  }
  return out;
}

std::vector<PathElement> split_search_path(std::string_view text,
                                           std::string_view separators,
                                           const TokenValues& values,
                                           const TokenRules& rules) {
  std::vector<PathElement> elements;
  if (text.empty()) {
    return elements;
  }
  std::unordered_set<std::string> known;
  std::size_t start = 0;
  for (std::size_t position = 1;; ++position) {
    const std::size_t end = std::min(text.find_first_of(separators, start), text.size());
    const std::string_view written = text.substr(start, end - start);
    PathElement element{std::string(written), position, false, ""};
    if (!written.empty()) {
      auto expanded = expand_tokens(written, values, rules);
      element.dropped = !expanded || expanded->empty();
      if (!element.dropped) {
        expanded->resize(expanded->find_last_not_of('/') + 1);
        element.directory = std::move(*expanded) + "/";
      }
    }
    if (element.dropped || known.insert(element.directory).second) {
      elements.push_back(std::move(element));
    }
    if (end == text.size()) {
      return elements;
    }
    start = end + 1;
  }
}

std::string absolute_path(std::string_view path, std::string_view working_directory) {
  if (path.starts_with('/')) {
    return std::string(path);
  }
  std::string text(working_directory);
  if (!text.ends_with('/')) {
    text.push_back('/');
  }
  return text.append(path);
}

}  // namespace tracso::loader
