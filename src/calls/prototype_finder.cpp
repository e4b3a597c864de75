#include "calls/prototype_finder.hpp"

#include "calls/capture_rules.hpp"

#include <algorithm>
#include <cstring>

namespace tracso::calls {
namespace {

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
  return found != nullptr ? found : Prototypes::built_in().find(symbol);
}

std::vector<tracso_capture_rule> PrototypeFinder::capture_rules() const {
  std::map<std::string, tracso_capture_rule> all;
  add_rules(Prototypes::built_in(), all);
  if (own_ != nullptr) {
    add_rules(*own_, all);
  }
  std::vector<tracso_capture_rule> rules;
  for (const auto& [name, rule] : all) {
    if (!is_empty(rule) && rules.size() < tracso_most_capture_rules) {
      rules.push_back(rule);
    }
  }
  return rules;
}

}  // namespace tracso::calls
