#include "calls/cpp_signature.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace tracso::calls {
namespace {

// clang-format off
constexpr std::array cpp_words{
    TypeName{"bool", {Role::boolean, 1}},                 TypeName{"char", {Role::character, 1}},
    TypeName{"signed char", {Role::signed_number, 1}},    TypeName{"unsigned char", {Role::unsigned_number, 1}},
    TypeName{"short", {Role::signed_number, 2}},          TypeName{"unsigned short", {Role::unsigned_number, 2}},
    TypeName{"int", {Role::signed_number, 4}},            TypeName{"unsigned int", {Role::unsigned_number, 4}},
    TypeName{"long", {Role::signed_number, 8}},           TypeName{"unsigned long", {Role::unsigned_number, 8}},
    TypeName{"long long", {Role::signed_number, 8}},      TypeName{"unsigned long long", {Role::unsigned_number, 8}},
    TypeName{"wchar_t", {Role::signed_number, 4}},        TypeName{"char8_t", {Role::unsigned_number, 1}},
    TypeName{"char16_t", {Role::unsigned_number, 2}},     TypeName{"char32_t", {Role::unsigned_number, 4}},
    TypeName{"float", {Role::floating, 4}},               TypeName{"double", {Role::floating, 8}},
    TypeName{"decltype(nullptr)", {Role::pointer, 8}},
};
// clang-format on

constexpr std::string_view string_name =
    "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
constexpr std::string_view view_name = "std::basic_string_view<char, std::char_traits<char> >";

bool take_end(std::string_view& text, std::string_view end) {
  const bool there = text.ends_with(end);
  text.remove_suffix(there ? end.size() : 0);
  return there;
}

// char const*: a pointer to characters up to a zero.
const Inside& characters() {
  static const Inside text = [] {
    static const Inside array = [] {
      Inside made;
      made.fields.push_back({Role::character, 1});
      made.length.until_zero = true;
      made.is_text = true;
      return made;
    }();
    Inside made;
    Type type{Role::array};
    type.inside = &array;
    made.fields.push_back(type);
    return made;
  }();
  return text;
}

// nullopt: by value, and nobody knows how that is passed.
std::optional<Type> type_of(std::string_view text) {
  text = trim(text);
  const auto* const known = std::find_if(
      cpp_words.begin(), cpp_words.end(), [&](const TypeName& one) { return one.name == text; });
  if (known != cpp_words.end()) {
    return known->type;
  }
  if (text == "char const*") {
    Type type{Role::reference, 8};
    type.inside = &characters();
    return type;
  }
  if (text == view_name) {
    return Type{Role::text_view, 8};
  }
  auto base = text;
  const bool is_reference = take_end(base, "&&") || take_end(base, "&");
  take_end(base, " const");
  if (base == string_name) {
    return Type{Role::text_object, 8};  // by value it is a reference, too: its copies are made
  }
  const bool to_function = text.ends_with(')') && text.find("(*)(") != std::string_view::npos;
  if (is_reference || text.ends_with('*') || take_end(text, "* const") || to_function) {
    return text.ends_with("::*") ? std::nullopt : std::optional(Type{Role::pointer, 8});
  }
  return std::nullopt;
}

// Depth of brackets; those of "operator<", "operator->" and the like are none.
class Depth {
 public:
  explicit Depth(std::string_view text) : text_(text) {}

  // At that character; true: outside of all brackets.
  bool outside(std::size_t at) {
    constexpr std::string_view word = "operator";
    if (text_.substr(at).starts_with(word)) {
      auto end = at + word.size();
      while (end < text_.size() &&
             std::string_view("<>=-()[]").find(text_[end]) != std::string_view::npos) {
        ++end;
      }
      skip_ = std::max(skip_, end);
    }
    if (at < skip_) {
      return depth_ == 0;
    }
    const char character = text_[at];
    depth_ += character == '<' || character == '(' || character == '[' || character == '{' ? 1 : 0;
    const bool is_outside = depth_ == 0;
    depth_ -= character == '>' || character == ')' || character == ']' || character == '}' ? 1 : 0;
    return is_outside;
  }

 private:
  std::string_view text_;
  std::size_t skip_ = 0;
  int depth_ = 0;
};

std::vector<std::string_view> split_types(std::string_view text) {
  std::vector<std::string_view> types;
  Depth depth(text);
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (depth.outside(i) && text[i] == ',') {
      types.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  if (!trim(text).empty()) {
    types.push_back(text.substr(start));
  }
  return types;
}

// The '(' of the arguments, which end the text.
std::optional<std::size_t> start_of_arguments(std::string_view text) {
  std::size_t open = 0;
  for (auto at = text.size(); at > 0; --at) {
    open += text[at - 1] == ')' ? 1 : 0;
    open -= text[at - 1] == '(' ? 1 : 0;
    if (open == 0) {
      return text.ends_with(')') ? std::optional(at - 1) : std::nullopt;
    }
  }
  return std::nullopt;
}

struct Name {
  std::string_view result;  // of a template; empty: not said
  std::string_view scope, base;
};

Name name_of(std::string_view text) {
  Name name;
  Depth depth(text);
  std::size_t start = 0;
  std::size_t scope_end = 0;
  bool after_operator = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    after_operator = after_operator || text.substr(i).starts_with("operator");
    if (!depth.outside(i)) {
      continue;
    }
    if (text[i] == ' ' && !after_operator) {
      start = i + 1;
      scope_end = start;
    }
    if (text.substr(i).starts_with("::") && !after_operator) {
      scope_end = i;
    }
  }
  name.result = trim(text.substr(0, start));
  name.scope = text.substr(start, scope_end - start);
  name.base = text.substr(scope_end == start ? start : scope_end + 2);
  return name;
}

std::string_view without_arguments(std::string_view name) {
  return name.starts_with("operator") ? name : name.substr(0, name.find_first_of("<["));
}

// A constructor or a destructor.
bool makes_or_ends(const Name& name) {
  const auto colons = name.scope.rfind("::");
  const auto in = without_arguments(
      colons == std::string_view::npos ? name.scope : name.scope.substr(colons + 2));
  return !name.scope.empty() && (name.base.starts_with('~') || without_arguments(name.base) == in);
}

enum class Object : std::uint8_t { none, there, perhaps };

Object object_of(const Name& name, bool qualified) {
  if (qualified) {
    return Object::there;  // f() const
  }
  constexpr std::array namespaces{std::string_view("std"),
                                  std::string_view("__gnu_cxx"),
                                  std::string_view("__cxxabiv1"),
                                  std::string_view("(anonymous namespace)"),
                                  std::string_view("std::filesystem"),
                                  std::string_view("std::this_thread")};
  if (name.scope.empty() ||
      std::find(namespaces.begin(), namespaces.end(), name.scope) != namespaces.end()) {
    return Object::none;
  }
  if (makes_or_ends(name)) {
    return Object::there;
  }
  for (const std::string_view member : {"operator=", "operator()", "operator[]", "operator->"}) {
    if (name.base == member) {
      return Object::there;
    }
  }
  return Object::perhaps;
}

bool takes_qualifiers(std::string_view& text) {
  bool any = false;
  for (bool more = true; more;) {
    more = take_end(text, " const") || take_end(text, " volatile") || take_end(text, " &&") ||
           take_end(text, " &") || take_end(text, "&&") || take_end(text, "&");
    any = any || more;
  }
  return any;
}

}  // namespace

std::optional<Prototype> cpp_signature(std::string_view text) {
  const bool qualified = takes_qualifiers(text);
  const auto open = start_of_arguments(text);
  if (!open || *open == 0) {
    return std::nullopt;
  }
  const auto name = name_of(text.substr(0, *open));
  const auto object = object_of(name, qualified);
  if (object == Object::perhaps || name.base.empty()) {
    return std::nullopt;
  }
  Prototype prototype;
  prototype.from_name = true;
  prototype.result.role = Role::unknown;
  const auto result = name.result.empty() ? std::nullopt : type_of(name.result);
  if (result) {
    prototype.result = *result;
  }
  const bool is_void = name.result == "void" || makes_or_ends(name);
  // An assignment gives back a reference to what was assigned to.
  prototype.may_return_in_memory = !result && !is_void && name.base != "operator=";
  if (is_void) {
    prototype.result.role = Role::nothing;
  }
  if (object == Object::there) {
    prototype.arguments.push_back({Role::pointer, 8});
  }
  for (const auto one : split_types(text.substr(*open + 1, text.size() - *open - 2))) {
    const auto type = trim(one) == "..." ? std::nullopt : type_of(one);
    if (!type) {
      prototype.more = true;
      break;
    }
    prototype.arguments.push_back(*type);
  }
  prototype.nodes = cpp_nodes();
  return prototype;
}

std::vector<tracso_capture_node> cpp_nodes() {
  std::vector<tracso_capture_node> nodes;
  for (std::uint8_t i = 0; i < tracso_argument_registers; ++i) {
    nodes.push_back({i, tracso_capture_bytes, 0, 0});
  }
  for (std::uint8_t i = 0; i < tracso_argument_registers; ++i) {
    nodes.push_back({static_cast<std::uint8_t>(tracso_node_first + i), tracso_capture_bytes, 0, 0});
  }
  return nodes;
}

}  // namespace tracso::calls
