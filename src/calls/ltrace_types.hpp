#pragma once
// Types as ltrace's configuration files write them: int, hex(ulong), struct(int, string), array(T,
// arg2)*.

#include "calls/ltrace_text.hpp"
#include "calls/prototypes.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tracso::calls {

/// Types that the user has named.
using NamedTypes = std::map<std::string, Type, std::less<>>;

/// Of a structure, and of the arguments of a function.
constexpr std::size_t most_config_fields = 256;

class TypeReader {
 public:
  /// What it needs for types is made in `into`. All must outlive it.
  TypeReader(ConfigText& line, Prototypes& into, const NamedTypes& names)
      : line_(line), into_(into), names_(names) {}

  /// nullopt: no type comes; the line knows why not.
  std::optional<Type> type();
  /// The fields of a structure, into one that may have been announced before.
  bool fields_of(Inside& into);
  Type pointer_to(const Type& type);

 private:
  std::nullopt_t wrong(std::string reason);
  std::optional<Length> length(bool may_be_zero = true);
  std::optional<Type> array_of(const Type& element, const Length& many, bool is_text);
  std::optional<Type> text();
  std::optional<Type> numbered_text(std::uint64_t argument);
  std::optional<Type> enumeration();
  std::optional<Type> decorated(std::string_view lens);
  std::optional<Type> bits_of(const Type& base);
  std::optional<Type> array();
  std::optional<Type> structure();
  std::optional<Type> plain_type();

  ConfigText& line_;
  Prototypes& into_;
  const NamedTypes& names_;
  std::size_t depth_ = 0;
};

}  // namespace tracso::calls
