#include "calls/format_conversion.hpp"

#include <algorithm>

namespace tracso::calls {

Conversion next_conversion(std::string_view format, std::size_t& at) {
  Conversion found;
  const auto skip = [&](std::string_view any) {
    const auto end = format.find_first_not_of(any, at);
    at = end == std::string_view::npos ? format.size() : end;
  };
  const auto number = [&] {
    if (at < format.size() && format[at] == '*') {
      ++found.stars;
      ++at;
    } else {
      skip("0123456789");
    }
  };
  skip("-+ #0'I");
  number();
  found.numbered = at < format.size() && format[at] == '$';
  if (at < format.size() && format[at] == '.') {
    ++at;
    number();
  }
  for (;
       at < format.size() && std::string_view("hlLqjzt").find(format[at]) != std::string_view::npos;
       ++at) {
    const char letter = format[at];
    found.size = letter == 'h' ? static_cast<std::uint8_t>(std::max(found.size / 2, 1)) : 8;
    found.wide = found.wide || letter == 'l';
    found.long_double = found.long_double || letter == 'L';
  }
  found.letter = at < format.size() ? format[at++] : '\0';
  return found;
}

Type type_of(const Conversion& conversion) {
  Type type;
  type.size = conversion.size;
  switch (conversion.letter) {
    case 'd':
    case 'i':
      type.role = Role::signed_number;
      break;
    case 'u':
      type.role = Role::unsigned_number;
      break;
    case 'o':
      type.role = Role::octal;
      break;
    case 'x':
    case 'X':
      type.role = Role::hexadecimal;
      break;
    case 'c':
      type.role = conversion.wide ? Role::signed_number : Role::character;
      break;
    case 's':
      type.role = conversion.wide ? Role::pointer : Role::text;
      break;
    default:
      type.role = Role::pointer;
      break;
  }
  return type;
}

}  // namespace tracso::calls
