#include "calls/filter.hpp"

#include "agent/shared_layout.h"
#include "base/text.hpp"

namespace tracso::calls {
namespace {

Error wrong(std::string_view expression, std::string reason, std::string hint) {
  return {
      ErrorKind::usage, "filter by", std::string(expression), std::move(reason), std::move(hint)};
}

std::optional<Error> check(std::string_view pattern, std::string_view expression) {
  if (pattern.size() >= tracso_rule_bytes) {
    return wrong(expression, "a pattern is longer than 119 bytes", "a glob says it shorter");
  }
  if (pattern.size() > 1 && pattern.front() == '/' && pattern.back() == '/') {
    return wrong(expression,
                 "patterns between slashes (regular expressions) are not understood",
                 "globs are: 'SSL_*@libcurl.so*'");
  }
  return std::nullopt;
}

Result<Done> add(Filter& filter, Rule rule, std::string_view expression) {
  for (const auto* pattern : {&rule.symbol, &rule.library}) {
    if (const auto error = check(*pattern, expression)) {
      return *error;
    }
  }
  if (filter.rules.size() == tracso_most_rules) {
    return wrong(expression, "there are more than 64 rules", "");
  }
  filter.rules.push_back(std::move(rule));
  return Done{};
}

std::uint16_t next_chain(const Filter& filter) {
  return filter.rules.empty() ? std::uint16_t{0}
                              : static_cast<std::uint16_t>(filter.rules.back().chain + 1);
}

}  // namespace

// As ltrace cuts it: a symbol ends at @, + or -; a library at + or -.
Result<Done> add_expression(Filter& filter, std::string_view expression) {
  const auto chain = next_chain(filter);
  std::string_view rest = expression;
  if (rest.empty()) {
    return wrong(expression, "it is empty", "tracso calls -e 'SSL_*' CMD");
  }
  while (!rest.empty()) {
    Rule rule;
    rule.chain = chain;
    if (rest.front() == '+' || rest.front() == '-') {
      rule.exclude = rest.front() == '-';
      rest.remove_prefix(1);
    }
    const auto symbol = rest.substr(0, rest.find_first_of("@+-"));
    rest.remove_prefix(symbol.size());
    rule.symbol = symbol.empty() ? "*" : std::string(symbol);
    bool has_library = false;
    if (!rest.empty() && rest.front() == '@') {
      rest.remove_prefix(1);
      const auto library = rest.substr(0, rest.find_first_of("+-"));
      rest.remove_prefix(library.size());
      rule.library = library.empty() ? "*" : std::string(library);
      has_library = !library.empty();
    }
    if (symbol.empty() && !has_library) {
      return wrong(expression, "a rule names neither a function nor a library", "-e 'malloc+free'");
    }
    if (auto added = add(filter, std::move(rule), expression); !added) {
      return added;
    }
  }
  return Done{};
}

Result<Done> add_library(Filter& filter, std::string_view pattern) {
  Rule rule;
  rule.chain = next_chain(filter);
  rule.callee = true;
  rule.library = pattern;
  return add(filter, std::move(rule), pattern);
}

std::vector<Filter> chains_of(const std::optional<Filter>& filter) {
  std::vector<Filter> chains;
  for (const Rule& rule : filter ? filter->rules : std::vector<Rule>()) {
    if (chains.empty() || chains.back().rules.back().chain != rule.chain) {
      chains.emplace_back();
    }
    chains.back().rules.push_back(rule);
  }
  return chains;
}

std::string expression_of(const Filter& chain) {
  std::string text;
  for (const Rule& rule : chain.rules) {
    text += rule.exclude ? "-" : text.empty() ? "" : "+";
    text += rule.symbol == "*" && rule.library != "*" ? "" : rule.symbol;
    text += rule.library == "*" ? "" : "@" + rule.library;
  }
  return text;
}

Result<Done> set_narrowing(std::string& into, std::string_view pattern) {
  if (const auto error = check(pattern, pattern)) {
    return *error;
  }
  into = pattern;
  return Done{};
}

}  // namespace tracso::calls
