#pragma once
// What one argument or result is.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::calls {

/// Names of values.
struct ValueSet {
  struct Value {
    std::string name;
    std::uint64_t value = 0, mask = 0;  ///< as a flag: set where the bits under the mask are these
  };

  std::vector<Value> values;
};

enum class Role : std::uint8_t {
  nothing,  ///< void
  signed_number,
  unsigned_number,
  hexadecimal,
  octal,
  character,
  pointer,
  text,  ///< ends at a zero byte
  bytes,
  format,  ///< of printf; what it asks for follows
  enumeration,
  flags,
  created_mode,  ///< of open: there only if a file may be created
  floating,      ///< size 4 or 8
  // those of ltrace's configuration files
  boolean,
  bits,                  ///< a set of bits: of a number, or of what is inside
  hexadecimal_floating,  ///< as %a
  reference,             ///< a pointer to what is inside
  structure,
  array,  ///< in its place, not a pointer to it
  // those of C++
  text_object,  ///< a reference to a std::string
  text_view,    ///< a std::string_view: length and pointer, two words
  unknown,      ///< a result of which nothing is said
};

struct Inside;

struct Type {
  Role role = Role::nothing;
  std::uint8_t size = 8;    ///< bytes of a number
  bool after = false;       ///< what it points to is filled in by the function
  std::uint8_t length = 0;  ///< of text and bytes: enum tracso_capture's length; 0: none
  const ValueSet* set = nullptr;
  const Inside* inside = nullptr;  ///< of bits (nullptr: a number), reference, structure, array
  bool hidden = false;             ///< not shown
};

/// A type as one of the languages calls it that prototypes are written in.
struct TypeName {
  std::string_view name;
  Type type;
};

/// How many elements an array has.
struct Length {
  enum class Of : std::uint8_t {
    unlimited,
    number,
    argument,  ///< counted from 1
    result,
    field  ///< of the structure around it, counted from 1
  };
  Of of = Of::unlimited;
  std::uint64_t number = 0;
  bool until_zero = false;  ///< or fewer: it ends before an element that is zero
};

/// The fields of a structure, the elements of an array (one type), what a reference leads to (one).
struct Inside {
  std::vector<Type> fields;
  std::vector<std::uint32_t> offsets;  ///< of the fields of a structure
  Length length;                       ///< of an array
  bool is_text = false;                ///< an array of characters that is shown in quotes
  bool is_whole = true;                ///< false: announced, not described yet
  std::uint32_t bytes = 0;             ///< of all of it; an array without a fixed length has 0
  std::uint32_t alignment = 1;
};

/// Bytes that a value takes, and what its place is a multiple of.
std::uint32_t bytes_of(const Type& type);
std::uint32_t alignment_of(const Type& type);
bool is_floating(const Type& type);

}  // namespace tracso::calls
