#include "calls/ltrace_config.hpp"

#include "base/text.hpp"
#include "calls/capture_rules.hpp"
#include "calls/ltrace_text.hpp"
#include "calls/ltrace_types.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace tracso::calls {
namespace {

// What stands in parentheses behind the name.
std::optional<Prototype> arguments(ConfigText& line, TypeReader& types, Prototype prototype) {
  if (!line.want('(')) {
    return std::nullopt;
  }
  while (!line.is_next(')')) {
    if (line.take("...")) {
      prototype.more = true;
      break;
    }
    const bool after = line.take('+');
    auto argument = types.type();
    if (!argument) {
      return std::nullopt;
    }
    if (argument->role == Role::nothing && prototype.arguments.empty() && line.is_next(')')) {
      break;  // f(void)
    }
    if (argument->role == Role::nothing ||
        (argument->role == Role::structure && !argument->inside->is_whole)) {
      line.fail("an argument of a type without a size");
      return std::nullopt;
    }
    if (argument->role == Role::array ||
        (argument->role == Role::bits && argument->inside != nullptr)) {
      argument = types.pointer_to(*argument);  // as in C
    }
    argument->after = after;
    prototype.arguments.push_back(*argument);
    const bool was_format = argument->role == Role::format;
    if (prototype.arguments.size() > most_config_fields) {
      line.fail("more than 256 arguments");
      return std::nullopt;
    }
    if (!line.take(',')) {
      break;
    }
    if (was_format) {
      line.fail("format is the last argument");
      return std::nullopt;
    }
  }
  return line.want(')') && line.want_end() ? std::optional(std::move(prototype)) : std::nullopt;
}

// A large structure comes back in memory whose address the caller gives.
void place_result(Prototype& prototype, Prototypes& into) {
  constexpr std::uint32_t in_registers = 16;
  if (prototype.result.role == Role::structure && prototype.result.inside->bytes > in_registers) {
    auto& inside = into.add_inside();
    inside.fields.push_back(prototype.result);
    prototype.result = Type{Role::reference, 8};
    prototype.result.inside = &inside;
    prototype.returns_in_memory = true;
  }
}

}  // namespace

std::string LtraceConfig::add_line(std::string_view line) {
  ConfigText reader(line);
  TypeReader types(reader, into_, names_);
  constexpr std::string_view definition = "typedef";
  if (ConfigText first(line); first.word() == definition) {
    reader.word();
    const auto name = reader.word();
    if (name.empty() || !reader.want('=')) {
      reader.fail("typedef NAME = TYPE;");
      return reader.problem();
    }
    const auto announced = announced_.find(name);
    ConfigText ahead = reader;
    TypeReader fields(ahead, into_, names_);
    const bool is_structure = ahead.word() == "struct";
    if (is_structure && !ahead.is_next('(')) {
      if (announced == announced_.end() && ahead.want_end()) {
        auto& inside = into_.add_inside();
        inside.is_whole = false;
        Type type{Role::structure};
        type.inside = &inside;
        announced_.emplace(name, &inside);
        names_.insert_or_assign(std::string(name), type);
      }
      return ahead.problem();
    }
    if (is_structure && announced != announced_.end()) {
      if (fields.fields_of(*announced->second)) {
        ahead.want_end();
      }
      return ahead.problem();
    }
    const auto type = types.type();
    if (type && reader.want_end()) {
      names_.insert_or_assign(std::string(name), *type);
    }
    return reader.problem();
  }
  const auto result = types.type();
  if (!result) {
    return reader.problem();
  }
  const auto name = reader.word("$.@");
  if (name.empty()) {
    reader.fail("the name of a function is missing");
  } else if (auto prototype = arguments(reader, types, {*result, {}})) {
    place_result(*prototype, into_);
    plan_nodes(*prototype, elements_);
    into_.set(name, std::move(*prototype));
  }
  return reader.problem();
}

std::vector<ConfigProblem> LtraceConfig::add(std::string_view text) {
  std::vector<ConfigProblem> problems;
  std::size_t number = 0;
  while (!text.empty() && problems.size() < most_problems) {
    ++number;
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == ';') {
      continue;
    }
    if (auto reason = add_line(line); !reason.empty()) {
      problems.push_back({number, std::move(reason)});
    }
  }
  return problems;
}

}  // namespace tracso::calls
