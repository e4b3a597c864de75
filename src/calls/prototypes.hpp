#pragma once
// What the arguments and results of library functions are, by role: so that a line says
// open("/etc/passwd", O_RDONLY) and not four numbers. The table is prototypes.txt, whose head says
// how a line is written.

#include "tracso/result.hpp"

#include "agent/shared_layout.h"

#include <cstdint>
#include <map>
#include <memory>
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
};

struct Type {
  Role role = Role::nothing;
  std::uint8_t size = 8;    ///< bytes of a number
  bool after = false;       ///< what it points to is filled in by the function
  std::uint8_t length = 0;  ///< of text and bytes: enum tracso_capture's length; 0: none
  const ValueSet* set = nullptr;
};

struct Prototype {
  Type result;
  std::vector<Type> arguments;
};

class Prototypes {
 public:
  /// malformed: the first line that is not understood, by its number.
  static Result<Prototypes> parse(std::string_view text);
  /// The table that tracso carries.
  static const Prototypes& built_in();

  /// nullptr: nothing is known of it.
  const Prototype* find(std::string_view symbol) const;

  std::size_t size() const { return functions_.size(); }

  /// What the agent has to copy, sorted by name; functions that need nothing are left out.
  std::vector<tracso_capture_rule> capture_rules() const;

 private:
  std::map<std::string, std::unique_ptr<ValueSet>, std::less<>> sets_;
  std::map<std::string, Prototype, std::less<>> functions_;
};

}  // namespace tracso::calls
