#include "calls/prototype_finder.hpp"

#include "base/demangle.hpp"
#include "calls/capture_rules.hpp"
#include "calls/cpp_signature.hpp"

#include <algorithm>
#include <cstring>

namespace tracso::calls {
namespace {

constexpr std::string_view cpp_prefix = "_Z";

void add_rules(const Prototypes& from, std::map<std::string, tracso_capture_rule>& into) {
  for (const auto& [name, prototype] : from.functions()) {
    if (name.starts_with("SYS_")) {
      continue;  // the agent sees none
    }
    into.insert_or_assign(capture_key(name), capture_rule(name, prototype));
  }
}

}  // namespace

const Prototype* PrototypeFinder::find(std::string_view symbol) {
  const Prototype* found = own_ == nullptr ? nullptr : own_->find(symbol);
  found = found != nullptr ? found : Prototypes::built_in().find(symbol);
  if (found != nullptr || !symbol.starts_with(cpp_prefix)) {
    return found;
  }
  const auto [at, is_new] = by_name_.try_emplace(std::string(symbol), nullptr);
  if (is_new) {
    const auto name = demangled(at->first);
    if (auto prototype = cpp_signature(name)) {
      at->second = std::make_unique<Prototype>(std::move(*prototype));
    }
  }
  return at->second.get();
}

std::vector<tracso_capture_rule> PrototypeFinder::capture_rules() const {
  std::map<std::string, tracso_capture_rule> all;
  add_rules(Prototypes::built_in(), all);
  if (own_ != nullptr) {
    add_rules(*own_, all);
  }
  Prototype of_cpp;  // of any C++ function that has no rule of its own (agent/filter.c)
  of_cpp.nodes = cpp_nodes();
  auto& common = all[std::string(cpp_prefix)];
  common = capture_rule(cpp_prefix, of_cpp);
  common.stack = 1;
  std::vector<tracso_capture_rule> rules;
  for (const auto& [name, rule] : all) {
    if (!is_empty(rule) && rules.size() < tracso_most_capture_rules) {
      rules.push_back(rule);
    }
  }
  return rules;
}

}  // namespace tracso::calls
